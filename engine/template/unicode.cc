#include "engine/template/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#include "engine/template/unicode_tables.h"

namespace adjudge::jinja {
namespace {

template <std::size_t n>
bool InRanges(const CodePointRange (&ranges)[n], std::int32_t value) {
  const auto* range =
      std::upper_bound(std::begin(ranges), std::end(ranges), value,
                       [](std::int32_t v, const CodePointRange& r) { return v < r.first; });
  return range != std::begin(ranges) && value <= std::prev(range)->last;
}

template <std::size_t n>
bool AppendExpansion(const CaseExpansion (&expansions)[n], std::int32_t value, std::string& text) {
  const auto* found =
      std::lower_bound(std::begin(expansions), std::end(expansions), value,
                       [](const CaseExpansion& e, std::int32_t v) { return e.from < v; });
  if (found == std::end(expansions) || found->from != value) return false;
  for (const std::int32_t to : found->to) {
    if (to != 0) AppendUtf8(text, to);
  }
  return true;
}

utf8proc_category_t Category(std::int32_t value) { return utf8proc_category(value); }

}  // namespace

CodePoint DecodeAt(std::string_view text, std::size_t offset) {
  const auto byte = static_cast<unsigned char>(text[offset]);
  if (byte < 0x80) return {byte, 1};
  utf8proc_int32_t value = 0;
  const auto* begin = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + offset;
  const auto left = static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size() - offset, 4));
  const utf8proc_ssize_t bytes = utf8proc_iterate(begin, left, &value);
  if (bytes <= 0) return {0xFFFD, 1};
  return {value, static_cast<std::size_t>(bytes)};
}

std::size_t PreviousStart(std::string_view text, std::size_t end) {
  std::size_t start = end - 1;
  while (start > 0 && end - start < 4 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) {
    --start;
  }
  return start + DecodeAt(text, start).bytes == end ? start : end - 1;
}

void AppendUtf8(std::string& text, std::int32_t value) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t n = utf8proc_encode_char(value, bytes);
  text.append(reinterpret_cast<const char*>(bytes),
              static_cast<std::size_t>(std::max<utf8proc_ssize_t>(n, 0)));
}

std::size_t FindInvalidUtf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const CodePoint point = DecodeAt(text, i);
    if (point.bytes == 1) return i;
    i += point.bytes;
  }
  return std::string_view::npos;
}

std::size_t CountCodePoints(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool IsSpace(std::int32_t value) {
  if (value < 0x80)
    return value == ' ' || (value >= 9 && value <= 13) || (value >= 28 && value <= 31);
  return value == 0x85 || value == 0x2028 || value == 0x2029 ||
         Category(value) == UTF8PROC_CATEGORY_ZS;
}

bool IsLineBreak(std::int32_t value) {
  return (value >= 10 && value <= 13) || (value >= 28 && value <= 30) || value == 0x85 ||
         value == 0x2028 || value == 0x2029;
}

bool IsAlpha(std::int32_t value) {
  const utf8proc_category_t category = Category(value);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool IsDecimal(std::int32_t value) { return Category(value) == UTF8PROC_CATEGORY_ND; }

bool IsDigit(std::int32_t value) { return IsDecimal(value) || InRanges(kOtherDigit, value); }

bool IsNumber(std::int32_t value) {
  const utf8proc_category_t category = Category(value);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool IsLower(std::int32_t value) {
  return Category(value) == UTF8PROC_CATEGORY_LL || InRanges(kOtherLower, value);
}

bool IsUpper(std::int32_t value) {
  return Category(value) == UTF8PROC_CATEGORY_LU || InRanges(kOtherUpper, value);
}

bool IsTitle(std::int32_t value) { return Category(value) == UTF8PROC_CATEGORY_LT; }

bool IsCaseIgnorable(std::int32_t value) {
  switch (Category(value)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      break;
  }
  // Word_Break is MidLetter, MidNumLet or Single_Quote.
  static constexpr std::int32_t kMid[] = {0x27,   0x2e,   0x3a,   0xb7,   0x387,  0x55f,
                                          0x5f4,  0x2018, 0x2019, 0x2024, 0x2027, 0xfe13,
                                          0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a};
  return std::binary_search(std::begin(kMid), std::end(kMid), value);
}

bool IsPrintable(std::int32_t value) {
  if (value < 0x80) return value >= 0x20 && value < 0x7f;
  switch (Category(value)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

void AppendUpper(std::string& text, std::int32_t value) {
  if (value < 0x80) {
    text.push_back(static_cast<char>(value >= 'a' && value <= 'z' ? value - 32 : value));
  } else if (!AppendExpansion(kUpperExpansions, value, text)) {
    AppendUtf8(text, utf8proc_toupper(value));
  }
}

void AppendLower(std::string& text, std::int32_t value) {
  if (value < 0x80) {
    text.push_back(static_cast<char>(value >= 'A' && value <= 'Z' ? value + 32 : value));
  } else if (value == 0x130) {  // the only lowercase mapping to two characters
    text.append("i\xCC\x87");
  } else {
    AppendUtf8(text, utf8proc_tolower(value));
  }
}

void AppendTitle(std::string& text, std::int32_t value) {
  if (value < 0x80) {
    AppendUpper(text, value);
  } else if (!AppendExpansion(kTitleExpansions, value, text)) {
    AppendUtf8(text, utf8proc_totitle(value));
  }
}

}  // namespace adjudge::jinja
