#include "tests/testing/sampler_twin.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace adjudge::testing {

SampleDistribution TwinDistribution(const SamplerOptions& options, std::span<const float> logits,
                                    const TokenMask* mask, std::span<const TokenId> prompt,
                                    std::span<const TokenId> text) {
  std::map<TokenId, int> seen;
  for (TokenId id : prompt) seen[id] += 0;
  for (TokenId id : text) seen[id] += 1;
  std::vector<std::pair<double, TokenId>> rows;  // (-logit, id): ascending order is falling logit
  for (TokenId id = 0; id < static_cast<TokenId>(logits.size()); ++id) {
    double logit = logits[static_cast<std::size_t>(id)];
    if (std::isinf(logit) || (mask != nullptr && (id >= mask->width() || !mask->test(id))))
      continue;
    for (const auto& [biased, bias] : options.logit_bias) {
      if (biased == id) logit = static_cast<float>(logit + bias);
    }
    if (const auto it = seen.find(id); it != seen.end()) {
      logit = logit > 0 ? logit / options.repetition_penalty : logit * options.repetition_penalty;
      if (it->second > 0) {
        logit -= options.presence_penalty + options.frequency_penalty * it->second;
      }
      logit = static_cast<float>(logit);
    }
    rows.emplace_back(-logit, id);
  }
  std::sort(rows.begin(), rows.end());
  if (options.temperature == 0) rows.resize(1);
  if (options.top_k > 0 && rows.size() > static_cast<std::size_t>(options.top_k)) {
    rows.resize(static_cast<std::size_t>(options.top_k));
  }
  std::vector<double> weights;
  double total = 0;
  for (const auto& [negative, id] : rows) {
    const double t = options.temperature == 0 ? 1.0 : options.temperature;
    weights.push_back(std::exp((rows[0].first - negative) / t));
    total += weights.back();
  }
  SampleDistribution kept;
  double before = 0;
  double kept_mass = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool in_p = i == 0 || before < options.top_p * total || options.top_p == 1;
    before += weights[i];
    if (!in_p || weights[i] < options.min_p || weights[i] == 0) continue;
    kept.ids.push_back(rows[i].second);
    kept.probabilities.push_back(weights[i]);
    kept_mass += weights[i];
  }
  for (double& p : kept.probabilities) p /= kept_mass;
  return kept;
}

}  // namespace adjudge::testing
