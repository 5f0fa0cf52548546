#include "engine/base/token_mask.h"

#include <algorithm>
#include <bit>

#include "engine/base/check.h"

namespace adjudge {

TokenMask::TokenMask(int width) : width_(width) {
  ADJUDGE_CHECK(width >= 0);
  words_.assign((static_cast<std::size_t>(width) + 31) / 32, 0);
}

void TokenMask::set_all() {
  std::fill(words_.begin(), words_.end(), ~std::uint32_t{0});
  if (width_ % 32 != 0) words_.back() = (std::uint32_t{1} << (width_ % 32)) - 1;
}

void TokenMask::clear_all() { std::fill(words_.begin(), words_.end(), 0); }

int TokenMask::count() const {
  int n = 0;
  for (std::uint32_t word : words_) n += std::popcount(word);
  return n;
}

bool TokenMask::none() const {
  return std::all_of(words_.begin(), words_.end(), [](std::uint32_t word) { return word == 0; });
}

TokenId TokenMask::first() const {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (words_[i] != 0) return static_cast<TokenId>(i * 32) + std::countr_zero(words_[i]);
  }
  return kNoToken;
}

}  // namespace adjudge
