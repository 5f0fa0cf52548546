#include "engine/model/transformer.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "engine/model/batch_plan.h"
#include "engine/model/forward_pass.h"
#include "engine/model/kv_cache_impl.h"
#include "engine/model/transformer_weights.h"

namespace adjudge {
namespace {

class Transformer final : public Model {
 public:
  Transformer(ModelConfig config, std::shared_ptr<Backend> backend, TransformerWeights weights)
      : config_(std::move(config)),
        backend_(std::move(backend)),
        weights_(std::move(weights)),
        pass_(config_, weights_, *backend_) {}

  const ModelConfig& config() const override { return config_; }
  std::string_view backend_name() const override { return backend_->name(); }
  std::int64_t weight_bytes() const override { return weights_.bytes; }
  int n_threads() const override { return backend_->n_threads(); }

  Result<std::shared_ptr<KvCache>> NewCache(const KvCacheOptions& options) const override {
    const CacheShape shape{config_.n_layers, config_.kv_dim(), config_.vocab_size,
                           config_.context_length};
    return KvCacheImpl::Create(backend_, shape, options);
  }

  Result<ForwardOutput> Forward(Batch& batch) const override {
    try {
      ADJUDGE_RETURN_IF_ERROR(CheckBatch(batch, config_, backend_.get()));
      const BatchPlan plan = PlanBatch(batch, config_);
      const std::lock_guard lock(mutex_);
      const int n_layers = batch.stop_after_layers().value_or(config_.n_layers);
      std::optional<ForwardOutput> output = pass_.Run(batch, plan, n_layers);
      if (!output) return Fail(ErrorCode::kCancelled, "the pass was cancelled", "forward");
      CommitBatch(batch, n_layers);
      return std::move(*output);
    } catch (const std::bad_alloc&) {
      return Fail(ErrorCode::kLimit,
                  "no memory for a pass of " + std::to_string(batch.n_tokens()) +
                      " tokens and what is wanted of them",
                  "forward");
    }
  }

 private:
  ModelConfig config_;
  std::shared_ptr<Backend> backend_;
  TransformerWeights weights_;
  mutable std::mutex mutex_;  // the backend and the pass's scratch serve one call at a time
  mutable ForwardPass pass_;
};

Status CheckRope(const RopeConfig& rope, int rope_dim) {
  const std::size_t pairs = static_cast<std::size_t>(rope_dim / 2);
  if (!rope.freq_factors.empty() && rope.freq_factors.size() != pairs) {
    return Fail(ErrorCode::kMalformed,
                "expected " + std::to_string(pairs) + " rope frequency factors, found " +
                    std::to_string(rope.freq_factors.size()),
                "rope_freqs.weight");
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const Model>> BuildTransformer(const ModelFile& file,
                                                      std::unique_ptr<Backend> backend) {
  const ModelConfig& config = file.config();
  ADJUDGE_RETURN_IF_ERROR(CheckRope(config.rope, config.rope_dim));
  ADJUDGE_RETURN_IF_ERROR(CheckRope(config.rope_local, config.rope_dim));
  try {
    ADJUDGE_ASSIGN_OR_RETURN(TransformerWeights weights, LoadTransformerWeights(file, *backend));
    file.ReleasePages();
    return std::make_shared<const Transformer>(config, std::move(backend), std::move(weights));
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kLimit, "no memory for the model's weights", "load");
  }
}

}  // namespace adjudge
