// Reads a ModelConfig out of a file's own keys.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/model/gguf_file.h"
#include "engine/model_config.h"

namespace adjudge {

// Largest sizes that are believed. Twice the largest published models or more, and small enough
// that no product of two overflows an int64 and no list over layers or dimensions is large.
struct ModelConfigLimits {
  int max_layers = 1024;
  int max_dim = 1 << 17;
  int max_heads = 1 << 12;
  int max_head_dim = 1 << 12;
  int max_hidden_dim = 1 << 20;
  int max_vocab_size = 1 << 22;
  int max_context_length = 1 << 27;
};

// Keys that the architecture needs are asked for by name. Only what the format itself defines has a
// default: head_count_kv = head_count, key_length = embedding_length / head_count,
// rope.dimension_count = key_length, rope.freq_base = 10000 (not gemma3), gemma3's window pattern
// of 6 and local base of 10000, vocab_size = rows of token_embd.weight. Keys that would change the
// arithmetic in a way that adjudge does not compute are refused by name. `file` must have been
// opened with its tensors.
Result<ModelConfig> ReadGgufConfig(const GgufFile& file, const ModelConfigLimits& limits = {});

// The same from the text of a config.json (errors have the key's JSON pointer as place). Defaults
// are those of the model's class in transformers: num_key_value_heads = num_attention_heads,
// head_dim = hidden_size / num_attention_heads (not qwen3, gemma3), rope_theta = 10000 (not
// gemma3), tie_word_embeddings = false (gemma3: true), gemma3's window pattern of 6 and local base
// of 10000.
Result<ModelConfig> ReadJsonConfig(std::string_view text, const ModelConfigLimits& limits = {});

}  // namespace adjudge
