#include "engine/model/forward_pass.h"

#include <algorithm>
#include <utility>

namespace adjudge {
namespace {

std::size_t At(std::int64_t row, std::int64_t width) {
  return static_cast<std::size_t>(row * width);
}

// The outputs at their full size, zeroed.
ForwardOutput MakeOutput(const Batch& batch, const ModelConfig& config) {
  ForwardOutput output;
  for (const Batch::Entry& entry : batch.entries()) {
    const Wants& wants = entry.wants;
    const std::size_t n = wants.rows.size();
    const auto dim = static_cast<std::size_t>(config.dim);
    EntryOutput& out = output.entries.emplace_back();
    out.n_rows = static_cast<int>(n);
    if (wants.logits) out.logits.resize(n * static_cast<std::size_t>(config.vocab_size));
    out.logit_ids.resize(n * wants.logit_ids.size());
    if (wants.log_sum_exp) out.log_sum_exp.resize(n);
    if (wants.hidden) out.hidden.resize(n * dim);
    out.hidden_layers.resize(wants.hidden_layers.size() * n * dim);
  }
  return output;
}

struct Angles {
  std::vector<float> cos, sin;
  RopeTable table() const { return {cos, sin}; }
};

Angles MakeAngles(const RopeFrequencies& frequencies, std::span<const int> positions) {
  Angles angles;
  angles.cos.resize(At(static_cast<std::int64_t>(positions.size()), frequencies.n_pairs()));
  angles.sin.resize(angles.cos.size());
  frequencies.Fill(positions, angles.cos, angles.sin);
  return angles;
}

bool AnyWindow(const ModelConfig& config) {
  return std::any_of(config.layer_window.begin(), config.layer_window.end(),
                     [](int window) { return window > 0; });
}

}  // namespace

struct ForwardPass::Chunk {
  const Batch& batch;
  const BatchPlan& plan;
  int first = 0;
  int n = 0;
  std::span<const WantedRow> wanted;  // of the chunk's rows
  Angles angles, angles_local;
  bool only_wanted = false;  // the rows in work are the wanted ones
  Scratch x = kX;            // where the residual stream lies
  Scratch q = kQ;

  int rows() const { return only_wanted ? static_cast<int>(wanted.size()) : n; }
  // Where wanted row i lies among the rows in work.
  int row_of(std::size_t i) const {
    return only_wanted ? static_cast<int>(i) : wanted[i].row - first;
  }
};

ForwardPass::ForwardPass(const ModelConfig& config, const TransformerWeights& weights,
                         Backend& backend)
    : config_(config),
      weights_(weights),
      backend_(backend),
      rope_(config.rope, config.rope_dim),
      rope_local_(AnyWindow(config) ? RopeFrequencies(config.rope_local, config.rope_dim)
                                    : RopeFrequencies()),
      head_(config, weights, backend) {
  const std::int64_t floats_a_row =
      std::int64_t{4} * config.dim + std::int64_t{3} * config.q_dim() +
      std::int64_t{6} * config.kv_dim() + std::int64_t{5} * config.hidden_dim;
  chunk_rows_ = static_cast<int>(std::clamp<std::int64_t>(
      kScratchBytes / (floats_a_row * std::int64_t{sizeof(float)}), kMinChunkRows, kMaxChunkRows));
}

void ForwardPass::ReserveScratch(int rows) {
  if (rows <= reserved_rows_) return;
  // To the next power of two, so that growing prompts do not reallocate every time.
  int reserved = 1;
  while (reserved < rows) reserved *= 2;
  reserved = std::min(reserved, chunk_rows_);
  const std::int64_t qkv = config_.q_dim() + std::int64_t{2} * config_.kv_dim();
  const std::int64_t hidden = config_.hidden_dim;
  const std::array<std::int64_t, kScratchCount> widths = {
      config_.dim,      config_.dim,     config_.dim, qkv,        qkv,        config_.kv_dim(),
      config_.kv_dim(), config_.q_dim(), config_.dim, 2 * hidden, 2 * hidden, hidden};
  reserved_rows_ = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    scratch_[i].reset();
    scratch_[i] = backend_.NewBuffer(widths[i] * reserved);
  }
  reserved_rows_ = reserved;
}

std::optional<ForwardOutput> ForwardPass::Run(const Batch& batch, const BatchPlan& plan,
                                              int n_layers) {
  ForwardOutput output = MakeOutput(batch, config_);
  ReserveScratch(std::min(plan.n_rows(), chunk_rows_));
  auto wanted = plan.wanted.begin();
  for (int first = 0; first < plan.n_rows(); first += chunk_rows_) {
    const int n = std::min(chunk_rows_, plan.n_rows() - first);
    auto wanted_end = wanted;
    while (wanted_end != plan.wanted.end() && wanted_end->row < first + n) ++wanted_end;
    Chunk chunk{batch, plan, first, n, std::span(wanted, wanted_end), {}, {}};
    wanted = wanted_end;
    if (!RunChunk(chunk, n_layers, output)) return std::nullopt;
  }
  return output;
}

