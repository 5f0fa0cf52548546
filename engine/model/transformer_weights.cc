#include "engine/model/transformer_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace adjudge {
namespace {

using Weight = std::unique_ptr<PackedWeight>;

// Loads tensors by name and keeps account of them.
class WeightLoader {
 public:
  WeightLoader(const ModelFile& file, Backend& backend) : file_(file), backend_(backend) {}

  Result<TensorView> View(const std::string& name, std::int64_t rows, std::int64_t cols) {
    used_.insert(name);
    return file_.Matrix(name, rows, cols);
  }

  Status Pack(std::span<const TensorView> stacked, const std::string& name, Weight& out) {
    auto packed = backend_.Pack(stacked);
    if (!packed) {
      Error error = std::move(packed).error();
      if (error.place.empty()) error.place = name;
      return tl::unexpected<Error>(std::move(error));
    }
    out = std::move(*packed);
    bytes_ += out->bytes();
    return {};
  }

  Status Matrix(const std::string& name, std::int64_t rows, std::int64_t cols, Weight& out) {
    ADJUDGE_ASSIGN_OR_RETURN(const TensorView view, View(name, rows, cols));
    return Pack(std::span(&view, 1), name, out);
  }

  Status Vector(const std::string& name, std::int64_t n, std::vector<float>& out) {
    used_.insert(name);
    ADJUDGE_ASSIGN_OR_RETURN(out, file_.Vector(name, n));
    bytes_ += n * std::int64_t{sizeof(float)};
    if (!std::all_of(out.begin(), out.end(), [](float x) { return std::isfinite(x); })) {
      return Fail(ErrorCode::kMalformed, "holds a number that is not finite", name);
    }
    return {};
  }

  // A tensor of the layers that nothing has read would change the result: an attention bias, an
  // expert, a norm of another architecture.
  Status CheckNothingIsLeft() const {
    for (const TensorInfo& tensor : file_.tensors()) {
      const std::string_view name = tensor.name;
      const bool of_the_layers =
          name.starts_with("blk.") || name.starts_with("output") || name.starts_with("token_embd");
      if (of_the_layers && !used_.contains(tensor.name)) {
        return Fail(ErrorCode::kUnsupported,
                    "architecture " + file_.config().architecture + " has no place for this tensor",
                    tensor.name);
      }
    }
    return {};
  }

  void MarkUsed(const std::string& name) { used_.insert(name); }
  std::int64_t bytes() const { return bytes_; }

