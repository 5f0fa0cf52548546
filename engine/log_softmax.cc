#include "engine/log_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/check.h"
#include "engine/model/allowed_ids.h"

namespace adjudge {

double LogSumExp(std::span<const float> logits) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  if (logits.empty()) return kNone;
  const double max = *std::max_element(logits.begin(), logits.end());
  if (max == kNone) return kNone;
  double sum = 0;
  for (const float x : logits) sum += std::exp(x - max);
  return max + std::log(sum);
}

double LogProb(std::span<const float> logits, TokenId id) {
  ADJUDGE_CHECK(id >= 0 && static_cast<std::size_t>(id) < logits.size());
  return logits[static_cast<std::size_t>(id)] - LogSumExp(logits);
}

Status CheckFinite(std::span<const float> logits, const std::string& place) {
  bool good = true;
  bool any = false;
  for (const float logit : logits) {
    good = good && !(std::isnan(logit) || logit == std::numeric_limits<float>::infinity());
    any = any || std::isfinite(logit);
  }
  if (good && (any || logits.empty())) return {};
  return Fail(ErrorCode::kNotFinite, "the model gave a logit that is not finite", place);
}

TokenId BestToken(std::span<const float> logits, const TokenMask* mask) {
  TokenId best = kNoToken;
  float best_logit = -std::numeric_limits<float>::infinity();
  ForEachAllowed(logits.size(), mask, [&](std::size_t id) {
    if (logits[id] <= best_logit) return;
    best_logit = logits[id];
    best = static_cast<TokenId>(id);
  });
  return best;
}

std::vector<std::pair<TokenId, double>> BestLogProbs(std::span<const float> logits, int n,
                                                     const TokenMask* mask) {
  std::vector<TokenId> ids;
  ForEachAllowed(logits.size(), mask,
                 [&](std::size_t id) { ids.push_back(static_cast<TokenId>(id)); });
  const auto ahead = [&](TokenId a, TokenId b) {
    const float x = logits[static_cast<std::size_t>(a)];
    const float y = logits[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  };
  const auto kept = std::min(ids.size(), static_cast<std::size_t>(std::max(n, 0)));
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(kept), ids.end(), ahead);
  ids.resize(kept);
  const double log_sum = kept == 0 ? 0.0 : LogSumExp(logits);
  std::vector<std::pair<TokenId, double>> best;
  best.reserve(ids.size());
  for (TokenId id : ids) best.emplace_back(id, logits[static_cast<std::size_t>(id)] - log_sum);
  return best;
}

}  // namespace adjudge
