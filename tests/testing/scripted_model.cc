#include "tests/testing/scripted_model.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/model/batch_plan.h"
#include "engine/model/kv_cache_impl.h"
#include "engine/reference/reference_backend.h"
#include "engine/sequence.h"

namespace adjudge::testing {

ScriptedModel::ScriptedModel(int vocab_size, int context_length, Script script)
    : backend_(NewReferenceBackend(1)), script_(std::move(script)) {
  config_.architecture = "scripted";
  config_.n_layers = 1;
  config_.dim = config_.n_heads = config_.n_kv_heads = config_.head_dim = 1;
  config_.vocab_size = vocab_size;
  config_.context_length = context_length;
}

ScriptedModel::Script ScriptedModel::Fixed(int vocab_size, int n_prompt,
                                           std::vector<TokenId> tokens, TokenId after) {
  return [=](std::span<const TokenId> seen) {
    std::vector<float> logits(static_cast<std::size_t>(vocab_size), 0.0F);
    const std::size_t made = seen.size() - static_cast<std::size_t>(n_prompt);
    const TokenId next = made < tokens.size() ? tokens[made] : after;
    logits[static_cast<std::size_t>(next)] = 10.0F;
    return logits;
  };
}

Result<std::shared_ptr<KvCache>> ScriptedModel::NewCache(const KvCacheOptions& options) const {
  const CacheShape shape{config_.n_layers, config_.kv_dim(), config_.vocab_size,
                         config_.context_length};
  return KvCacheImpl::Create(backend_, shape, options);
}

Result<ForwardOutput> ScriptedModel::Forward(Batch& batch) const {
  ADJUDGE_RETURN_IF_ERROR(CheckBatch(batch, config_, backend_.get()));
  ForwardOutput output;
  Pass pass{batch.n_entries(), batch.n_tokens(), 0};
  for (const Batch::Entry& entry : batch.entries()) {
    const std::vector<TokenId> tokens = Sequence(entry.state).tokens();
    EntryOutput out;
    out.n_rows = static_cast<int>(entry.wants.rows.size());
    for (const int row : entry.wants.rows) {
      if (!entry.wants.logits) continue;
      const std::vector<float> logits =
          script_(std::span(tokens).first(static_cast<std::size_t>(entry.begin + row + 1)));
      ADJUDGE_CHECK(static_cast<int>(logits.size()) == config_.vocab_size);
      out.logits.insert(out.logits.end(), logits.begin(), logits.end());
      ++pass.n_rows;
    }
    output.entries.push_back(std::move(out));
  }
  CommitBatch(batch, config_.n_layers);
  passes_.push_back(pass);
  return output;
}

}  // namespace adjudge::testing
