// Abstention: when an answer should not be acted upon.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "heads/answer.h"

namespace adjudge {

// Thresholds on named quantities; an answer below one of them abstains.
struct AbstainRule {
  std::optional<double> min_probability;  // of the chosen option
  std::optional<double> min_margin;
  std::optional<double> min_label_mass;

  bool any() const { return min_probability || min_margin || min_label_mass; }
};

// The probability from which acting is worth it: acting wins `gain` when right and loses
// `cost_wrong` when wrong, abstaining nothing, so act at p >= cost_wrong / (cost_wrong + gain).
// kInvalidArgument unless both are finite and positive.
Result<double> ProbabilityToAct(double cost_wrong, double gain);

// Why the answer abstains ("probability 0.41 < 0.6"), or nothing where it does not.
std::string AbstainReason(double probability, double margin, std::optional<double> label_mass,
                          const AbstainRule& rule);

// Split conformal prediction: sets that hold the right option with probability 1 - alpha over the
// items that the threshold was fitted on and new ones like them.
enum class ConformalKind {
  kLac,  // least ambiguous: options with p >= 1 - q
  kAps,  // adaptive: the largest options until their sum reaches q (without randomisation)
};
struct ConformalThreshold {
  ConformalKind kind = ConformalKind::kLac;
  double q = 1;
};

// q is the ceil((n + 1)(1 - alpha))-th smallest score of n items, 1 where that is more than n.
// probabilities [item][option], right [item]. kInvalidArgument for no items, lengths that differ,
// an index out of range, or alpha outside (0, 1).
Result<ConformalThreshold> FitConformal(ConformalKind kind,
                                        std::span<const std::vector<double>> probabilities,
                                        std::span<const int> right, double alpha);

// The options of the set, the likeliest first (of equals the first); never empty for kAps.
std::vector<int> PredictionSet(std::span<const double> probabilities,
                               const ConformalThreshold& threshold);

}  // namespace adjudge
