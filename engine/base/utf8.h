// UTF-8: where it is well formed, and what stands for the parts that are not.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace adjudge {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

struct Utf8Step {
  std::size_t length = 0;  // of the character, or of the maximal bad part
  bool valid = false;
  bool truncated = false;  // a bad part that more bytes could have made a character
};

// The character or maximal bad part at the start of `text`: the longest beginning of a well-formed
// sequence, at least one byte. REQUIRES: text is not empty.
Utf8Step NextUtf8(std::string_view text);

// Offset of the first byte that is not part of a well-formed character.
std::optional<std::size_t> FirstInvalidUtf8(std::string_view text);

// `text` with U+FFFD for each maximal bad part.
std::string RepairUtf8(std::string_view text);

// The code point of the character of `length` bytes at `text`. REQUIRES: well formed.
char32_t DecodeUtf8(const char* text, std::size_t length);
void AppendUtf8(char32_t code, std::string& out);

// Bytes of the character that begins with `lead`. REQUIRES: `lead` begins a well-formed character.
inline std::size_t Utf8Length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// Unicode's White_Space property.
bool IsUnicodeSpace(char32_t code);

// "U+0041".
std::string CodePointName(char32_t code);

}  // namespace adjudge
