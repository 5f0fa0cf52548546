// How good probabilities over labels are, against the labels that hold.
#pragma once

#include <span>
#include <vector>

#include "heads/calibration.h"

namespace adjudge {

// Of n items. A multi-label item is right where exactly its labels have p >= 0.5, and its loss and
// Brier score are sums over labels, its confidence the mean of max(p, 1 - p).
struct ClassifierMetrics {
  int n = 0;
  int n_right = 0;
  double accuracy = 0;
  Interval accuracy_interval;  // Wilson, 95 %
  double nll = 0;              // mean, nats; p below 1e-300 counts as that
  double brier = 0;            // mean over items of sum_k (p_k - y_k)^2
  double ece = 0;              // 15 bins of equal width over the top probability, (lo, hi]
};

ClassifierMetrics MeasureClassifier(LabelKind kind,
                                    std::span<const std::vector<double>> probabilities,
                                    std::span<const std::vector<int>> labels);

// Wilson's 95 % interval of k of n; 0 to 1 for n = 0.
Interval WilsonInterval(int k, int n);

// sum_m |B_m| / n * |accuracy - confidence| over bins (lo, hi] of equal width; a confidence within
// 1e-12 of an edge belongs to the bin below it.
double ExpectedCalibrationError(std::span<const double> confidence, std::span<const char> right,
                                int n_bins = 15);

// The probability that a positive's score is above a negative's, ties counting half. NaN where
// either is empty.
double AreaUnderRoc(std::span<const double> positives, std::span<const double> negatives);

}  // namespace adjudge
