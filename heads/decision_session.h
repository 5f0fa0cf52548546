// DecisionSession: where decisions are computed, with the last state kept for the next questions.
#pragma once

#include <atomic>
#include <memory>

#include "engine/base/result.h"
#include "engine/kv_cache.h"
#include "engine/model.h"
#include "engine/sequence.h"

namespace adjudge {

// A model, a cache of its own, and the tokens of the last prompt's shared part, which are reused as
// far as the next one begins alike. What is kept changes no bit of an answer. Owned by one thread.
class DecisionSession {
 public:
  static Result<DecisionSession> Make(std::shared_ptr<const Model> model,
                                      const KvCacheOptions& options = {});

  const Model& model() const { return *model_; }
  KvCache& cache() { return *cache_; }
  // The kept sequence; read-outs cut it back and extend it.
  Sequence& kept() { return kept_; }
  // Every pass looks at the flag and, once it is set, ends the decision with kCancelled, after
  // which the session is as good as before. Not owned; null = never.
  void CancelWith(const std::atomic<bool>* flag) { cancel_ = flag; }
  const std::atomic<bool>* cancel() const { return cancel_; }
  // Forward passes that decisions have run here.
  int passes() const { return passes_; }
  void CountPass() { ++passes_; }
  // Lets go of what is kept.
  void Forget() { kept_ = cache_->NewSequence(); }

 private:
  DecisionSession(std::shared_ptr<const Model> model, std::shared_ptr<KvCache> cache);

  std::shared_ptr<const Model> model_;
  std::shared_ptr<KvCache> cache_;
  Sequence kept_;
  const std::atomic<bool>* cancel_ = nullptr;
  int passes_ = 0;
};

}  // namespace adjudge
