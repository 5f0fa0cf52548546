#include "heads/answer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace adjudge {
namespace {

struct ConfidenceCase {
  std::vector<double> probabilities;
  double choice;  // NaN = not in the table
  double score;
};

TEST(AnswerTest, ConfidenceFormulas) {
  constexpr double kSkip = std::numeric_limits<double>::quiet_NaN();
  const ConfidenceCase cases[] = {
      {{.61, .2, .19}, .415, kSkip},
      {{.40, .3, .2, .1}, .20, kSkip},
      {{.74, .1, .1, .05, .01}, .675, kSkip},
      {{.84, .1, .06}, .76, kSkip},
      {{.88, .12, 0}, .82, kSkip},
      {{.85, .15}, .70, .70},
      {{.95, .05}, .90, .90},
      {{0, .57, .43}, .355, .355},
      {{0, .74, .26}, .61, .61},
      {{0, .91, .09}, .865, .865},
      {{0, .48, .52, 0}, kSkip, .52},
      {{0, 0, .86, .14, 0}, kSkip, .8833333333333333},
      {{.6, 0, .4}, .4, 0},
      {{.05, .15, .5, .3}, kSkip, .45},
      {{.5, .5}, 0, 0},
      {{.4, .2, .4}, .1, 0},
      {{1}, 1, 1},
      {{1. / 3, 1. / 3, 1. / 3}, 0, 0},
  };
  for (const ConfidenceCase& c : cases) {
    if (!std::isnan(c.choice)) {
      EXPECT_NEAR(ChoiceConfidence(c.probabilities), c.choice, 1e-12);
    }
    if (!std::isnan(c.score)) {
      EXPECT_NEAR(ScoreConfidence(c.probabilities), c.score, 1e-12);
    }
  }
}

TEST(AnswerTest, SoftmaxSumsToOneAtAnyScale) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> cases[] = {
      {0},
      {0, 0, 0},
      {-1000, -1001},
      {800, 1, -800},
      {-kInfinity, -3, -4},
      {-kInfinity, -kInfinity},
      std::vector<double>(255, -12.5),
  };
  for (const std::vector<double>& logs : cases) {
    const std::vector<double> p = Softmax(logs);
    EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1.0, 1e-12);
  }
  EXPECT_NEAR(Softmax(std::vector<double>{-1000, -1001})[0], 1 / (1 + std::exp(-1.0)), 1e-15);
  EXPECT_EQ(Softmax(std::vector<double>{-kInfinity, -3})[0], 0.0);
  EXPECT_NEAR(LogSumExp(std::vector<double>{-1000, -1000}), -1000 + std::log(2.0), 1e-12);
  EXPECT_EQ(LogSumExp({}), -kInfinity);
}

TEST(AnswerTest, DerivedFromTheProbabilities) {
  const std::vector<std::string> levels = {"calm", "bothered", "cross", "furious"};
  const Answer score =
      MakeAnswer(Question::Score("mood", "How upset?", levels), {.05, .15, .5, .3});
  EXPECT_EQ(score.id, "mood");
  EXPECT_EQ(score.chosen, 2);
  EXPECT_NEAR(score.score, 2.05, 1e-12);
  EXPECT_NEAR(*score.confidence, .45, 1e-12);
  EXPECT_NEAR(score.margin, .2, 1e-12);
  EXPECT_NEAR(score.entropy,
              -(.05 * std::log(.05) + .15 * std::log(.15) + .5 * std::log(.5) + .3 * std::log(.3)),
              1e-12);

  const Answer noul = MakeAnswer(Question::Noul("damaged", "Is it damaged?"), {.03, .97});
  EXPECT_EQ(noul.chosen, 1);
  EXPECT_EQ(noul.score, .97);
  EXPECT_FALSE(noul.confidence.has_value());

  const std::vector<std::string> names = {"a", "b", "c"};
  const Answer tie = MakeAnswer(Question::Choice("q", "?", names), {.4, .4, .2});
  EXPECT_EQ(tie.chosen, 0) << "the first of equals";
  EXPECT_NEAR(*tie.confidence, .1, 1e-12);
}

}  // namespace
}  // namespace adjudge
