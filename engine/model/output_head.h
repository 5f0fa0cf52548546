// OutputHead: from the residual stream of wanted rows to what each entry asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/backend.h"
#include "engine/batch.h"
#include "engine/model/batch_plan.h"
#include "engine/model/transformer_weights.h"
#include "engine/model_config.h"

namespace adjudge {

// The final norm, the output matrix and the log-sum-exp, for wanted rows alone. Rows that ask for a
// few ids alone are multiplied by those rows of the matrix alone. Logits are worked on kLogitsBytes
// at a time (at least one row).
class OutputHead {
 public:
  static constexpr std::int64_t kLogitsBytes = 32 << 20;

  OutputHead(const ModelConfig& config, const TransformerWeights& weights, Backend& backend);

  // x: [wanted.size(), dim], the rows `wanted` of the batch; normed: scratch of the same shape.
  void Run(const Batch& batch, std::span<const WantedRow> wanted, const float* x, float* normed,
           ForwardOutput& output);

 private:
  void WholeRows(const Batch& batch, std::span<const WantedRow> wanted, std::span<const int> rows,
                 const float* normed, ForwardOutput& output);
  void ChosenIds(std::span<const WantedRow> wanted, std::span<const int> rows,
                 std::span<const TokenId> ids, const float* normed, ForwardOutput& output);
  float* Reserve(std::unique_ptr<Buffer>& buffer, std::int64_t n);

  const ModelConfig& config_;
  const TransformerWeights& weights_;
  Backend& backend_;
  std::unique_ptr<Buffer> gathered_, logits_;
};

}  // namespace adjudge
