#include "heads/abstention.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace adjudge {
namespace {

std::vector<int> Likeliest(std::span<const double> probabilities) {
  std::vector<int> order(probabilities.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return probabilities[static_cast<std::size_t>(a)] > probabilities[static_cast<std::size_t>(b)];
  });
  return order;
}

double Score(ConformalKind kind, std::span<const double> probabilities, int right) {
  const double p = probabilities[static_cast<std::size_t>(right)];
  if (kind == ConformalKind::kLac) return 1 - p;
  double sum = 0;
  for (const int i : Likeliest(probabilities)) {
    sum += probabilities[static_cast<std::size_t>(i)];
    if (i == right) break;
  }
  return sum;
}

std::string Below(const char* what, double found, double least) {
  char words[96];
  std::snprintf(words, sizeof words, "%s %.4g < %.4g", what, found, least);
  return words;
}

}  // namespace

Result<double> ProbabilityToAct(double cost_wrong, double gain) {
  if (!std::isfinite(cost_wrong) || !std::isfinite(gain) || cost_wrong <= 0 || gain <= 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "expected a cost of being wrong and a gain of being right above 0");
  }
  return cost_wrong / (cost_wrong + gain);
}

std::string AbstainReason(double probability, double margin, std::optional<double> label_mass,
                          const AbstainRule& rule) {
  if (rule.min_probability && probability < *rule.min_probability) {
    return Below("probability", probability, *rule.min_probability);
  }
  if (rule.min_margin && margin < *rule.min_margin) {
    return Below("margin", margin, *rule.min_margin);
  }
  if (rule.min_label_mass && label_mass && *label_mass < *rule.min_label_mass) {
    return Below("label_mass", *label_mass, *rule.min_label_mass);
  }
  return "";
}

Result<ConformalThreshold> FitConformal(ConformalKind kind,
                                        std::span<const std::vector<double>> probabilities,
                                        std::span<const int> right, double alpha) {
  if (probabilities.empty() || probabilities.size() != right.size()) {
    return Fail(ErrorCode::kInvalidArgument, "expected as many right options as items, at least 1");
  }
  if (!(alpha > 0 && alpha < 1)) {
    return Fail(ErrorCode::kInvalidArgument, "expected alpha between 0 and 1");
  }
  std::vector<double> scores;
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (right[i] < 0 || static_cast<std::size_t>(right[i]) >= probabilities[i].size()) {
      return Fail(ErrorCode::kInvalidArgument, "the right option is not one of the item's",
                  "item " + std::to_string(i));
    }
    scores.push_back(Score(kind, probabilities[i], right[i]));
  }
  std::sort(scores.begin(), scores.end());
  const double n = static_cast<double>(scores.size());
  // The product is exact in theory where it is a whole number; rounding must not add one.
  const double rank = std::ceil((n + 1) * (1 - alpha) - 1e-9);
  if (rank > n) return ConformalThreshold{.kind = kind, .q = 1};
  return ConformalThreshold{.kind = kind, .q = scores[static_cast<std::size_t>(rank) - 1]};
}

std::vector<int> PredictionSet(std::span<const double> probabilities,
                               const ConformalThreshold& threshold) {
  std::vector<int> set;
  double sum = 0;
  for (const int i : Likeliest(probabilities)) {
    const double p = probabilities[static_cast<std::size_t>(i)];
    sum += p;
    // The very comparison of the score, so that an item at the threshold is inside.
    if (threshold.kind == ConformalKind::kLac && 1 - p > threshold.q) break;
    if (threshold.kind == ConformalKind::kAps && sum > threshold.q && !set.empty()) break;
    set.push_back(i);
  }
  return set;
}

}  // namespace adjudge
