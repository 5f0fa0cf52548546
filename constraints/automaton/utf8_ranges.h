// Utf8Ranges: a set of characters as sequences of byte ranges.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "grammars/code_point_set.h"

namespace adjudge {

// n byte ranges, one after another.
struct Utf8Range {
  struct Bytes {
    std::uint8_t first;
    std::uint8_t last;
  };
  std::size_t n = 0;
  std::array<Bytes, 4> bytes{};
};

// Sequences that together spell exactly the characters of the set, each once; first bytes ascend.
std::vector<Utf8Range> Utf8Ranges(const CodePointSet& chars);

}  // namespace adjudge
