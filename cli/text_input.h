// Texts and files given to a verb; "-" is standard input, byte for byte.
#pragma once

#include <cstddef>
#include <string>

#include "cli/outcome.h"

namespace adjudge::cli {

inline constexpr std::size_t kMaxInputBytes = std::size_t{1} << 30;

// The text itself, or all of standard input where it is "-".
Outcome<std::string> ReadText(const std::string& text_or_dash,
                              std::size_t max_bytes = kMaxInputBytes);
// The file's bytes, or all of standard input where the path is "-".
Outcome<std::string> ReadFileOrInput(const std::string& path_or_dash,
                                     std::size_t max_bytes = kMaxInputBytes);

}  // namespace adjudge::cli
