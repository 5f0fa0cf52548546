// Texts and files given to a verb; "-" is standard input. All are UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/outcome.h"

namespace adjudge::cli {

inline constexpr std::size_t kMaxInputBytes = std::size_t{1} << 30;
inline constexpr std::size_t kMaxJsonBytes = std::size_t{16} << 20;  // of one JSON value

// What becomes of bytes that are not UTF-8.
enum class BadBytes { kRefuse, kReplace };
inline BadBytes LossyBytes(bool lossy) { return lossy ? BadBytes::kReplace : BadBytes::kRefuse; }

// No reader goes further than one byte beyond its limit.
//
// The text itself, or all of standard input where it is "-". Bad bytes of a text end with kUsage,
// of standard input with kFailed, and their offset is told.
Outcome<std::string> ReadText(const std::string& text_or_dash,
                              BadBytes bad_bytes = BadBytes::kRefuse,
                              std::size_t max_bytes = kMaxInputBytes);
// The same of a text that is JSON where it comes from a file or standard input: with kReplace
// escapes of lone surrogates become U+FFFD too.
Outcome<std::string> ReadJsonFile(const std::string& path_or_dash, BadBytes bad_bytes,
                                  std::size_t max_bytes = kMaxInputBytes);
// "not UTF-8 at byte 7", or nothing where the bytes are.
std::string Utf8Fault(std::string_view bytes);
// JSON text with U+FFFD for bytes that are not UTF-8 and for escapes of lone surrogates.
std::string RepairJson(std::string_view text);

// The file's bytes as they are, or all of standard input where the path is "-".
Outcome<std::string> ReadFileOrInput(const std::string& path_or_dash,
                                     std::size_t max_bytes = kMaxInputBytes);

}  // namespace adjudge::cli
