#include "engine/model/rope_frequencies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/check.h"

namespace adjudge {
namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;

// Long waves are divided by the factor, short ones kept, those between blended.
void ScaleLlama3(const RopeScaling& scaling, std::vector<double>& inverse) {
  for (double& frequency : inverse) {
    const double turns = scaling.original_context * frequency / kTwoPi;  // over the trained context
    if (turns > scaling.high_freq_factor) continue;
    if (turns < scaling.low_freq_factor) {
      frequency /= scaling.factor;
      continue;
    }
    const double keep =
        (turns - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
    frequency = (1 - keep) * frequency / scaling.factor + keep * frequency;
  }
}

// The pair that turns `turns` times over the trained context.
double PairOfTurns(double turns, const RopeConfig& config, int rope_dim) {
  return rope_dim * std::log(config.scaling.original_context / (turns * kTwoPi)) /
         (2 * std::log(config.base));
}

void ScaleYarn(const RopeConfig& config, int rope_dim, std::vector<double>& inverse) {
  const RopeScaling& scaling = config.scaling;
  const double low = std::max(std::floor(PairOfTurns(scaling.beta_fast, config, rope_dim)), 0.0);
  const double high =
      std::min(std::ceil(PairOfTurns(scaling.beta_slow, config, rope_dim)), rope_dim - 1.0);
  const double width = high - low > 0.001 ? high - low : 0.001;
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    const double divided = std::clamp((static_cast<double>(i) - low) / width, 0.0, 1.0);
    inverse[i] = inverse[i] / scaling.factor * divided + inverse[i] * (1 - divided);
  }
}

double YarnAttentionFactor(const RopeScaling& scaling) {
  if (scaling.attention_factor != 0) return scaling.attention_factor;
  return scaling.factor > 1 ? 0.1 * std::log(scaling.factor) + 1 : 1.0;
}

}  // namespace

RopeFrequencies::RopeFrequencies(const RopeConfig& config, int rope_dim)
    : inverse_(static_cast<std::size_t>(rope_dim / 2)) {
  ADJUDGE_CHECK(config.freq_factors.empty() || config.freq_factors.size() == inverse_.size());
  for (std::size_t i = 0; i < inverse_.size(); ++i) {
    inverse_[i] = std::pow(config.base, -2.0 * static_cast<double>(i) / rope_dim);
    if (!config.freq_factors.empty()) inverse_[i] /= static_cast<double>(config.freq_factors[i]);
  }
  switch (config.scaling.kind) {
    case RopeScalingKind::kNone:
      break;
    case RopeScalingKind::kLinear:
      for (double& frequency : inverse_) frequency /= config.scaling.factor;
      break;
    case RopeScalingKind::kLlama3:
      ScaleLlama3(config.scaling, inverse_);
      break;
    case RopeScalingKind::kYarn:
      ScaleYarn(config, rope_dim, inverse_);
      attention_factor_ = YarnAttentionFactor(config.scaling);
      break;
  }
}

void RopeFrequencies::Fill(std::span<const int> positions, std::span<float> cos,
                           std::span<float> sin) const {
  std::size_t at = 0;
  for (const int position : positions) {
    for (const double frequency : inverse_) {
      const double angle = position * frequency;
      cos[at] = static_cast<float>(std::cos(angle) * attention_factor_);
      sin[at] = static_cast<float>(std::sin(angle) * attention_factor_);
      ++at;
    }
  }
}

}  // namespace adjudge
