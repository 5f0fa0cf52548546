// TokenMask: a set of tokens, one bit each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/token.h"

namespace adjudge {

// Bit id % 32 of word id / 32, low bit first; bits past width() are zero. A value; reuse it from
// step to step rather than making a new one.
class TokenMask {
 public:
  TokenMask() = default;
  explicit TokenMask(int width);

  int width() const { return width_; }
  bool test(TokenId id) const {
    return (words_[static_cast<std::size_t>(id) >> 5] >> (static_cast<unsigned>(id) & 31)) & 1U;
  }
  void set(TokenId id) {
    words_[static_cast<std::size_t>(id) >> 5] |= 1U << (static_cast<unsigned>(id) & 31);
  }
  void clear(TokenId id) {
    words_[static_cast<std::size_t>(id) >> 5] &= ~(1U << (static_cast<unsigned>(id) & 31));
  }
  void set_all();
  void clear_all();
  int count() const;
  bool none() const;
  // The lowest set id, or kNoToken.
  TokenId first() const;

  std::span<std::uint32_t> words() { return words_; }
  std::span<const std::uint32_t> words() const { return words_; }

  friend bool operator==(const TokenMask&, const TokenMask&) = default;

 private:
  int width_ = 0;
  std::vector<std::uint32_t> words_;  // [ceil(width / 32)]
};

}  // namespace adjudge
