#include "heads/decision_session.h"

#include <utility>

namespace adjudge {

DecisionSession::DecisionSession(std::shared_ptr<const Model> model, std::shared_ptr<KvCache> cache)
    : model_(std::move(model)), cache_(std::move(cache)), kept_(cache_->NewSequence()) {}

Result<DecisionSession> DecisionSession::Make(std::shared_ptr<const Model> model,
                                              const KvCacheOptions& options) {
  ADJUDGE_ASSIGN_OR_RETURN(std::shared_ptr<KvCache> cache, model->NewCache(options));
  return DecisionSession(std::move(model), std::move(cache));
}

}  // namespace adjudge
