// ModelConfig: the shape of a decoder-only transformer, as data.
#pragma once

#include <string>
#include <vector>

namespace adjudge {

enum class RopePairing { kInterleaved, kHalfSplit };
enum class Activation { kSilu, kGeluTanh };
enum class RopeScalingKind { kNone, kLinear, kLlama3, kYarn };

// How positions are stretched past the trained context.
struct RopeScaling {
  RopeScalingKind kind = RopeScalingKind::kNone;
  double factor = 1.0;
  double low_freq_factor = 1.0;   // llama3
  double high_freq_factor = 4.0;  // llama3
  int original_context = 0;       // llama3, yarn
  double beta_fast = 32.0;        // yarn
  double beta_slow = 1.0;         // yarn
  double attention_factor = 0.0;  // yarn: scale of cos and sin; 0 = 0.1 ln(factor) + 1
};

// One rotary setting; a model with windowed layers may have two.
struct RopeConfig {
  double base = 10000.0;
  RopeScaling scaling;
  // Divisor of each pair's frequency, from a file that stores them. [head_dim / 2] or empty.
  std::vector<float> freq_factors;
};

// Fields have the field's usual names; every size is positive once a config was validated.
struct ModelConfig {
  std::string architecture;  // llama, mistral, qwen2, qwen3, gemma3
  std::string name;          // what the file calls itself
  int n_layers = 0;
  int dim = 0;  // width of the residual stream
  int n_heads = 0;
  int n_kv_heads = 0;
  int head_dim = 0;
  int hidden_dim = 0;  // feed-forward width
  int vocab_size = 0;  // rows of the output matrix = width of the logits
  int context_length = 0;

  double norm_eps = 1e-5;
  Activation activation = Activation::kSilu;
  double attention_scale = 0.0;      // multiplies q.k; head_dim^-0.5 unless the file says otherwise
  double embedding_scale = 1.0;      // gemma: sqrt(dim)
  double final_logit_softcap = 0.0;  // 0 = none

  bool tied_output = false;  // the embedding is the output matrix
  bool qkv_bias = false;     // qwen2
  bool qk_norm = false;      // qwen3, gemma3: RMS norm over each head of q and k
  bool post_norms = false;   // gemma3: norms after attention and after the feed-forward too
  // The stored norm weights are w with the gain being 1 + w (gemma3 in safetensors). Loaders add
  // the one, so the forward pass never looks at this.
  bool norm_weight_plus_one = false;

  RopePairing rope_pairing = RopePairing::kHalfSplit;
  int rope_dim = 0;       // leading dimensions of a head that are rotated
  RopeConfig rope;        // full-attention layers
  RopeConfig rope_local;  // windowed layers
  // 0 = sees everything before it in its sequence; w = of that, what lies at position p - w + 1 or
  // later, p being its own position. [n_layers]
  std::vector<int> layer_window;

  int kv_dim() const { return n_kv_heads * head_dim; }
  int q_dim() const { return n_heads * head_dim; }
  bool windowed(int layer) const { return layer_window[static_cast<std::size_t>(layer)] > 0; }
};

}  // namespace adjudge
