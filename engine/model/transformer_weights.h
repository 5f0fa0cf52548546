// A decoder-only transformer's weights on a backend.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/backend.h"
#include "engine/base/result.h"
#include "engine/model/model_file.h"

namespace adjudge {

struct LayerWeights {
  std::vector<float> attn_norm;
  std::vector<float> q_norm, k_norm;  // [head_dim], or empty
  std::vector<float> post_attn_norm;  // or empty
  std::vector<float> ffn_norm;
  std::vector<float> post_ffn_norm;  // or empty

  // Either qkv, or q, k and v: apart where the file keeps them in different formats, and where
  // q and k are normalised head by head.
  std::unique_ptr<PackedWeight> qkv, q, k, v;
  std::vector<float> qkv_bias;  // [q_dim + 2 kv_dim] or empty
  std::unique_ptr<PackedWeight> attn_out;
  // Either gate_up, or gate and up.
  std::unique_ptr<PackedWeight> gate_up, gate, up;
  std::unique_ptr<PackedWeight> down;
};

struct TransformerWeights {
  std::unique_ptr<PackedWeight> embedding;
  std::unique_ptr<PackedWeight> separate_output;  // null where the embedding is the output matrix
  std::vector<float> final_norm;
  std::vector<LayerWeights> layers;
  std::int64_t bytes = 0;  // held in memory

  const PackedWeight& output() const {
    return separate_output == nullptr ? *embedding : *separate_output;
  }
};

// Packs every weight that file.config() asks for. Errors name the tensor: absent, of another shape,
// of a type that the backend cannot pack, or one that the architecture has no place for.
Result<TransformerWeights> LoadTransformerWeights(const ModelFile& file, Backend& backend);

}  // namespace adjudge
