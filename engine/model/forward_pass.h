// ForwardPass: the arithmetic of one pass over a planned batch.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/backend.h"
#include "engine/batch.h"
#include "engine/model/batch_plan.h"
#include "engine/model/output_head.h"
#include "engine/model/rope_frequencies.h"
#include "engine/model/transformer_weights.h"
#include "engine/model_config.h"

namespace adjudge {

// Works through the rows of a batch in chunks, all layers of one chunk after the other, so that
// scratch stays under kScratchBytes (for very wide models: kMinChunkRows rows) whatever the batch:
// a row sees only rows before it, and the keys and values of a chunk are written before its
// attention at each layer, so chunking changes no bit. Keeps its scratch; used by one thread at a
// time.
class ForwardPass {
 public:
  static constexpr std::int64_t kScratchBytes = 64 << 20;
  static constexpr int kMinChunkRows = 32;
  static constexpr int kMaxChunkRows = 512;

  // All three outlive the pass.
  ForwardPass(const ModelConfig& config, const TransformerWeights& weights, Backend& backend);

  // Null when the batch was cancelled on the way.
  std::optional<ForwardOutput> Run(const Batch& batch, const BatchPlan& plan, int n_layers);

  int chunk_rows() const { return chunk_rows_; }

 private:
  // The rows in work: [first, first + n) of the plan, or, behind the last layer's keys and values,
  // those of them that are wanted.
  struct Chunk;
  enum Scratch {
    kX,
    kX2,
    kNormed,
    kQ,
    kQ2,
    kK,
    kV,
    kAttended,
    kProjected,
    kHidden,
    kGateUp,
    kActive,
    kScratchCount
  };

  void ReserveScratch(int rows);
  float* scratch(Scratch which) { return scratch_[which]->data(); }
  // False when the batch was cancelled before its last layer.
  bool RunChunk(Chunk& chunk, int n_layers, ForwardOutput& output);
  void RunLayer(Chunk& chunk, int layer, bool is_last);
  void ProjectQkv(const Chunk& chunk, const LayerWeights& layer);
  void RotateQk(const Chunk& chunk, int layer);
  void KeepWantedRows(Chunk& chunk, int q_stride);
  void FeedForward(const Chunk& chunk, const LayerWeights& layer);
  void GateAndUp(const Chunk& chunk, const LayerWeights& layer);
  void CopyHiddenLayer(const Chunk& chunk, int layer, ForwardOutput& output);

  const ModelConfig& config_;
  const TransformerWeights& weights_;
  Backend& backend_;
  RopeFrequencies rope_, rope_local_;
  OutputHead head_;
  int chunk_rows_ = 0;
  int reserved_rows_ = 0;
  std::array<std::unique_ptr<Buffer>, kScratchCount> scratch_;
};

}  // namespace adjudge
