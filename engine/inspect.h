// What a model's file holds, told as far as it can be read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/model_config.h"

namespace adjudge {

struct InspectedTensor {
  std::string name;
  std::string type;                 // "Q4_1"; "type 17" where adjudge does not read it
  std::vector<std::int64_t> shape;  // outermost first
  std::int64_t bytes = 0;
};

struct InspectedModel {
  std::string format;  // "gguf v3", "safetensors", "llama2.c"
  std::int64_t file_bytes = 0;
  std::string name;          // what the file calls itself, or empty
  std::string architecture;  // as the file names it, supported or not
  // The config, or why the file is refused as a model.
  Result<ModelConfig> config = ModelConfig{};
  // The tensors, or why their table is refused.
  Result<std::vector<InspectedTensor>> tensors = std::vector<InspectedTensor>{};
  // Scalar metadata of a GGUF file as text, in file order; strings as they are.
  std::vector<std::pair<std::string, std::string>> metadata;
};

// Reads what it can: a file with only a vocabulary, or of an unknown architecture, is described
// with the reason of its refusal. Errors: nothing of the file can be read.
Result<InspectedModel> InspectModel(const std::filesystem::path& path);

// Bytes of keys and values that one token takes in a KvCache of the model, all layers.
std::int64_t CacheBytesPerToken(const ModelConfig& config);

}  // namespace adjudge
