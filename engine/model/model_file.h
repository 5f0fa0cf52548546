// ModelFile: one model on disk in any format, as a config and tensors under one set of names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backend.h"
#include "engine/base/result.h"
#include "engine/model_config.h"

namespace adjudge {

struct TensorInfo {
  std::string name;       // GGUF's name, whatever the format
  std::string file_name;  // the name in the file
  TensorType type = TensorType::kF32;
  std::vector<std::int64_t> shape;  // outermost first
  std::int64_t bytes = 0;
};

// Names are GGUF's (token_embd.weight, blk.N.attn_q.weight, ...) for every format. Immutable; views
// live as long as the file.
class ModelFile {
 public:
  virtual ~ModelFile() = default;

  // GGUF file, folder with config.json + safetensors, or llama2.c .bin. The config is validated: an
  // unknown architecture, rope type or activation is refused by its name; so is a tensor that is
  // missing, has another shape than the config asks for (both are named), or has no use.
  static Result<std::unique_ptr<ModelFile>> Open(const std::filesystem::path& path);

  virtual std::string_view format() const = 0;  // "gguf v3" (or v2), "safetensors", "llama2.c"
  virtual const ModelConfig& config() const = 0;
  virtual const std::vector<TensorInfo>& tensors() const = 0;
  virtual bool Has(std::string_view name) const = 0;
  // The matrix; an error with the name and both shapes when it is not [rows, cols].
  virtual Result<TensorView> Matrix(std::string_view name, std::int64_t rows,
                                    std::int64_t cols) const = 0;
  // A vector of n elements as floats, with gemma's + 1 added to norm gains where the format needs
  // it.
  virtual Result<std::vector<float>> Vector(std::string_view name, std::int64_t n) const = 0;
  virtual std::int64_t file_bytes() const = 0;
  virtual void ReleasePages() const = 0;
};

}  // namespace adjudge
