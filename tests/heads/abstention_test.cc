#include "heads/abstention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace adjudge {
namespace {

TEST(AbstentionTest, ThresholdsNameTheirQuantity) {
  const struct {
    AbstainRule rule;
    std::optional<double> mass;
    const char* reason;
  } cases[] = {
      {{}, .5, ""},
      {{.min_probability = .6}, .5, ""},
      {{.min_probability = .7}, .5, "probability 0.6 < 0.7"},
      {{.min_margin = .3}, .5, "margin 0.2 < 0.3"},
      {{.min_label_mass = .6}, .5, "label_mass 0.5 < 0.6"},
      {{.min_label_mass = .6}, {}, ""},
      {{.min_probability = .6, .min_margin = .2, .min_label_mass = .5}, .5, ""},
  };
  for (const auto& c : cases) EXPECT_EQ(AbstainReason(.6, .2, c.mass, c.rule), c.reason);
}

TEST(AbstentionTest, DecisionRuleFromCosts) {
  EXPECT_DOUBLE_EQ(*ProbabilityToAct(9, 1), .9);
  EXPECT_DOUBLE_EQ(*ProbabilityToAct(1, 1), .5);
  for (const auto& [cost, gain] :
       {std::pair(0.0, 1.0), std::pair(1.0, -1.0), std::pair(std::nan(""), 1.0)}) {
    EXPECT_FALSE(ProbabilityToAct(cost, gain));
  }
}

TEST(ConformalTest, SetsByHand) {
  const std::vector<double> p = {.2, .5, .3};
  EXPECT_EQ(PredictionSet(p, {ConformalKind::kLac, .75}), (std::vector<int>{1, 2}));
  EXPECT_EQ(PredictionSet(p, {ConformalKind::kLac, .3}), std::vector<int>{});
  EXPECT_EQ(PredictionSet(p, {ConformalKind::kAps, .85}), (std::vector<int>{1, 2}));
  EXPECT_EQ(PredictionSet(p, {ConformalKind::kAps, .3}), (std::vector<int>{1}));
  EXPECT_EQ(PredictionSet(p, {ConformalKind::kAps, 1}).size(), 3U);
  const std::vector<std::vector<double>> items = {{.9, .1}, {.6, .4}, {.3, .7}};
  const std::vector<int> right = {0, 1, 1};
  // Scores of LAC .1, .6, .3; rank ceil(4 * .5) = 2.
  EXPECT_NEAR(FitConformal(ConformalKind::kLac, items, right, .5)->q, .3, 1e-12);
  EXPECT_EQ(FitConformal(ConformalKind::kLac, items, right, .1)->q, 1) << "too few items";
}

TEST(ConformalTest, CoversAsOftenAsItSays) {
  std::mt19937 random(9);
  const auto draw = [&](std::vector<std::vector<double>>& items, std::vector<int>& right) {
    std::vector<double> p;
    double sum = 0;
    for (int i = 0; i < 5; ++i)
      sum += p.emplace_back(std::exp(static_cast<double>(random() % 400) / 100));
    for (double& x : p) x /= sum;
    double u = static_cast<double>(random() % 1000000) / 1e6;
    int r = 0;
    while (r < 4 && u >= p[static_cast<std::size_t>(r)]) u -= p[static_cast<std::size_t>(r++)];
    items.push_back(p);
    right.push_back(r);
  };
  for (const ConformalKind kind : {ConformalKind::kLac, ConformalKind::kAps}) {
    std::vector<std::vector<double>> items;
    std::vector<int> right;
    for (int i = 0; i < 2000; ++i) draw(items, right);
    const auto threshold = *FitConformal(kind, items, right, .1);
    items.clear();
    right.clear();
    int covered = 0;
    for (int i = 0; i < 4000; ++i) {
      draw(items, right);
      const auto set = PredictionSet(items.back(), threshold);
      covered += std::find(set.begin(), set.end(), right.back()) != set.end();
    }
    EXPECT_NEAR(covered / 4000.0, .9, .02);
  }
}

TEST(ConformalTest, BadInput) {
  const std::vector<std::vector<double>> items = {{.5, .5}};
  const std::vector<int> one = {0};
  const std::vector<int> outside = {2};
  EXPECT_FALSE(FitConformal(ConformalKind::kLac, {}, {}, .1));
  EXPECT_FALSE(FitConformal(ConformalKind::kLac, items, {}, .1));
  EXPECT_FALSE(FitConformal(ConformalKind::kLac, items, outside, .1));
  for (const double alpha : {0.0, 1.0, std::nan("")}) {
    EXPECT_FALSE(FitConformal(ConformalKind::kLac, items, one, alpha));
  }
}

}  // namespace
}  // namespace adjudge
