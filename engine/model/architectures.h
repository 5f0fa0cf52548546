// The architectures that adjudge computes, as data.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/model_config.h"

namespace adjudge {

struct Architecture {
  std::string_view name;        // ModelConfig::architecture
  std::string_view gguf_name;   // general.architecture; empty: GGUF files use another's
  std::string_view model_type;  // config.json
  Activation activation = Activation::kSilu;
  RopePairing gguf_pairing = RopePairing::kHalfSplit;  // safetensors files are always half-split
  bool qkv_bias = false;
  bool qk_norm = false;
  bool post_norms = false;
  bool scaled_embedding = false;       // by sqrt(dim)
  bool norm_weight_plus_one = false;   // in safetensors; GGUF files hold the sum
  bool tied_by_default = false;        // config.json without tie_word_embeddings
  bool head_dim_from_heads = true;     // config.json without head_dim: hidden_size / heads
  int window_pattern = 0;              // of so many layers the last sees everything; 0 = none
  double default_rope_base = 10000.0;  // files without one; 0 = they must name it
};

std::span<const Architecture> Architectures();
const Architecture* FindGgufArchitecture(std::string_view general_architecture);
const Architecture* FindModelType(std::string_view model_type);
// "llama, qwen2, ...", for errors.
std::string GgufArchitectureNames();
std::string ModelTypeNames();
// "; from config.json also mistral": those without a name in GGUF files, or empty.
std::string ConfigJsonOnlyNames();

// Sets the fields that follow from the architecture alone and from sizes already read.
void ApplyArchitecture(const Architecture& architecture, ModelConfig& config);

}  // namespace adjudge
