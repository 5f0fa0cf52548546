#include "engine/model/model_tensors.h"

#include "engine/base/check.h"

namespace adjudge {
namespace {

struct NamePair {
  std::string_view gguf;
  std::string_view hugging_face;
};

constexpr NamePair kTopNames[] = {
    {"token_embd.weight", "model.embed_tokens.weight"},
    {"output_norm.weight", "model.norm.weight"},
    {"output.weight", "lm_head.weight"},
};

constexpr NamePair kLayerNames[] = {
    {"attn_norm.weight", "input_layernorm.weight"},
    {"attn_q.weight", "self_attn.q_proj.weight"},
    {"attn_q.bias", "self_attn.q_proj.bias"},
    {"attn_k.weight", "self_attn.k_proj.weight"},
    {"attn_k.bias", "self_attn.k_proj.bias"},
    {"attn_v.weight", "self_attn.v_proj.weight"},
    {"attn_v.bias", "self_attn.v_proj.bias"},
    {"attn_q_norm.weight", "self_attn.q_norm.weight"},
    {"attn_k_norm.weight", "self_attn.k_norm.weight"},
    {"attn_output.weight", "self_attn.o_proj.weight"},
    {"ffn_norm.weight", "post_attention_layernorm.weight"},
    {"ffn_gate.weight", "mlp.gate_proj.weight"},
    {"ffn_up.weight", "mlp.up_proj.weight"},
    {"ffn_down.weight", "mlp.down_proj.weight"},
};

// With norms after attention too, the one before the feed-forward gives up its name.
constexpr NamePair kPostNormNames[] = {
    {"post_attention_norm.weight", "post_attention_layernorm.weight"},
    {"ffn_norm.weight", "pre_feedforward_layernorm.weight"},
    {"post_ffw_norm.weight", "post_feedforward_layernorm.weight"},
};

template <std::size_t kSize>
std::string_view Lookup(const NamePair (&names)[kSize], std::string_view gguf) {
  for (const NamePair& pair : names) {
    if (pair.gguf == gguf) return pair.hugging_face;
  }
  return {};
}

void AddLayer(const ModelConfig& config, int layer, std::vector<TensorShape>& tensors) {
  const std::string prefix = "blk." + std::to_string(layer) + ".";
  const auto add = [&](const char* name, std::vector<std::int64_t> shape) {
    tensors.push_back({prefix + name, std::move(shape)});
  };
  const std::int64_t dim = config.dim;
  const std::int64_t q_dim = config.q_dim();
  const std::int64_t kv_dim = config.kv_dim();
  add("attn_norm.weight", {dim});
  add("attn_q.weight", {q_dim, dim});
  add("attn_k.weight", {kv_dim, dim});
  add("attn_v.weight", {kv_dim, dim});
  if (config.qkv_bias) {
    add("attn_q.bias", {q_dim});
    add("attn_k.bias", {kv_dim});
    add("attn_v.bias", {kv_dim});
  }
  if (config.qk_norm) {
    add("attn_q_norm.weight", {config.head_dim});
    add("attn_k_norm.weight", {config.head_dim});
  }
  add("attn_output.weight", {dim, q_dim});
  if (config.post_norms) add("post_attention_norm.weight", {dim});
  add("ffn_norm.weight", {dim});
  add("ffn_gate.weight", {config.hidden_dim, dim});
  add("ffn_up.weight", {config.hidden_dim, dim});
  add("ffn_down.weight", {dim, config.hidden_dim});
  if (config.post_norms) add("post_ffw_norm.weight", {dim});
}

}  // namespace

std::string ToString(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

std::vector<TensorShape> ModelTensors(const ModelConfig& config) {
  std::vector<TensorShape> tensors;
  tensors.push_back({"token_embd.weight", {config.vocab_size, config.dim}});
  for (int layer = 0; layer < config.n_layers; ++layer) AddLayer(config, layer, tensors);
  tensors.push_back({"output_norm.weight", {config.dim}});
  if (!config.tied_output) tensors.push_back({"output.weight", {config.vocab_size, config.dim}});
  return tensors;
}

std::string HuggingFaceName(const ModelConfig& config, std::string_view name) {
  constexpr std::string_view kLayerPrefix = "blk.";
  if (!name.starts_with(kLayerPrefix)) {
    const std::string_view top = Lookup(kTopNames, name);
    ADJUDGE_CHECK(!top.empty());
    return std::string(top);
  }
  name.remove_prefix(kLayerPrefix.size());
  const std::size_t dot = name.find('.');
  ADJUDGE_CHECK(dot != std::string_view::npos);
  const std::string_view part = name.substr(dot + 1);
  std::string_view found = config.post_norms ? Lookup(kPostNormNames, part) : std::string_view();
  if (found.empty()) found = Lookup(kLayerNames, part);
  ADJUDGE_CHECK(!found.empty());
  return "model.layers." + std::string(name.substr(0, dot)) + "." + std::string(found);
}

}  // namespace adjudge
