#include "heads/classifier_metrics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace adjudge {
namespace {

TEST(ClassifierMetrics, EightItems) {
  const std::vector<std::vector<double>> p = {
      {.7, .1, .1, .1},   {.4, .3, .2, .1}, {.25, .25, .3, .2},  {.9, .05, .03, .02},
      {.05, .55, .3, .1}, {.1, .2, .6, .1}, {.34, .33, .2, .13}, {.02, .03, .05, .9}};
  const std::vector<std::vector<int>> y = {{0}, {1}, {2}, {0}, {1}, {3}, {0}, {3}};
  const ClassifierMetrics metrics = MeasureClassifier(LabelKind::kMultiClass, p, y);
  EXPECT_EQ(metrics.n_right, 6);
  EXPECT_DOUBLE_EQ(metrics.accuracy, .75);
  EXPECT_NEAR(metrics.nll, .8693216673784815, 1e-14);
  EXPECT_NEAR(metrics.brier, .453625, 1e-14);
  EXPECT_NEAR(metrics.ece, .20125, 1e-14);
  const std::vector<double> confidence = {.7, .4, .3, .9, .55, .6, .34, .9};
  const std::vector<char> right = {1, 0, 1, 1, 1, 0, 1, 1};
  EXPECT_NEAR(ExpectedCalibrationError(confidence, right, 10), .20125, 1e-14);
  std::vector<double> good;
  std::vector<double> bad;
  for (std::size_t i = 0; i < right.size(); ++i)
    (right[i] != 0 ? good : bad).push_back(confidence[i]);
  EXPECT_NEAR(AreaUnderRoc(good, bad), .5833333333, 1e-9);
}

TEST(ClassifierMetrics, WilsonIntervals) {
  EXPECT_NEAR(WilsonInterval(70, 100).low, .6041514537, 1e-9);
  EXPECT_NEAR(WilsonInterval(70, 100).high, .7810511471, 1e-9);
  EXPECT_EQ(WilsonInterval(0, 20).low, 0);
  EXPECT_NEAR(WilsonInterval(0, 20).high, .1611251581, 1e-9);
  EXPECT_EQ(WilsonInterval(0, 0).high, 1);
}

TEST(ClassifierMetrics, MultiLabelAndNothing) {
  const std::vector<std::vector<double>> p = {{.9, .2, .6}, {.1, .1, .1}};
  const std::vector<std::vector<int>> y = {{0, 2}, {1}};
  const ClassifierMetrics metrics = MeasureClassifier(LabelKind::kMultiLabel, p, y);
  EXPECT_EQ(metrics.n_right, 1);
  EXPECT_NEAR(
      metrics.nll,
      -(std::log(.9) + std::log(.8) + std::log(.6) + std::log(.9) + std::log(.1) + std::log(.9)) /
          2,
      1e-12);
  EXPECT_EQ(MeasureClassifier(LabelKind::kMultiClass, {}, {}).n, 0);
  EXPECT_TRUE(std::isnan(AreaUnderRoc({}, {})));
}

}  // namespace
}  // namespace adjudge
