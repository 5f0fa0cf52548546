// Characters as Python's str methods see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace adjudge::jinja {

struct CodePoint {
  std::int32_t value = 0;
  std::size_t bytes = 1;  // of its UTF-8 form
};

// The character at byte `offset`. REQUIRES: offset < text.size(). An invalid byte counts as one
// character, U+FFFD.
CodePoint DecodeAt(std::string_view text, std::size_t offset);
// The offset of the character that ends at byte `end`. REQUIRES: end > 0.
std::size_t PreviousStart(std::string_view text, std::size_t end);
void AppendUtf8(std::string& text, std::int32_t value);
// Offset of the first byte that is not valid UTF-8, or npos.
std::size_t FindInvalidUtf8(std::string_view text);

std::size_t CountCodePoints(std::string_view text);
bool IsAscii(std::string_view text);

bool IsSpace(std::int32_t value);      // str.isspace, and \s of a regex
bool IsLineBreak(std::int32_t value);  // as str.splitlines cuts
bool IsAlpha(std::int32_t value);
bool IsDecimal(std::int32_t value);
bool IsDigit(std::int32_t value);
bool IsNumber(std::int32_t value);  // general category N*
bool IsLower(std::int32_t value);
bool IsUpper(std::int32_t value);
bool IsTitle(std::int32_t value);
bool IsCaseIgnorable(std::int32_t value);
bool IsPrintable(std::int32_t value);  // repr() writes it as it is
inline bool IsCased(std::int32_t value) {
  return IsLower(value) || IsUpper(value) || IsTitle(value);
}

// Full case mappings, up to three characters, without the context rule of the final sigma.
void AppendUpper(std::string& text, std::int32_t value);
void AppendLower(std::string& text, std::int32_t value);
void AppendTitle(std::string& text, std::int32_t value);

}  // namespace adjudge::jinja
