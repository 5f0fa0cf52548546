#include "tests/testing/toy_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/model/batch_plan.h"
#include "engine/model/create_backend.h"
#include "engine/model/kv_cache_impl.h"

namespace adjudge::testing {
namespace {

class ToyModel final : public Model {
 public:
  ToyModel(const ModelConfig& config, std::shared_ptr<Backend> backend, ToyLogits logits)
      : config_(config), backend_(std::move(backend)), logits_(std::move(logits)) {}

  const ModelConfig& config() const override { return config_; }
  std::string_view backend_name() const override { return "toy"; }
  std::int64_t weight_bytes() const override { return 0; }

  Result<std::shared_ptr<KvCache>> NewCache(const KvCacheOptions& options) const override {
    return KvCacheImpl::Create(backend_,
                               {.n_layers = config_.n_layers,
                                .kv_dim = config_.kv_dim(),
                                .vocab_size = config_.vocab_size,
                                .context_length = config_.context_length},
                               options);
  }

  Result<ForwardOutput> Forward(Batch& batch) const override {
    ADJUDGE_RETURN_IF_ERROR(CheckBatch(batch, config_, backend_.get()));
    ForwardOutput output;
    for (const Batch::Entry& entry : batch.entries()) output.entries.push_back(Run(entry));
    CommitBatch(batch, config_.n_layers);
    return output;
  }

 private:
  EntryOutput Run(const Batch::Entry& entry) const {
    EntryOutput out{.n_rows = static_cast<int>(entry.wants.rows.size())};
    for (const int row : entry.wants.rows) {
      std::vector<TokenId> visible;
      entry.state->ForEachCell(0, entry.begin + row + 1, [&](const CacheBlock& block, int cell) {
        visible.push_back(block.tokens[static_cast<std::size_t>(cell)]);
      });
      const std::vector<float> logits = logits_(visible);
      if (entry.wants.logits) out.logits.insert(out.logits.end(), logits.begin(), logits.end());
      for (const TokenId id : entry.wants.logit_ids) {
        out.logit_ids.push_back(logits[static_cast<std::size_t>(id)]);
      }
      double sum = 0;
      for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
      if (entry.wants.log_sum_exp) out.log_sum_exp.push_back(std::log(sum));
    }
    return out;
  }

  ModelConfig config_;
  std::shared_ptr<Backend> backend_;
  ToyLogits logits_;
};

}  // namespace

std::shared_ptr<const Model> MakeToyModel(int vocab_size, int context_length, ToyLogits logits) {
  ModelConfig config{.architecture = "llama",
                     .n_layers = 1,
                     .dim = 8,
                     .n_heads = 1,
                     .n_kv_heads = 1,
                     .head_dim = 8,
                     .hidden_dim = 8,
                     .vocab_size = vocab_size,
                     .context_length = context_length};
  config.layer_window = {0};
  std::unique_ptr<Backend> backend = std::move(CreateBackend(BackendKind::kReference, 1).value());
  return std::make_shared<ToyModel>(config, std::move(backend), std::move(logits));
}

}  // namespace adjudge::testing
