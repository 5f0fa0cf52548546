// A model file that exists in memory alone: random weights for any config.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/model.h"
#include "engine/model/model_file.h"
#include "tests/testing/backend_twin.h"

namespace adjudge::testing {

// A small valid config with the traits of `architecture` (llama, mistral, qwen2, qwen3, gemma3):
// 3 layers, context 256, vocabulary 61, grouped heads; gemma3 and mistral have windowed layers.
ModelConfig TinyConfig(const std::string& architecture);
inline constexpr const char* kArchitectures[] = {"llama", "mistral", "qwen2", "qwen3", "gemma3"};

// F32 weights, the same for the same config and seed. Norm gains lie around one.
class FakeModelFile final : public ModelFile {
 public:
  explicit FakeModelFile(const ModelConfig& config, std::uint64_t seed = 1);

  std::string_view format() const override { return "fake"; }
  const ModelConfig& config() const override { return config_; }
  const std::vector<TensorInfo>& tensors() const override { return infos_; }
  bool Has(std::string_view name) const override;
  Result<TensorView> Matrix(std::string_view name, std::int64_t rows,
                            std::int64_t cols) const override;
  Result<std::vector<float>> Vector(std::string_view name, std::int64_t n) const override;
  std::int64_t file_bytes() const override { return 0; }
  void ReleasePages() const override {}

  // The values, to be changed before the model is built.
  std::vector<float>& values(const std::string& name) { return tensors_.at(name); }
  void Remove(const std::string& name);
  void Add(const std::string& name, std::vector<std::int64_t> shape, float spread, float middle);
  // Keeps a matrix as BF16 from now on (its values are rounded).
  void StoreAsBFloat16(const std::string& name);
  // Replaces every matrix by random blocks of a type. REQUIRES: rows of whole blocks.
  void StoreAsBlocks(TensorType type);

 private:
  void AddLayer(int layer);

  ModelConfig config_;
  std::uint64_t random_ = 0;
  std::map<std::string, std::vector<float>, std::less<>> tensors_;
  std::map<std::string, std::vector<std::uint16_t>, std::less<>> bfloat16_;
  std::map<std::string, RandomWeight, std::less<>> blocks_;
  std::vector<TensorInfo> infos_;
};

// The model of a FakeModelFile.
std::shared_ptr<const Model> MakeFakeModel(const ModelConfig& config,
                                           const ModelOptions& options = {},
                                           std::uint64_t seed = 1);
std::shared_ptr<const Model> MakeFakeModel(const FakeModelFile& file, const ModelOptions& options);

}  // namespace adjudge::testing
