#include "engine/model/architectures.h"

#include <cmath>

namespace adjudge {
namespace {

constexpr Architecture kArchitectures[] = {
    {.name = "llama",
     .gguf_name = "llama",
     .model_type = "llama",
     .gguf_pairing = RopePairing::kInterleaved},
    // GGUF files of mistral models call themselves llama.
    {.name = "mistral", .gguf_name = "", .model_type = "mistral"},
    {.name = "qwen2", .gguf_name = "qwen2", .model_type = "qwen2", .qkv_bias = true},
    {.name = "qwen3",
     .gguf_name = "qwen3",
     .model_type = "qwen3",
     .qk_norm = true,
     .head_dim_from_heads = false},
    {.name = "gemma3",
     .gguf_name = "gemma3",
     .model_type = "gemma3_text",
     .activation = Activation::kGeluTanh,
     .qk_norm = true,
     .post_norms = true,
     .scaled_embedding = true,
     .norm_weight_plus_one = true,
     .tied_by_default = true,
     .head_dim_from_heads = false,
     .window_pattern = 6,
     .default_rope_base = 0},
};

template <typename Field>
const Architecture* FindBy(Field field, std::string_view wanted) {
  for (const Architecture& architecture : kArchitectures) {
    if (!wanted.empty() && architecture.*field == wanted) return &architecture;
  }
  return nullptr;
}

template <typename Field>
std::string Names(Field field) {
  std::string names;
  for (const Architecture& architecture : kArchitectures) {
    const std::string_view name = architecture.*field;
    if (name.empty()) continue;
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

}  // namespace

std::span<const Architecture> Architectures() { return kArchitectures; }

const Architecture* FindGgufArchitecture(std::string_view general_architecture) {
  return FindBy(&Architecture::gguf_name, general_architecture);
}

const Architecture* FindModelType(std::string_view model_type) {
  return FindBy(&Architecture::model_type, model_type);
}

std::string GgufArchitectureNames() { return Names(&Architecture::gguf_name); }

std::string ModelTypeNames() { return Names(&Architecture::model_type); }

std::string ConfigJsonOnlyNames() {
  std::string names;
  for (const Architecture& architecture : kArchitectures) {
    if (!architecture.gguf_name.empty()) continue;
    names += names.empty() ? "; from config.json also " : ", ";
    names += architecture.model_type;
  }
  return names;
}

void ApplyArchitecture(const Architecture& architecture, ModelConfig& config) {
  config.architecture = architecture.name;
  config.activation = architecture.activation;
  config.qkv_bias = architecture.qkv_bias;
  config.qk_norm = architecture.qk_norm;
  config.post_norms = architecture.post_norms;
  // Not rounded: transformers rounds it to the type that it computes in, which here is float.
  config.embedding_scale =
      architecture.scaled_embedding ? std::sqrt(static_cast<double>(config.dim)) : 1.0;
}

}  // namespace adjudge
