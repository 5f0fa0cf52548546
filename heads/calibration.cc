#include "heads/calibration.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/counter_random.h"
#include "engine/json_check.h"
#include "heads/answer.h"
#include "heads/classifier_metrics.h"

namespace adjudge {
namespace {

struct KindName {
  std::string_view name;
  CalibrationKind kind;
};
constexpr KindName kKinds[] = {
    {"none", CalibrationKind::kNone},         {"temperature", CalibrationKind::kTemperature},
    {"vector", CalibrationKind::kVector},     {"platt", CalibrationKind::kPlatt},
    {"isotonic", CalibrationKind::kIsotonic}, {"beta", CalibrationKind::kBeta}};

constexpr double kMostFactor = 1e6;
constexpr double kLeast = 1e-12;  // of p and 1 - p where their logarithms are taken

double Sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

double StepValue(const std::vector<std::pair<double, double>>& steps, double p) {
  const auto above = std::upper_bound(steps.begin(), steps.end(), p,
                                      [](double x, const auto& step) { return x < step.first; });
  return above == steps.begin() ? steps.front().second : std::prev(above)->second;
}

// Probabilities of scores before any calibration.
std::vector<double> Plain(LabelKind labels, std::vector<double> scores) {
  if (labels != LabelKind::kMultiLabel) return Softmax(scores);
  for (double& score : scores) score = Sigmoid(score);
  return scores;
}

bool IsOneAgainstRest(CalibrationKind kind) {
  return kind == CalibrationKind::kPlatt || kind == CalibrationKind::kIsotonic ||
         kind == CalibrationKind::kBeta;
}

void Renormalise(std::vector<double>& p) {
  double sum = 0;
  for (const double value : p) sum += value;
  for (double& value : p) {
    value = sum > 0 ? value / sum : 1 / static_cast<double>(p.size());
  }
}

}  // namespace

Result<CalibrationKind> ParseCalibrationKind(std::string_view name) {
  std::string names;
  for (const KindName& known : kKinds) {
    if (known.name == name) return known.kind;
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  return Fail(ErrorCode::kInvalidArgument,
              "expected the calibration " + names + ", found \"" + std::string(name) + "\"");
}

std::string_view ToString(CalibrationKind kind) {
  for (const KindName& known : kKinds) {
    if (known.kind == kind) return known.name;
  }
  return "";
}

std::vector<double> Calibration::Probabilities(std::span<const double> scores) const {
  std::vector<double> z(scores.begin(), scores.end());
  if (kind == CalibrationKind::kTemperature) {
    for (double& score : z) score /= temperature;
  }
  if (kind == CalibrationKind::kVector) {
    for (std::size_t k = 0; k < z.size(); ++k) z[k] = a[k] * z[k] + b[k];
  }
  std::vector<double> p = Plain(labels, std::move(z));
  if (!IsOneAgainstRest(kind)) return p;
  for (std::size_t k = 0; k < p.size(); ++k) {
    if (kind == CalibrationKind::kIsotonic) {
      p[k] = StepValue(steps[k], p[k]);
      continue;
    }
    const double log_p = std::log(std::max(p[k], kLeast));
    const double log_rest = std::log(std::max(1 - p[k], kLeast));
    p[k] = kind == CalibrationKind::kPlatt ? Sigmoid(a[k] * (log_p - log_rest) + b[k])
                                           : Sigmoid(a[k] * log_p - b[k] * log_rest + c[k]);
  }
  if (labels != LabelKind::kMultiLabel) Renormalise(p);
  return p;
}

std::string Calibration::ToJson() const {
  nlohmann::ordered_json json = {{"kind", ToString(kind)}};
  switch (kind) {
    case CalibrationKind::kNone:
      break;
    case CalibrationKind::kTemperature:
      json["temperature"] = temperature;
      break;
    case CalibrationKind::kBeta:
      json["c"] = c;
      [[fallthrough]];
    case CalibrationKind::kVector:
    case CalibrationKind::kPlatt:
      json["a"] = a;
      json["b"] = b;
      break;
    case CalibrationKind::kIsotonic:
      json["steps"] = steps;
      break;
  }
  return json.dump();
}

namespace {

using Json = nlohmann::json;

Result<double> ReadNumber(const Json& value, const std::string& place) {
  if (!value.is_number()) {
    return Fail(ErrorCode::kMalformed, std::string("expected a number, found ") + value.type_name(),
                place);
  }
  const auto number = value.get<double>();
  if (std::isfinite(number)) return number;
  return Fail(ErrorCode::kNotFinite, "expected a finite number", place);
}

Result<std::vector<double>> ReadList(const Json& json, const char* key, std::size_t n) {
  const std::string place = std::string("/") + key;
  const Json list = json.value(key, Json());
  if (!list.is_array() || list.size() != n) {
    return Fail(ErrorCode::kMalformed,
                "expected a list of " + std::to_string(n) + " numbers, found " +
                    (list.is_array() ? std::to_string(list.size()) : list.type_name()),
                place);
  }
  std::vector<double> values;
  for (const Json& item : list) {
    ADJUDGE_ASSIGN_OR_RETURN(const double value, ReadNumber(item, place));
    // No fit comes near; beyond it products of scores could leave the range of double.
    if (std::abs(value) > kMostFactor) {
      return Fail(ErrorCode::kLimit, "expected numbers from -1e6 to 1e6, found " + item.dump(),
                  place);
    }
    values.push_back(value);
  }
  return values;
}

Status ReadSteps(const Json& json, std::size_t n, Calibration& out) {
  const Json lists = json.value("steps", Json());
  if (!lists.is_array() || lists.size() != n) {
    return Fail(ErrorCode::kMalformed, "expected " + std::to_string(n) + " lists of steps",
                "/steps");
  }
  for (std::size_t k = 0; k < n; ++k) {
    const std::string place = "/steps/" + std::to_string(k);
    auto& steps = out.steps.emplace_back();
    for (const Json& item : lists[k]) {
      if (!item.is_array() || item.size() != 2) {
        return Fail(ErrorCode::kMalformed, "expected a step [from, value]", place);
      }
      ADJUDGE_ASSIGN_OR_RETURN(const double from, ReadNumber(item[0], place));
      ADJUDGE_ASSIGN_OR_RETURN(const double value, ReadNumber(item[1], place));
      const bool ascends =
          steps.empty() || (from > steps.back().first && value >= steps.back().second);
      if (value < 0 || value > 1 || !ascends) {
        return Fail(ErrorCode::kMalformed, "expected ascending steps of values from 0 to 1", place);
      }
      steps.emplace_back(from, value);
    }
    if (steps.empty()) return Fail(ErrorCode::kMalformed, "expected at least one step", place);
  }
  return {};
}

Status ReadTemperature(const Json& json, Calibration& out) {
  ADJUDGE_ASSIGN_OR_RETURN(out.temperature,
                           ReadNumber(json.value("temperature", Json()), "/temperature"));
  if (out.temperature >= Calibration::kLeastTemperature &&
      out.temperature <= Calibration::kMostTemperature) {
    return {};
  }
  return Fail(ErrorCode::kInvalidArgument,
              "expected a temperature from 0.05 to 20, found " + Json(out.temperature).dump(),
              "/temperature");
}

}  // namespace

Result<Calibration> Calibration::FromJson(std::string_view text, LabelKind labels, int n_labels) {
  ADJUDGE_RETURN_IF_ERROR(CheckJson(text));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.value("kind", Json()).is_string()) {
    return Fail(ErrorCode::kMalformed, "expected {\"kind\", ...}", "/kind");
  }
  Calibration out{.labels = labels};
  ADJUDGE_ASSIGN_OR_RETURN(out.kind, ParseCalibrationKind(json["kind"].get<std::string>()));
  const auto n = static_cast<std::size_t>(n_labels);
  switch (out.kind) {
    case CalibrationKind::kNone:
      break;
    case CalibrationKind::kTemperature:
      ADJUDGE_RETURN_IF_ERROR(ReadTemperature(json, out));
      break;
    case CalibrationKind::kIsotonic:
      ADJUDGE_RETURN_IF_ERROR(ReadSteps(json, n, out));
      break;
    case CalibrationKind::kBeta: {
      ADJUDGE_ASSIGN_OR_RETURN(out.c, ReadList(json, "c", n));
      [[fallthrough]];
    }
    case CalibrationKind::kVector:
    case CalibrationKind::kPlatt: {
      ADJUDGE_ASSIGN_OR_RETURN(out.a, ReadList(json, "a", n));
      ADJUDGE_ASSIGN_OR_RETURN(out.b, ReadList(json, "b", n));
      break;
    }
  }
  return out;
}

namespace {

std::vector<double> PerItemNll(const Calibration& calibration, const ScoredItems& items) {
  std::vector<double> losses;
  for (std::size_t i = 0; i < items.scores.size(); ++i) {
    const std::vector<std::vector<double>> p = {calibration.Probabilities(items.scores[i])};
    losses.push_back(MeasureClassifier(items.kind, p, std::span(&items.labels[i], 1)).nll);
  }
  return losses;
}

struct TopLabels {
  std::vector<double> confidence;
  std::vector<char> right;
};

TopLabels Tops(const Calibration& calibration, const ScoredItems& items) {
  TopLabels tops;
  for (std::size_t i = 0; i < items.scores.size(); ++i) {
    const std::vector<double> p = calibration.Probabilities(items.scores[i]);
    if (items.kind == LabelKind::kMultiLabel) {
      for (std::size_t k = 0; k < p.size(); ++k) {
        const bool holds = std::find(items.labels[i].begin(), items.labels[i].end(),
                                     static_cast<int>(k)) != items.labels[i].end();
        tops.confidence.push_back(std::max(p[k], 1 - p[k]));
        tops.right.push_back(holds == (p[k] >= 0.5) ? 1 : 0);
      }
      continue;
    }
    const auto top = std::max_element(p.begin(), p.end());
    tops.confidence.push_back(*top);
    tops.right.push_back(top - p.begin() == items.labels[i][0] ? 1 : 0);
  }
  return tops;
}

Interval Percentiles(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double q) {
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
  };
  return {at(0.025), at(0.975)};
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

CalibrationGain MeasureGain(const Calibration& before, const Calibration& after,
                            const ScoredItems& items, int resamples, std::uint64_t seed) {
  const std::vector<double> nll_before = PerItemNll(before, items);
  const std::vector<double> nll_after = PerItemNll(after, items);
  const TopLabels top_before = Tops(before, items);
  const TopLabels top_after = Tops(after, items);
  CalibrationGain gain{
      .nll_before = MeanOf(nll_before),
      .nll_after = MeanOf(nll_after),
      .ece_before = ExpectedCalibrationError(top_before.confidence, top_before.right),
      .ece_after = ExpectedCalibrationError(top_after.confidence, top_after.right)};
  std::vector<double> nll_gains;
  std::vector<double> ece_gains;
  std::uint64_t draw = 0;
  const std::size_t n = top_before.confidence.size();  // labels of items, for multi-label heads
  const std::size_t per_item = items.scores.empty() ? 1 : n / items.scores.size();
  for (int r = 0; r < resamples && !items.scores.empty(); ++r) {
    double nll_gain = 0;
    TopLabels drawn_before;
    TopLabels drawn_after;
    for (std::size_t i = 0; i < items.scores.size(); ++i) {
      const auto pick = static_cast<std::size_t>(UniformDraw(seed, draw++) *
                                                 static_cast<double>(items.scores.size()));
      nll_gain += nll_before[pick] - nll_after[pick];
      for (std::size_t k = pick * per_item; k < (pick + 1) * per_item; ++k) {
        drawn_before.confidence.push_back(top_before.confidence[k]);
        drawn_before.right.push_back(top_before.right[k]);
        drawn_after.confidence.push_back(top_after.confidence[k]);
        drawn_after.right.push_back(top_after.right[k]);
      }
    }
    nll_gains.push_back(nll_gain / static_cast<double>(items.scores.size()));
    ece_gains.push_back(ExpectedCalibrationError(drawn_before.confidence, drawn_before.right) -
                        ExpectedCalibrationError(drawn_after.confidence, drawn_after.right));
  }
  gain.nll_gain = Percentiles(std::move(nll_gains));
  gain.ece_gain = Percentiles(std::move(ece_gains));
  return gain;
}

}  // namespace adjudge
