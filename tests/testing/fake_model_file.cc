#include "tests/testing/fake_model_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/model/create_backend.h"
#include "engine/model/dequantize.h"
#include "engine/model/transformer.h"

namespace adjudge::testing {
namespace {

// Uniform in [-1, 1); the same on every machine.
float NextRandom(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  z ^= z >> 31;
  return static_cast<float>(static_cast<double>(z >> 40) / (1 << 23) - 1.0);
}

}  // namespace

ModelConfig TinyConfig(const std::string& architecture) {
  ModelConfig c;
  c.architecture = architecture;
  c.name = "tiny " + architecture;
  c.n_layers = 3;
  c.dim = 32;
  c.n_heads = 4;
  c.n_kv_heads = 2;
  c.head_dim = 8;
  c.hidden_dim = 40;
  c.vocab_size = 61;
  c.context_length = 256;
  c.attention_scale = 1 / std::sqrt(8.0);
  c.rope_dim = 8;
  c.layer_window.assign(3, 0);
  c.rope_pairing = architecture == "llama" || architecture == "mistral" ? RopePairing::kInterleaved
                                                                        : RopePairing::kHalfSplit;
  if (architecture == "mistral") c.layer_window.assign(3, 24);
  if (architecture == "qwen2") c.qkv_bias = true;
  if (architecture == "qwen3" || architecture == "gemma3") {
    c.qk_norm = true;
    c.tied_output = true;
    c.head_dim = c.rope_dim = 16;
    c.attention_scale = 0.25;
  }
  if (architecture == "gemma3") {
    c.post_norms = true;
    c.activation = Activation::kGeluTanh;
    c.embedding_scale = std::sqrt(32.0);
    c.layer_window = {9, 9, 0};
    c.rope.base = 1e6;
    c.rope_local.base = 1e4;
  }
  return c;
}

FakeModelFile::FakeModelFile(const ModelConfig& config, std::uint64_t seed)
    : config_(config), random_(seed * 1000003) {
  const float spread = 1.7F / std::sqrt(static_cast<float>(config.dim));
  Add("token_embd.weight", {config.vocab_size, config.dim}, 1.0F, 0.0F);
  for (int layer = 0; layer < config.n_layers; ++layer) AddLayer(layer);
  Add("output_norm.weight", {config.dim}, 0.3F, 1.0F);
  if (!config.tied_output) Add("output.weight", {config.vocab_size, config.dim}, spread, 0.0F);
}

void FakeModelFile::AddLayer(int layer) {
  const ModelConfig& c = config_;
  const std::string p = "blk." + std::to_string(layer) + ".";
  const float spread = 1.7F / std::sqrt(static_cast<float>(c.dim));
  Add(p + "attn_norm.weight", {c.dim}, 0.3F, 1.0F);
  Add(p + "attn_q.weight", {c.q_dim(), c.dim}, spread, 0.0F);
  Add(p + "attn_k.weight", {c.kv_dim(), c.dim}, spread, 0.0F);
  Add(p + "attn_v.weight", {c.kv_dim(), c.dim}, spread, 0.0F);
  if (c.qkv_bias) {
    Add(p + "attn_q.bias", {c.q_dim()}, 0.5F, 0.0F);
    Add(p + "attn_k.bias", {c.kv_dim()}, 0.5F, 0.0F);
    Add(p + "attn_v.bias", {c.kv_dim()}, 0.5F, 0.0F);
  }
  if (c.qk_norm) {
    Add(p + "attn_q_norm.weight", {c.head_dim}, 0.3F, 1.0F);
    Add(p + "attn_k_norm.weight", {c.head_dim}, 0.3F, 1.0F);
  }
  Add(p + "attn_output.weight", {c.dim, c.q_dim()}, spread, 0.0F);
  Add(p + "ffn_norm.weight", {c.dim}, 0.3F, 1.0F);
  if (c.post_norms) {
    Add(p + "post_attention_norm.weight", {c.dim}, 0.3F, 1.0F);
    Add(p + "post_ffw_norm.weight", {c.dim}, 0.3F, 1.0F);
  }
  Add(p + "ffn_gate.weight", {c.hidden_dim, c.dim}, spread, 0.0F);
  Add(p + "ffn_up.weight", {c.hidden_dim, c.dim}, spread, 0.0F);
  Add(p + "ffn_down.weight", {c.dim, c.hidden_dim}, spread, 0.0F);
}

void FakeModelFile::Add(const std::string& name, std::vector<std::int64_t> shape, float spread,
                        float middle) {
  std::int64_t n = 1;
  for (const std::int64_t size : shape) n *= size;
  std::vector<float>& values = tensors_[name];
  values.resize(static_cast<std::size_t>(n));
  for (float& value : values) value = middle + spread * NextRandom(random_);
  infos_.push_back({name, name, TensorType::kF32, std::move(shape), n * 4});
}

void FakeModelFile::Remove(const std::string& name) {
  tensors_.erase(name);
  std::erase_if(infos_, [&](const TensorInfo& info) { return info.name == name; });
}

void FakeModelFile::StoreAsBFloat16(const std::string& name) {
  std::vector<std::uint16_t>& stored = bfloat16_[name];
  for (float& value : tensors_.at(name)) {
    stored.push_back(FloatToBFloat16(value));
    value = BFloat16ToFloat(stored.back());
  }
}

void FakeModelFile::StoreAsBlocks(TensorType type) {
  for (TensorInfo& info : infos_) {
    if (info.shape.size() != 2) continue;
    const RandomWeight weight(++random_, type, info.shape[0], info.shape[1]);
    info.type = type;
    info.bytes = std::ssize(weight.bytes);
    for (std::int64_t r = 0; r < weight.rows; ++r) {
      std::ranges::copy(weight.Row(r), tensors_.at(info.name).begin() + r * weight.cols);
    }
    blocks_.emplace(info.name, weight);
  }
}

bool FakeModelFile::Has(std::string_view name) const {
  return tensors_.find(name) != tensors_.end();
}

Result<TensorView> FakeModelFile::Matrix(std::string_view name, std::int64_t rows,
                                         std::int64_t cols) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    return Fail(ErrorCode::kNotFound, "no such tensor", std::string(name));
  }
  if (static_cast<std::int64_t>(found->second.size()) != rows * cols) {
    return Fail(ErrorCode::kMalformed, "another shape", std::string(name));
  }
  TensorView view{TensorType::kF32, rows, cols,
                  reinterpret_cast<const std::byte*>(found->second.data())};
  if (const auto blocks = blocks_.find(name); blocks != blocks_.end()) {
    view = blocks->second.view();
  } else if (const auto half = bfloat16_.find(name); half != bfloat16_.end()) {
    view.type = TensorType::kBF16;
    view.data = reinterpret_cast<const std::byte*>(half->second.data());
  }
  view.name = found->first;
  return view;
}

Result<std::vector<float>> FakeModelFile::Vector(std::string_view name, std::int64_t n) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    return Fail(ErrorCode::kNotFound, "no such tensor", std::string(name));
  }
  if (static_cast<std::int64_t>(found->second.size()) != n) {
    return Fail(ErrorCode::kMalformed, "another shape", std::string(name));
  }
  return found->second;
}

std::shared_ptr<const Model> MakeFakeModel(const ModelConfig& config, const ModelOptions& options,
                                           std::uint64_t seed) {
  return MakeFakeModel(FakeModelFile(config, seed), options);
}

std::shared_ptr<const Model> MakeFakeModel(const FakeModelFile& file, const ModelOptions& options) {
  auto backend = CreateBackend(options.backend, options.threads, options.precision);
  if (!backend) {
    ADD_FAILURE() << ToString(backend.error());
    return nullptr;
  }
  auto model = BuildTransformer(file, std::move(*backend));
  if (!model) {
    ADD_FAILURE() << ToString(model.error());
    return nullptr;
  }
  return *model;
}

}  // namespace adjudge::testing
