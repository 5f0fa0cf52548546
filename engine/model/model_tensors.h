// Which tensors a model of a given config has, and what other formats call them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model_config.h"

namespace adjudge {

struct TensorShape {
  std::string name;                 // GGUF's
  std::vector<std::int64_t> shape;  // outermost first: [rows, cols] or [n]
};

// "[2, 3]".
std::string ToString(const std::vector<std::int64_t>& shape);

// All of them, in the order of the forward pass.
std::vector<TensorShape> ModelTensors(const ModelConfig& config);

// The name in Hugging Face checkpoints. REQUIRES: `name` is one of ModelTensors(config).
std::string HuggingFaceName(const ModelConfig& config, std::string_view name);

}  // namespace adjudge
