#include <cmath>
#include <cstring>
#include <utility>

#include "engine/model/config_checks.h"
#include "engine/model/config_reader.h"
#include "engine/model/model_readers.h"
#include "engine/model/model_tensors.h"
#include "engine/model/weight_table.h"

namespace adjudge {
namespace {

constexpr std::size_t kHeaderBytes = 7 * sizeof(std::int32_t);

// The fields in the header's order, by the names that errors use.
Result<ModelConfig> ReadHeader(const MappedFile& file) {
  if (file.size() < kHeaderBytes) {
    return Fail(ErrorCode::kMalformed,
                "expected a header of " + std::to_string(kHeaderBytes) +
                    " bytes, found a file of size " + std::to_string(file.size()),
                "byte offset 0");
  }
  std::int32_t header[7];
  std::memcpy(header, file.data(), sizeof header);
  const ModelConfigLimits limits;
  ModelConfig config;
  ADJUDGE_ASSIGN_OR_RETURN(config.dim, CheckedSize("header dim", header[0], limits.max_dim));
  ADJUDGE_ASSIGN_OR_RETURN(config.hidden_dim,
                           CheckedSize("header hidden_dim", header[1], limits.max_hidden_dim));
  ADJUDGE_ASSIGN_OR_RETURN(config.n_layers,
                           CheckedSize("header n_layers", header[2], limits.max_layers));
  ADJUDGE_ASSIGN_OR_RETURN(config.n_heads,
                           CheckedSize("header n_heads", header[3], limits.max_heads));
  ADJUDGE_ASSIGN_OR_RETURN(config.n_kv_heads,
                           CheckedSize("header n_kv_heads", header[4], limits.max_heads));
  config.tied_output = header[5] > 0;
  ADJUDGE_ASSIGN_OR_RETURN(
      config.vocab_size,
      CheckedSize("header vocab_size", std::abs(std::int64_t{header[5]}), limits.max_vocab_size));
  ADJUDGE_ASSIGN_OR_RETURN(config.context_length,
                           CheckedSize("header seq_len", header[6], limits.max_context_length));
  if (config.dim % config.n_heads != 0) {
    return Fail(ErrorCode::kMalformed,
                "expected a divisor of dim " + std::to_string(config.dim) + ", found " +
                    std::to_string(config.n_heads),
                "header n_heads");
  }
  config.head_dim = config.dim / config.n_heads;
  return config;
}

// What the layout fixes.
void Complete(ModelConfig& config) {
  config.architecture = "llama";
  config.norm_eps = 1e-5;
  config.activation = Activation::kSilu;
  config.attention_scale = 1.0 / std::sqrt(static_cast<double>(config.head_dim));
  config.rope_pairing = RopePairing::kInterleaved;
  config.rope_dim = config.head_dim;
  config.layer_window.assign(static_cast<std::size_t>(config.n_layers), 0);
}

// Where one kind of tensor of all layers begins, in the file's order.
struct Kind {
  std::string_view name;  // "blk.N." + name, or the name itself
  std::int64_t rows;      // 0: a vector of cols elements
  std::int64_t cols;
  bool per_layer;
};

std::vector<Kind> Kinds(const ModelConfig& config) {
  const std::int64_t dim = config.dim;
  const std::int64_t hidden = config.hidden_dim;
  const std::int64_t angles = std::int64_t{config.context_length} * (config.head_dim / 2);
  std::vector<Kind> kinds = {
      {"token_embd.weight", config.vocab_size, dim, false},
      {"attn_norm.weight", 0, dim, true},
      {"attn_q.weight", config.q_dim(), dim, true},
      {"attn_k.weight", config.kv_dim(), dim, true},
      {"attn_v.weight", config.kv_dim(), dim, true},
      {"attn_output.weight", dim, config.q_dim(), true},
      {"ffn_norm.weight", 0, dim, true},
      {"ffn_gate.weight", hidden, dim, true},
      {"ffn_down.weight", dim, hidden, true},
      {"ffn_up.weight", hidden, dim, true},
      {"output_norm.weight", 0, dim, false},
      // Tables of cos and sin that nothing reads any more.
      {"", 0, 2 * angles, false},
  };
  if (!config.tied_output) kinds.push_back({"output.weight", config.vocab_size, dim, false});
  return kinds;
}

std::int64_t BytesOf(const Kind& kind) {
  return std::max<std::int64_t>(kind.rows, 1) * kind.cols * std::int64_t{sizeof(float)};
}

TensorInfo InfoOf(const Kind& kind, int layer) {
  TensorInfo info;
  if (kind.per_layer) info.name = "blk." + std::to_string(layer) + ".";
  info.name += kind.name;
  info.file_name = info.name;
  info.type = TensorType::kF32;
  if (kind.rows > 0) info.shape.push_back(kind.rows);
  info.shape.push_back(kind.cols);
  info.bytes = BytesOf(kind);
  return info;
}

}  // namespace

Result<std::unique_ptr<ModelFile>> OpenLlama2cModel(std::shared_ptr<const MappedFile> file,
                                                    std::string name) {
  ADJUDGE_ASSIGN_OR_RETURN(ModelConfig config, ReadHeader(*file));
  Complete(config);
  config.name = std::move(name);
  ADJUDGE_RETURN_IF_ERROR(CheckConfig(config, {.n_heads = "header n_heads",
                                               .n_kv_heads = "header n_kv_heads",
                                               .head_dim = "header dim / n_heads",
                                               .rope_dim = "header dim / n_heads"}));
  // No overflow: the limits keep each product of three sizes under 2^60.
  std::int64_t needed = kHeaderBytes;
  const std::vector<Kind> kinds = Kinds(config);
  for (const Kind& kind : kinds) needed += BytesOf(kind) * (kind.per_layer ? config.n_layers : 1);
  if (static_cast<std::int64_t>(file->size()) != needed) {
    return Fail(ErrorCode::kMalformed, "expected a file of " + std::to_string(needed) +
                                           " bytes for the header's sizes, found a file size of " +
                                           std::to_string(file->size()));
  }
  const int n_layers = config.n_layers;
  const std::byte* at = file->data() + kHeaderBytes;
  auto table = std::make_unique<WeightTable>("llama2.c", std::move(config),
                                             std::vector<std::shared_ptr<const MappedFile>>{file});
  for (const Kind& kind : kinds) {
    for (int layer = 0; layer < (kind.per_layer ? n_layers : 1); ++layer, at += BytesOf(kind)) {
      if (!kind.name.empty()) table->Add(InfoOf(kind, layer), at);
    }
  }
  ADJUDGE_RETURN_IF_ERROR(table->Check());
  return table;
}

}  // namespace adjudge
