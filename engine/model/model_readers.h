// One reader a format: what ModelFile::Open chooses from.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/base/result.h"
#include "engine/model/gguf_file.h"
#include "engine/model/model_file.h"

namespace adjudge {

Result<std::unique_ptr<ModelFile>> OpenGgufModel(const GgufFile& file);

struct SafetensorsLimits {
  std::size_t max_header_bytes = 32 << 20;
  std::size_t max_index_bytes = 32 << 20;
  std::size_t max_config_bytes = 1 << 20;
  std::size_t max_tensors = 1 << 16;
  std::size_t max_shards = 1 << 10;
};

// `folder` holds config.json and model.safetensors, or model.safetensors.index.json and the shards
// that it names. F32, F16 and BF16 weights.
Result<std::unique_ptr<ModelFile>> OpenSafetensorsModel(const std::filesystem::path& folder,
                                                        const SafetensorsLimits& limits = {});

// The v0 layout of llama2.c: seven int32 (dim, hidden_dim, layers, heads, kv_heads, vocabulary,
// context; a negative vocabulary means an output matrix of its own), then float32 weights.
Result<std::unique_ptr<ModelFile>> OpenLlama2cModel(std::shared_ptr<const MappedFile> file,
                                                    std::string name);

}  // namespace adjudge
