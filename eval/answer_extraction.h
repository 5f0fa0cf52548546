// What a decoded text answers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adjudge {

// The name and the words of the rule that ExtractAnswer follows, for reports.
inline constexpr std::string_view kExtractionRule = "label-or-option-text";
inline constexpr std::string_view kExtractionRuleText =
    "the whole text is an option's text; else the first label that stands alone (not \"A\" or "
    "\"I\" before a lower-case word); else the first option text in it; else invalid";

// The option that a text names, or nullopt (an invalid answer). Letters of option texts compare
// without case (ASCII), labels with it. `labels` and `texts` are parallel.
std::optional<int> ExtractAnswer(std::string_view text, std::span<const std::string> labels,
                                 std::span<const std::string> texts);

}  // namespace adjudge