 private:
  const ModelFile& file_;
  Backend& backend_;
  std::set<std::string, std::less<>> used_;
  std::int64_t bytes_ = 0;
};

Status LoadQkv(WeightLoader& loader, const ModelConfig& c, const std::string& prefix,
               LayerWeights& layer) {
  std::array<TensorView, 3> views;
  ADJUDGE_ASSIGN_OR_RETURN(views[0], loader.View(prefix + "attn_q.weight", c.q_dim(), c.dim));
  ADJUDGE_ASSIGN_OR_RETURN(views[1], loader.View(prefix + "attn_k.weight", c.kv_dim(), c.dim));
  ADJUDGE_ASSIGN_OR_RETURN(views[2], loader.View(prefix + "attn_v.weight", c.kv_dim(), c.dim));
  const bool one_format = views[0].type == views[1].type && views[1].type == views[2].type;
  if (one_format && !c.qk_norm) {
    ADJUDGE_RETURN_IF_ERROR(loader.Pack(views, prefix + "attn_q.weight", layer.qkv));
  } else {
    const std::span<const TensorView> all(views);
    ADJUDGE_RETURN_IF_ERROR(loader.Pack(all.subspan(0, 1), prefix + "attn_q.weight", layer.q));
    ADJUDGE_RETURN_IF_ERROR(loader.Pack(all.subspan(1, 1), prefix + "attn_k.weight", layer.k));
    ADJUDGE_RETURN_IF_ERROR(loader.Pack(all.subspan(2, 1), prefix + "attn_v.weight", layer.v));
  }
  if (c.qkv_bias) {
    const std::pair<const char*, int> parts[] = {
        {"attn_q.bias", c.q_dim()}, {"attn_k.bias", c.kv_dim()}, {"attn_v.bias", c.kv_dim()}};
    for (const auto& [name, n] : parts) {
      std::vector<float> bias;
      ADJUDGE_RETURN_IF_ERROR(loader.Vector(prefix + name, n, bias));
      layer.qkv_bias.insert(layer.qkv_bias.end(), bias.begin(), bias.end());
    }
  }
  if (c.qk_norm) {
    ADJUDGE_RETURN_IF_ERROR(loader.Vector(prefix + "attn_q_norm.weight", c.head_dim, layer.q_norm));
    ADJUDGE_RETURN_IF_ERROR(loader.Vector(prefix + "attn_k_norm.weight", c.head_dim, layer.k_norm));
  }
  return {};
}

Status LoadFeedForward(WeightLoader& loader, const ModelConfig& c, const std::string& prefix,
                       LayerWeights& layer) {
  std::array<TensorView, 2> views;
  ADJUDGE_ASSIGN_OR_RETURN(views[0], loader.View(prefix + "ffn_gate.weight", c.hidden_dim, c.dim));
  ADJUDGE_ASSIGN_OR_RETURN(views[1], loader.View(prefix + "ffn_up.weight", c.hidden_dim, c.dim));
  if (views[0].type == views[1].type) {
    ADJUDGE_RETURN_IF_ERROR(loader.Pack(views, prefix + "ffn_gate.weight", layer.gate_up));
  } else {
    const std::span<const TensorView> all(views);
    ADJUDGE_RETURN_IF_ERROR(loader.Pack(all.subspan(0, 1), prefix + "ffn_gate.weight", layer.gate));
    ADJUDGE_RETURN_IF_ERROR(loader.Pack(all.subspan(1, 1), prefix + "ffn_up.weight", layer.up));
  }
  return loader.Matrix(prefix + "ffn_down.weight", c.dim, c.hidden_dim, layer.down);
}

Status LoadLayer(WeightLoader& loader, const ModelConfig& c, int index, LayerWeights& layer) {
  const std::string prefix = "blk." + std::to_string(index) + ".";
  ADJUDGE_RETURN_IF_ERROR(loader.Vector(prefix + "attn_norm.weight", c.dim, layer.attn_norm));
  ADJUDGE_RETURN_IF_ERROR(LoadQkv(loader, c, prefix, layer));
  ADJUDGE_RETURN_IF_ERROR(
      loader.Matrix(prefix + "attn_output.weight", c.dim, c.q_dim(), layer.attn_out));
  ADJUDGE_RETURN_IF_ERROR(loader.Vector(prefix + "ffn_norm.weight", c.dim, layer.ffn_norm));
  if (c.post_norms) {
    ADJUDGE_RETURN_IF_ERROR(
        loader.Vector(prefix + "post_attention_norm.weight", c.dim, layer.post_attn_norm));
    ADJUDGE_RETURN_IF_ERROR(
        loader.Vector(prefix + "post_ffw_norm.weight", c.dim, layer.post_ffn_norm));
  }
  return LoadFeedForward(loader, c, prefix, layer);
}

}  // namespace

Result<TransformerWeights> LoadTransformerWeights(const ModelFile& file, Backend& backend) {
  const ModelConfig& c = file.config();
  WeightLoader loader(file, backend);
  TransformerWeights weights;
  ADJUDGE_RETURN_IF_ERROR(
      loader.Matrix("token_embd.weight", c.vocab_size, c.dim, weights.embedding));
  if (c.tied_output) {
    loader.MarkUsed("output.weight");  // some files repeat the embedding
  } else {
    ADJUDGE_RETURN_IF_ERROR(
        loader.Matrix("output.weight", c.vocab_size, c.dim, weights.separate_output));
  }
  ADJUDGE_RETURN_IF_ERROR(loader.Vector("output_norm.weight", c.dim, weights.final_norm));
  weights.layers.resize(static_cast<std::size_t>(c.n_layers));
  for (int i = 0; i < c.n_layers; ++i) {
    ADJUDGE_RETURN_IF_ERROR(LoadLayer(loader, c, i, weights.layers[static_cast<std::size_t>(i)]));
  }
  ADJUDGE_RETURN_IF_ERROR(loader.CheckNothingIsLeft());
  weights.bytes = loader.bytes();
  return weights;
}

}  // namespace adjudge
