// BpeMerger: joins the symbols of a word by the ranks of its merges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/token.h"

namespace adjudge {

// Merge rule: `left` followed by `right` becomes `merged`. A rule's rank is its place in the list.
struct BpeRule {
  TokenId left = kNoToken;
  TokenId right = kNoToken;
  TokenId merged = kNoToken;
};

// Immutable; safe to share between threads.
class BpeMerger {
 public:
  explicit BpeMerger(const std::vector<BpeRule>& rules);  // REQUIRES: no pair twice

  // Replaces the symbols from `begin` on by what is left when no rule applies any more: each time
  // the pair of the lowest rank is joined, the leftmost of equal ones. O(n log n).
  void Merge(std::vector<TokenId>& symbols, std::size_t begin) const;

 private:
  static constexpr std::uint32_t kNoRank = 0xFFFFFFFF;
  struct Slot {
    std::uint64_t pair = kEmpty;
    std::uint32_t rank = kNoRank;
    TokenId merged = kNoToken;
  };
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  const Slot* Find(TokenId left, TokenId right) const;  // nullptr when no rule
  std::size_t Place(std::uint64_t pair) const;
  void MergeShort(std::vector<TokenId>& symbols, std::size_t begin) const;
  void MergeLong(std::vector<TokenId>& symbols, std::size_t begin) const;

  std::vector<Slot> slots_;  // open addressing, a power of two
  int shift_ = 0;
};

}  // namespace adjudge