bool ForwardPass::RunChunk(Chunk& chunk, int n_layers, ForwardOutput& output) {
  const auto first = static_cast<std::size_t>(chunk.first);
  const auto n = static_cast<std::size_t>(chunk.n);
  const auto positions = std::span(chunk.plan.positions).subspan(first, n);
  chunk.angles = MakeAngles(rope_, positions);
  if (rope_local_.n_pairs() > 0) chunk.angles_local = MakeAngles(rope_local_, positions);
  backend_.Embed(*weights_.embedding, std::span(chunk.plan.tokens).subspan(first, n),
                 static_cast<float>(config_.embedding_scale), scratch(chunk.x));
  for (int layer = 0; layer < n_layers; ++layer) {
    if (chunk.batch.cancelled()) return false;
    RunLayer(chunk, layer, layer + 1 == n_layers);
    if (chunk.rows() == 0)
      return true;  // nothing is wanted of these rows but their keys and values
    CopyHiddenLayer(chunk, layer, output);
  }
  if (n_layers < config_.n_layers || chunk.batch.stop_after_layers()) return true;
  head_.Run(chunk.batch, chunk.wanted, scratch(chunk.x), scratch(kNormed), output);
  return true;
}

void ForwardPass::RunLayer(Chunk& chunk, int index, bool is_last) {
  const LayerWeights& layer = weights_.layers[static_cast<std::size_t>(index)];
  const float eps = static_cast<float>(config_.norm_eps);
  backend_.RmsNorm(scratch(chunk.x), layer.attn_norm, eps, chunk.n, scratch(kNormed));
  ProjectQkv(chunk, layer);
  RotateQk(chunk, index);
  const bool fused = layer.qkv != nullptr;
  const int stride = fused ? config_.q_dim() + 2 * config_.kv_dim() : config_.kv_dim();
  const float* k = fused ? scratch(kQ) + config_.q_dim() : scratch(kK);
  const float* v = fused ? k + config_.kv_dim() : scratch(kV);
  backend_.WriteKv(
      index, k, v, chunk.n, stride, config_.kv_dim(),
      std::span(chunk.plan.cells)
          .subspan(static_cast<std::size_t>(chunk.first), static_cast<std::size_t>(chunk.n)));

  const int q_stride = fused ? stride : config_.q_dim();
  const std::vector<AttentionRow>& all =
      chunk.plan.rows_of_window(config_.layer_window[static_cast<std::size_t>(index)]);
  std::span<const AttentionRow> rows = std::span(all).subspan(static_cast<std::size_t>(chunk.first),
                                                              static_cast<std::size_t>(chunk.n));
  std::vector<AttentionRow> wanted_rows;
  if (is_last) {
    KeepWantedRows(chunk, q_stride);
    if (chunk.rows() == 0) return;
    for (const WantedRow& row : chunk.wanted) {
      wanted_rows.push_back(all[static_cast<std::size_t>(row.row)]);
    }
    rows = wanted_rows;
  }
  const int n = chunk.rows();
  backend_.Attention(index, scratch(chunk.q), n, q_stride, config_.n_heads, config_.n_kv_heads,
                     config_.head_dim, static_cast<float>(config_.attention_scale), rows,
                     scratch(kAttended));
  backend_.MatMul(*layer.attn_out, scratch(kAttended), n, {}, scratch(kProjected));
  if (config_.post_norms) {
    backend_.RmsNorm(scratch(kProjected), layer.post_attn_norm, eps, n, scratch(kProjected));
  }
  backend_.Add(scratch(chunk.x), scratch(kProjected), n, config_.dim);
  FeedForward(chunk, layer);
}

void ForwardPass::ProjectQkv(const Chunk& chunk, const LayerWeights& layer) {
  const float* x = scratch(kNormed);
  const std::span<const float> bias(layer.qkv_bias);
  if (layer.qkv != nullptr) {
    backend_.MatMul(*layer.qkv, x, chunk.n, bias, scratch(kQ));
    return;
  }
  const auto q_dim = static_cast<std::size_t>(config_.q_dim());
  const auto kv_dim = static_cast<std::size_t>(config_.kv_dim());
  const auto part = [&](std::size_t begin, std::size_t n) {
    return bias.empty() ? bias : bias.subspan(begin, n);
  };
  backend_.MatMul(*layer.q, x, chunk.n, part(0, q_dim), scratch(kQ));
  backend_.MatMul(*layer.k, x, chunk.n, part(q_dim, kv_dim), scratch(kK));
  backend_.MatMul(*layer.v, x, chunk.n, part(q_dim + kv_dim, kv_dim), scratch(kV));
  if (config_.qk_norm) {
    const float eps = static_cast<float>(config_.norm_eps);
    backend_.RmsNorm(scratch(kQ), layer.q_norm, eps, chunk.n * config_.n_heads, scratch(kQ));
    backend_.RmsNorm(scratch(kK), layer.k_norm, eps, chunk.n * config_.n_kv_heads, scratch(kK));
  }
}

