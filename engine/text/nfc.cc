#include "engine/text/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "engine/base/utf8.h"

namespace adjudge {
namespace {

using Code = utf8proc_int32_t;

int CombiningClass(Code code) { return utf8proc_get_property(code)->combining_class; }

// Canonical order by a stable sort of each run of marks: the library's own exchange of neighbours
// takes quadratic time on a long run.
void OrderMarks(std::vector<Code>& codes) {
  for (std::size_t i = 0; i < codes.size();) {
    if (CombiningClass(codes[i]) == 0) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < codes.size() && CombiningClass(codes[end]) != 0) ++end;
    std::stable_sort(codes.begin() + static_cast<std::ptrdiff_t>(i),
                     codes.begin() + static_cast<std::ptrdiff_t>(end),
                     [](Code a, Code b) { return CombiningClass(a) < CombiningClass(b); });
    i = end;
  }
}

}  // namespace

bool IsSurelyNfc(std::string_view text) {
  // Nothing below U+0300 (0xCC 0x80) changes: precomposed letters are form C, and no mark follows.
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) >= 0xCC; });
}

Result<std::string> ToNfc(std::string_view text) {
  std::vector<Code> codes;
  codes.reserve(text.size());
  constexpr auto kDecompose = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = Utf8Length(text[i]);
    Code parts[32];
    int boundary = 0;
    const auto n = utf8proc_decompose_char(static_cast<Code>(DecodeUtf8(text.data() + i, length)),
                                           parts, 32, kDecompose, &boundary);
    if (n < 0 || n > 32) return Fail(ErrorCode::kMalformed, utf8proc_errmsg(n));
    codes.insert(codes.end(), parts, parts + n);
    i += length;
  }
  OrderMarks(codes);
  const auto n =
      utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (n < 0) return Fail(ErrorCode::kMalformed, utf8proc_errmsg(n));
  std::string out;
  out.reserve(text.size());
  for (utf8proc_ssize_t i = 0; i < n; ++i) {
    AppendUtf8(static_cast<char32_t>(codes[static_cast<std::size_t>(i)]), out);
  }
  return out;
}

}  // namespace adjudge
