// ForEachAllowed: the ids that a row of logits and a mask have in common.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/token_mask.h"

namespace adjudge {

// Calls visit(id) for each id below n_logits that the mask allows (null: every one), ascending.
template <typename Visit>
void ForEachAllowed(std::size_t n_logits, const TokenMask* mask, Visit visit) {
  if (mask == nullptr) {
    for (std::size_t id = 0; id < n_logits; ++id) visit(id);
    return;
  }
  const std::span<const std::uint32_t> words = mask->words();
  for (std::size_t w = 0; w < words.size() && w * 32 < n_logits; ++w) {
    for (std::uint32_t bits = words[w]; bits != 0; bits &= bits - 1) {
      const std::size_t id = w * 32 + static_cast<std::size_t>(std::countr_zero(bits));
      if (id >= n_logits) return;
      visit(id);
    }
  }
}

}  // namespace adjudge
