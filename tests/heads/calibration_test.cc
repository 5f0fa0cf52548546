#include "heads/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "heads/answer.h"
#include "heads/classifier_metrics.h"

namespace adjudge {
namespace {

// Scores whose true temperature is `t`: labels are drawn from softmax(scores / t).
ScoredItems Drawn(LabelKind kind, int n, int n_labels, double t) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal(0, 3);
  std::uniform_real_distribution<double> uniform(0, 1);
  ScoredItems items{.kind = kind};
  for (int i = 0; i < n; ++i) {
    std::vector<double> scores;
    for (int k = 0; k < n_labels; ++k) scores.push_back(normal(random));
    const auto p =
        Calibration{.kind = CalibrationKind::kTemperature, .labels = kind, .temperature = t}
            .Probabilities(scores);
    std::vector<int> labels;
    double at = uniform(random);
    for (int k = 0; k < n_labels; ++k) {
      const double share = p[static_cast<std::size_t>(k)];
      if (kind == LabelKind::kMultiLabel) {
        if (uniform(random) < share) labels.push_back(k);
        continue;
      }
      at -= share;
      if (labels.empty() && (at < 0 || k + 1 == n_labels)) labels.push_back(k);
    }
    items.scores.push_back(std::move(scores));
    items.labels.push_back(std::move(labels));
  }
  return items;
}

double Nll(const Calibration& calibration, const ScoredItems& items) {
  std::vector<std::vector<double>> p;
  for (const auto& scores : items.scores) p.push_back(calibration.Probabilities(scores));
  return MeasureClassifier(items.kind, p, items.labels).nll;
}

constexpr CalibrationKind kFitted[] = {CalibrationKind::kTemperature, CalibrationKind::kVector,
                                       CalibrationKind::kPlatt, CalibrationKind::kIsotonic,
                                       CalibrationKind::kBeta};

TEST(Calibration, EveryKindMendsOverconfidentScores) {
  for (const LabelKind labels : {LabelKind::kMultiClass, LabelKind::kMultiLabel}) {
    const ScoredItems fit = Drawn(labels, 1500, 4, 2.5);
    const ScoredItems test = Drawn(labels, 1500, 4, 2.5);
    const Calibration none{.labels = labels};
    for (const CalibrationKind kind : kFitted) {
      const auto fitted = FitCalibration(kind, fit);
      ASSERT_TRUE(fitted) << ToString(fitted.error());
      EXPECT_LT(Nll(*fitted, test), Nll(none, test)) << ToString(kind);
      const CalibrationGain gain = MeasureGain(none, *fitted, test, 200);
      EXPECT_GT(gain.nll_gain.low, 0) << ToString(kind);
      EXPECT_LT(gain.ece_after, 0.04) << ToString(kind);
      EXPECT_NEAR(gain.nll_before - gain.nll_after, (gain.nll_gain.low + gain.nll_gain.high) / 2,
                  0.1);
      const auto back = Calibration::FromJson(fitted->ToJson(), labels, 4);
      ASSERT_TRUE(back) << ToString(back.error());
      EXPECT_EQ(back->ToJson(), fitted->ToJson());
      EXPECT_EQ(back->Probabilities(test.scores[0]), fitted->Probabilities(test.scores[0]));
    }
  }
}

TEST(Calibration, TemperatureIsTheOneThatAGridFinds) {
  for (const double t : {0.3, 1.0, 4.0}) {
    const ScoredItems items = Drawn(LabelKind::kMultiClass, 1000, 3, t);
    const auto fitted = FitCalibration(CalibrationKind::kTemperature, items);
    ASSERT_TRUE(fitted);
    Calibration best{.kind = CalibrationKind::kTemperature, .temperature = 0.05};
    for (double at = 0.05; at < 20; at *= 1.01) {
      Calibration tried = best;
      tried.temperature = at;
      if (Nll(tried, items) < Nll(best, items)) best = tried;
    }
    EXPECT_NEAR(fitted->temperature, best.temperature, 0.02 * best.temperature);
    EXPECT_NEAR(fitted->temperature, t, 0.2 * t);
  }
}

TEST(Calibration, TemperatureOfTheEightItems) {
  // The rows of the vector in tests/heads/classifier_metrics_test.cc as log-probabilities.
  const std::vector<std::vector<double>> p = {
      {.7, .1, .1, .1},   {.4, .3, .2, .1}, {.25, .25, .3, .2},  {.9, .05, .03, .02},
      {.05, .55, .3, .1}, {.1, .2, .6, .1}, {.34, .33, .2, .13}, {.02, .03, .05, .9}};
  ScoredItems items{.labels = {{0}, {1}, {2}, {0}, {1}, {3}, {0}, {3}}};
  for (const auto& row : p) {
    std::vector<double> logs;
    for (const double x : row) logs.push_back(std::log(x));
    items.scores.push_back(logs);
  }
  const auto fitted = FitCalibration(CalibrationKind::kTemperature, items);
  EXPECT_NEAR(fitted->temperature, 0.7637722741, 1e-4);
  EXPECT_NEAR(Nll(*fitted, items), 0.8520351185, 1e-8);
}

TEST(Calibration, NoItemsAndUnseenLabels) {
  EXPECT_FALSE(FitCalibration(CalibrationKind::kTemperature, {}));
  ScoredItems items = Drawn(LabelKind::kMultiClass, 50, 3, 1);
  for (auto& scores : items.scores) scores.push_back(-5);
  for (const CalibrationKind kind : kFitted) {
    const auto fitted = FitCalibration(kind, items);
    ASSERT_TRUE(fitted);
    for (const double p : fitted->Probabilities(items.scores[0])) {
      EXPECT_TRUE(std::isfinite(p)) << ToString(kind);
      EXPECT_GE(p, 0);
    }
  }
}

TEST(Calibration, BadJsonIsRefusedByName) {
  const struct {
    const char* json;
    const char* part;
  } cases[] = {
      {"", "JSON"},
      {"[]", "/kind"},
      {R"({"kind": "magic"})", "expected the calibration none, temperature"},
      {R"({"kind": "temperature"})", "/temperature: expected a number"},
      {R"({"kind": "temperature", "temperature": 0.0499})", "found 0.0499"},
      {R"({"kind": "temperature", "temperature": 20.1})", "found 20.1"},
      {R"({"kind": "temperature", "temperature": "1"})", "found string"},
      {R"({"kind": "vector", "a": [1, 1]})", "/b"},
      {R"({"kind": "beta", "a": [1, 1], "b": [1, 1], "c": [0]})", "/c: expected a list of 2"},
      {R"({"kind": "platt", "a": [1, 1000001], "b": [0, 0]})", "/a: expected numbers from -1e6"},
      {R"({"kind": "isotonic", "steps": [[[0, 0]]]})", "/steps: expected 2 lists"},
      {R"({"kind": "isotonic", "steps": [[[0, 0]], []]})", "/steps/1: expected at least one"},
      {R"({"kind": "isotonic", "steps": [[[0, 2]], [[0, 0]]]})", "/steps/0"},
  };
  for (const auto& c : cases) {
    const auto refused = Calibration::FromJson(c.json, LabelKind::kMultiClass, 2);
    ASSERT_FALSE(refused) << c.json;
    EXPECT_NE(ToString(refused.error()).find(c.part), std::string::npos)
        << ToString(refused.error());
  }
  for (const char* edge : {"0.05", "20"}) {
    EXPECT_TRUE(Calibration::FromJson(
        std::string(R"({"kind": "temperature", "temperature": )") + edge + "}",
        LabelKind::kMultiClass, 2));
  }
}

}  // namespace
}  // namespace adjudge
