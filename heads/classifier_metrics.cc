#include "heads/classifier_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/check.h"

namespace adjudge {
namespace {

constexpr double kLeastProbability = 1e-300;

bool Holds(const std::vector<int>& labels, std::size_t k) {
  return std::find(labels.begin(), labels.end(), static_cast<int>(k)) != labels.end();
}

double NegativeLog(double p) { return -std::log(std::max(p, kLeastProbability)); }

// One item's share of the sums.
struct Item {
  double nll = 0;
  double brier = 0;
  double confidence = 0;
  bool right = false;
};

Item MeasureItem(LabelKind kind, const std::vector<double>& p, const std::vector<int>& labels) {
  Item item;
  const bool each = kind == LabelKind::kMultiLabel;
  item.right = each;
  for (std::size_t k = 0; k < p.size(); ++k) {
    const bool holds = Holds(labels, k);
    item.brier += (p[k] - (holds ? 1 : 0)) * (p[k] - (holds ? 1 : 0));
    if (each) {
      item.nll += NegativeLog(holds ? p[k] : 1 - p[k]);
      item.confidence += std::max(p[k], 1 - p[k]) / static_cast<double>(p.size());
      item.right = item.right && holds == (p[k] >= 0.5);
    } else if (holds) {
      item.nll += NegativeLog(p[k]);
    }
  }
  if (!each) {
    const auto top = std::max_element(p.begin(), p.end());
    item.confidence = *top;
    item.right = Holds(labels, static_cast<std::size_t>(top - p.begin()));
  }
  return item;
}

}  // namespace

ClassifierMetrics MeasureClassifier(LabelKind kind,
                                    std::span<const std::vector<double>> probabilities,
                                    std::span<const std::vector<int>> labels) {
  ADJUDGE_CHECK(probabilities.size() == labels.size());
  ClassifierMetrics metrics{.n = static_cast<int>(labels.size())};
  std::vector<double> confidence;
  std::vector<char> right;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Item item = MeasureItem(kind, probabilities[i], labels[i]);
    metrics.nll += item.nll;
    metrics.brier += item.brier;
    metrics.n_right += item.right ? 1 : 0;
    confidence.push_back(item.confidence);
    right.push_back(item.right ? 1 : 0);
  }
  metrics.accuracy_interval = WilsonInterval(metrics.n_right, metrics.n);
  if (metrics.n == 0) return metrics;
  metrics.accuracy = static_cast<double>(metrics.n_right) / metrics.n;
  metrics.nll /= metrics.n;
  metrics.brier /= metrics.n;
  metrics.ece = ExpectedCalibrationError(confidence, right);
  return metrics;
}

Interval WilsonInterval(int k, int n) {
  if (n == 0) return {0, 1};
  constexpr double kZ = 1.959963984540054;
  const double p = static_cast<double>(k) / n;
  const double z2n = kZ * kZ / n;
  const double middle = (p + z2n / 2) / (1 + z2n);
  const double half = kZ * std::sqrt(p * (1 - p) / n + z2n / (4.0 * n)) / (1 + z2n);
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

double ExpectedCalibrationError(std::span<const double> confidence, std::span<const char> right,
                                int n_bins) {
  ADJUDGE_CHECK(confidence.size() == right.size());
  if (confidence.empty()) return 0;
  const auto bins = static_cast<std::size_t>(n_bins);
  std::vector<double> sums(bins, 0.0);
  std::vector<double> rights(bins, 0.0);
  for (std::size_t i = 0; i < confidence.size(); ++i) {
    const double edge = std::ceil(confidence[i] * n_bins - 1e-12) - 1;
    const auto bin = static_cast<std::size_t>(std::clamp(edge, 0.0, n_bins - 1.0));
    sums[bin] += confidence[i];
    rights[bin] += right[i] != 0 ? 1 : 0;
  }
  double error = 0;
  for (std::size_t b = 0; b < bins; ++b) error += std::abs(rights[b] - sums[b]);
  return error / static_cast<double>(confidence.size());
}

double AreaUnderRoc(std::span<const double> positives, std::span<const double> negatives) {
  if (positives.empty() || negatives.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(negatives.begin(), negatives.end());
  std::sort(sorted.begin(), sorted.end());
  double wins = 0;
  for (const double score : positives) {
    const auto below = std::lower_bound(sorted.begin(), sorted.end(), score);
    const auto above = std::upper_bound(below, sorted.end(), score);
    wins += static_cast<double>(below - sorted.begin()) + 0.5 * static_cast<double>(above - below);
  }
  return wins / static_cast<double>(positives.size()) / static_cast<double>(negatives.size());
}

}  // namespace adjudge
