// Finding a text in a text, in linear time.
#pragma once

#include <cstring>
#include <string_view>

namespace adjudge::jinja {

// Offset of the first `needle` at or after `from`, or npos. Both are UTF-8, so that a match lies on
// character borders.
inline std::size_t FindText(std::string_view text, std::string_view needle, std::size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (needle.empty()) return from;
  const void* found = memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace adjudge::jinja