void ForwardPass::RotateQk(const Chunk& chunk, int index) {
  const RopeTable table =
      config_.windowed(index) ? chunk.angles_local.table() : chunk.angles.table();
  const auto rotate = [&](Scratch x, int stride, int n_heads) {
    backend_.Rope(scratch(x), chunk.n, stride, n_heads, config_.head_dim, config_.rope_dim,
                  config_.rope_pairing, table);
  };
  if (weights_.layers[static_cast<std::size_t>(index)].qkv != nullptr) {
    // The heads of k follow those of q in each row.
    rotate(kQ, config_.q_dim() + 2 * config_.kv_dim(), config_.n_heads + config_.n_kv_heads);
  } else {
    rotate(kQ, config_.q_dim(), config_.n_heads);
    rotate(kK, config_.kv_dim(), config_.n_kv_heads);
  }
}

void ForwardPass::KeepWantedRows(Chunk& chunk, int q_stride) {
  chunk.only_wanted = true;
  if (static_cast<int>(chunk.wanted.size()) == chunk.n || chunk.wanted.empty()) return;
  std::vector<int> rows;
  for (const WantedRow& row : chunk.wanted) rows.push_back(row.row - chunk.first);
  backend_.GatherRows(scratch(kX), rows, config_.dim, scratch(kX2));
  backend_.GatherRows(scratch(kQ), rows, q_stride, scratch(kQ2));
  chunk.x = kX2;
  chunk.q = kQ2;
}

void ForwardPass::FeedForward(const Chunk& chunk, const LayerWeights& layer) {
  const int n = chunk.rows();
  const float eps = static_cast<float>(config_.norm_eps);
  backend_.RmsNorm(scratch(chunk.x), layer.ffn_norm, eps, n, scratch(kNormed));
  GateAndUp(chunk, layer);
  backend_.GatedActivation(scratch(kGateUp), config_.activation, n, config_.hidden_dim,
                           scratch(kActive));
  backend_.MatMul(*layer.down, scratch(kActive), n, {}, scratch(kProjected));
  if (config_.post_norms) {
    backend_.RmsNorm(scratch(kProjected), layer.post_ffn_norm, eps, n, scratch(kProjected));
  }
  backend_.Add(scratch(chunk.x), scratch(kProjected), n, config_.dim);
}

void ForwardPass::GateAndUp(const Chunk& chunk, const LayerWeights& layer) {
  const int n = chunk.rows();
  const float* x = scratch(kNormed);
  if (layer.gate_up != nullptr) {
    backend_.MatMul(*layer.gate_up, x, n, {}, scratch(kGateUp));
    return;
  }
  // All gates, then all ups; then side by side, as the activation wants them.
  backend_.MatMul(*layer.gate, x, n, {}, scratch(kHidden));
  backend_.MatMul(*layer.up, x, n, {}, scratch(kHidden) + At(n, config_.hidden_dim));
  std::vector<int> rows;
  for (int i = 0; i < n; ++i) {
    rows.push_back(i);
    rows.push_back(n + i);
  }
  backend_.GatherRows(scratch(kHidden), rows, config_.hidden_dim, scratch(kGateUp));
}

void ForwardPass::CopyHiddenLayer(const Chunk& chunk, int layer, ForwardOutput& output) {
  const auto dim = static_cast<std::size_t>(config_.dim);
  for (std::size_t i = 0; i < chunk.wanted.size(); ++i) {
    const WantedRow& row = chunk.wanted[i];
    const Wants& wants = chunk.batch.entries()[static_cast<std::size_t>(row.entry)].wants;
    EntryOutput& entry = output.entries[static_cast<std::size_t>(row.entry)];
    for (std::size_t h = 0; h < wants.hidden_layers.size(); ++h) {
      if (wants.hidden_layers[h] != layer) continue;
      const float* from = scratch(chunk.x) + At(chunk.row_of(i), config_.dim);
      const std::size_t to = (h * wants.rows.size() + static_cast<std::size_t>(row.index)) * dim;
      std::copy_n(from, dim, entry.hidden_layers.begin() + static_cast<std::ptrdiff_t>(to));
    }
  }
}

}  // namespace adjudge
