// A qwen2 forward pass in float64, a token at a time, with any rule of who sees whom.
#pragma once

#include <functional>
#include <vector>

#include "engine/base/token.h"
#include "tests/testing/fake_model_file.h"

namespace adjudge::testing {

struct NaiveToken {
  TokenId id = 0;
  int position = 0;
  std::vector<int> sees;  // indices of tokens before it, and its own, in any order
};

// [tokens, dim] hidden states after the final norm. Nothing is shared with the engine but the
// weights' values.
std::vector<std::vector<double>> NaiveQwen2(FakeModelFile& file,
                                            const std::vector<NaiveToken>& tokens);

}  // namespace adjudge::testing
