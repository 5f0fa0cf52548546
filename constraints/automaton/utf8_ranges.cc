#include "constraints/automaton/utf8_ranges.h"

#include <algorithm>
#include <string>

#include "engine/base/utf8.h"

namespace adjudge {
namespace {

// Adds [first, last], whose characters have one length in UTF-8.
void AddSameLength(char32_t first, char32_t last, std::vector<Utf8Range>& out) {
  // Cut where a suffix of continuation bytes is not the whole of 80..BF.
  for (int k = 1; k < 4; ++k) {
    const char32_t mask = (char32_t{1} << (6 * k)) - 1;
    if ((first & ~mask) == (last & ~mask)) continue;
    if ((first & mask) != 0) {
      AddSameLength(first, first | mask, out);
      return AddSameLength((first | mask) + 1, last, out);
    }
    if ((last & mask) != mask) {
      AddSameLength(first, (last & ~mask) - 1, out);
      return AddSameLength(last & ~mask, last, out);
    }
  }
  std::string low;
  std::string high;
  AppendUtf8(first, low);
  AppendUtf8(last, high);
  Utf8Range range{.n = low.size()};
  for (std::size_t i = 0; i < low.size(); ++i) {
    range.bytes[i] = {static_cast<std::uint8_t>(low[i]), static_cast<std::uint8_t>(high[i])};
  }
  out.push_back(range);
}

}  // namespace

std::vector<Utf8Range> Utf8Ranges(const CodePointSet& chars) {
  std::vector<Utf8Range> out;
  constexpr char32_t kLastOfLength[] = {0x7F, 0x7FF, 0xFFFF, kLastCodePoint};
  for (const CodePointSet::Range& range : chars.ranges()) {
    char32_t first = range.first;
    for (const char32_t most : kLastOfLength) {
      if (first > most || first > range.last) continue;
      const char32_t last = std::min(range.last, most);
      AddSameLength(first, last, out);
      first = last + 1;
    }
  }
  return out;
}

}  // namespace adjudge
