// What is kept of a state that is too long.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "heads/answer.h"
#include "heads/decision_head.h"

namespace adjudge {

struct KeptState {
  std::string text;
  Truncation truncation;
};

// The text with as much kept as `fits` lets be (asked about O(log n) of the cuts, taken to be
// monotone), at most `max_bytes`, cut between characters. Where the middle goes, kMiddleMark stands
// in its place. nullopt when not even one character fits.
inline constexpr std::string_view kMiddleMark = "\n[...]\n";
std::optional<KeptState> CutState(std::string_view state, Truncate truncate, std::size_t max_bytes,
                                  const std::function<bool(const std::string&)>& fits);

}  // namespace adjudge
