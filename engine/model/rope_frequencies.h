// The rotary embedding's angles, for every scaling that adjudge knows.
#pragma once

#include <span>
#include <vector>

#include "engine/backend.h"
#include "engine/model_config.h"

namespace adjudge {

// The frequency of each pair after scaling; immutable. Angles are computed in double, so that far
// positions keep their precision.
class RopeFrequencies {
 public:
  RopeFrequencies() = default;
  RopeFrequencies(const RopeConfig& config, int rope_dim);

  int n_pairs() const { return static_cast<int>(inverse_.size()); }
  // Radians a position turns each pair by. [rope_dim / 2]
  std::span<const double> inverse() const { return inverse_; }
  double attention_factor() const { return attention_factor_; }

  // cos, sin: [positions.size(), rope_dim / 2]
  void Fill(std::span<const int> positions, std::span<float> cos, std::span<float> sin) const;

 private:
  std::vector<double> inverse_;
  double attention_factor_ = 1.0;
};

}  // namespace adjudge
