// Calibration: from a head's scores to probabilities that mean what they say.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "heads/head_model.h"

namespace adjudge {

enum class CalibrationKind {
  kNone,
  kTemperature,  // scores / T
  kVector,       // a_k * score_k + b_k
  kPlatt,        // sigmoid(a_k * logit(p_k) + b_k), each label against the rest
  kIsotonic,     // a step function of p_k, each label against the rest (pool adjacent violators)
  kBeta,         // sigmoid(a_k ln p_k - b_k ln(1 - p_k) + c_k), a, b >= 0 (Kull et al. 2017)
};
Result<CalibrationKind> ParseCalibrationKind(std::string_view name);
std::string_view ToString(CalibrationKind kind);  // none | temperature | vector | platt | ...

// A value. The kinds that look at one label against the rest are renormalised over the labels
// (not for multi-label heads); where all are zero the distribution is uniform.
struct Calibration {
  static constexpr double kLeastTemperature = 0.05;
  static constexpr double kMostTemperature = 20;

  CalibrationKind kind = CalibrationKind::kNone;
  LabelKind labels = LabelKind::kMultiClass;
  double temperature = 1;
  std::vector<double> a, b, c;  // [n_labels] of those that the kind has
  std::vector<std::vector<std::pair<double, double>>> steps;  // [n_labels] (from p, value)

  // [n_labels] from log-odds as HeadModel::Scores gives them.
  std::vector<double> Probabilities(std::span<const double> scores) const;

  // {"kind", "temperature"} and so on. Read refuses an unknown kind, a temperature outside 0.05 to
  // 20, numbers that are not finite, lists of another length than n_labels, steps that descend.
  std::string ToJson() const;
  static Result<Calibration> FromJson(std::string_view json, LabelKind labels, int n_labels);
};

// Held-out scores with their labels.
struct ScoredItems {
  LabelKind kind = LabelKind::kMultiClass;
  std::vector<std::vector<double>> scores;  // [item][label]
  std::vector<std::vector<int>> labels;     // [item]: one, or any number of a multi-label head
};

// The fit by maximum likelihood (isotonic: by least squares). Lists of a label seen in no item stay
// neutral. Errors: kInvalidArgument for no items.
Result<Calibration> FitCalibration(CalibrationKind kind, const ScoredItems& items);

struct Interval {
  double low = 0;
  double high = 0;
};

// What a calibration changes on items, with 95 % bootstrap intervals (percentiles of `resamples`
// draws of items with replacement, by seed).
struct CalibrationGain {
  double nll_before = 0, nll_after = 0;
  double ece_before = 0, ece_after = 0;
  Interval nll_gain, ece_gain;  // before less after
};
CalibrationGain MeasureGain(const Calibration& before, const Calibration& after,
                            const ScoredItems& items, int resamples = 1000, std::uint64_t seed = 0);

}  // namespace adjudge
