// ScriptedModel: a Model whose logits a function gives, over the real sequences and cache.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/backend.h"
#include "engine/model.h"

namespace adjudge::testing {

// Counts its passes. `script` gets every token that the row sees and returns vocab_size logits.
class ScriptedModel final : public Model {
 public:
  using Script = std::function<std::vector<float>(std::span<const TokenId>)>;

  ScriptedModel(int vocab_size, int context_length, Script script);

  // Predicts tokens[i] after i new tokens behind a prompt of n_prompt tokens, with logit 10 against
  // 0, and `after` from there on.
  static Script Fixed(int vocab_size, int n_prompt, std::vector<TokenId> tokens, TokenId after);

  const ModelConfig& config() const override { return config_; }
  std::string_view backend_name() const override { return "scripted"; }
  std::int64_t weight_bytes() const override { return 0; }
  Result<std::shared_ptr<KvCache>> NewCache(const KvCacheOptions& options = {}) const override;
  Result<ForwardOutput> Forward(Batch& batch) const override;

  struct Pass {
    int n_entries = 0;
    int n_tokens = 0;
    int n_rows = 0;  // of logits
  };
  const std::vector<Pass>& passes() const { return passes_; }

 private:
  ModelConfig config_;
  std::shared_ptr<Backend> backend_;
  Script script_;
  mutable std::vector<Pass> passes_;
};

}  // namespace adjudge::testing
