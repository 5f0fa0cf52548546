// The precompiled normaliser of SentencePiece models, checked before anything walks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace adjudge {

// A charsmap is a little-endian u32 n, a trie of n bytes (a double array of u32 units), and
// NUL-ended replacement strings that the trie's values index. Immutable; safe to share between
// threads.
class Charsmap {
 public:
  // Refuses what a walk without checks would trip over: links that leave the table or run in a
  // circle, values past the strings, replacements of more than 256 bytes. Empty bytes replace
  // nothing.
  static Result<Charsmap> Parse(std::string_view bytes);

  struct Match {
    std::size_t length = 0;  // of what is replaced; 0 = no rule
    std::string_view replacement;
  };
  // The rule for the longest beginning of `text`.
  Match Find(std::string_view text) const;

  // One unit of the double array, as the format lays it out.
  struct Unit {
    std::uint32_t bits;
    bool has_leaf() const { return ((bits >> 8) & 1) != 0; }
    std::uint32_t value() const { return bits & 0x7FFFFFFF; }
    std::uint32_t label() const { return bits & 0x800000FF; }
    std::uint32_t offset() const { return (bits >> 10) << ((bits & (1U << 9)) >> 6); }
  };

 private:
  std::vector<Unit> units_;
  std::string strings_;
};

}  // namespace adjudge
