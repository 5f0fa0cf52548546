// A model whose next-token logits are any function of the tokens that it sees.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/model.h"

namespace adjudge::testing {

// [vocab_size] logits of the token after the visible ones.
using ToyLogits = std::function<std::vector<float>(std::span<const TokenId> visible)>;

// Batches, forks and the cache are the real ones; only the arithmetic is the function.
std::shared_ptr<const Model> MakeToyModel(int vocab_size, int context_length, ToyLogits logits);

}  // namespace adjudge::testing
