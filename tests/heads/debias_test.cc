#include "heads/debias.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "heads/answer.h"

namespace adjudge {
namespace {

using Row = std::vector<double>;

void ExpectNear(const Row& found, const Row& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

Row Logs(const Row& p) {
  Row logs;
  for (const double x : p) logs.push_back(std::log(x));
  return logs;
}

TEST(DebiasTest, PriDeGivesBackPriorAndDebiased) {
  const Row prior = {.4, .3, .2, .1};
  const Row debiased = {.1, .2, .3, .4};
  // p_obs(position i) ~ prior(i) * debiased(option there), over every rotation.
  std::vector<Row> shown;
  std::vector<Row> by_option;
  const auto orders = *Orders(Debias::kCyclic, QuestionType::kChoice, 4);
  for (const std::vector<int>& order : orders) {
    Row observed;
    Row options(4);
    for (std::size_t i = 0; i < 4; ++i) {
      const auto option = static_cast<std::size_t>(order[i]);
      observed.push_back(std::log(prior[i] * debiased[option]));
      options[option] = observed.back();
    }
    shown.push_back(observed);
    by_option.push_back(options);
  }
  ExpectNear(Softmax(shown[0]), {.2, .3, .3, .2}, 1e-12);
  ExpectNear(PositionPrior(shown), prior, 1e-12);
  ExpectNear(DivideByPrior(Softmax(shown[0]), prior), debiased, 1e-12);
  ExpectNear(MeanOfLogs(by_option), debiased, 1e-12);
}

TEST(DebiasTest, RatioFormOfContextualCalibration) {
  ExpectNear(DivideByPrior(Row{.6, .3, .1}, Row{.5, .3, .2}), {.444444, .370370, .185185}, 1e-6);
}

TEST(DebiasTest, MeanOfProbabilities) {
  ExpectNear(MeanOfProbabilities(std::vector<Row>{Logs({.2, .8}), Logs({.6, .4})}), {.4, .6},
             1e-12);
}

TEST(DebiasTest, OrdersOfEachKind) {
  const struct {
    Debias debias;
    QuestionType type;
    int n;
    std::size_t orders;
  } cases[] = {
      {Debias::kNone, QuestionType::kChoice, 4, 1},
      {Debias::kCyclic, QuestionType::kChoice, 4, 4},
      {Debias::kReversed, QuestionType::kChoice, 4, 2},
      {Debias::kAll, QuestionType::kChoice, 4, 24},
      {Debias::kAll, QuestionType::kChoice, 5, 120},
      {Debias::kCyclic, QuestionType::kScore, 4, 2},
      {Debias::kAll, QuestionType::kScore, 9, 2},
      {Debias::kCyclic, QuestionType::kNoul, 2, 2},
      {Debias::kAll, QuestionType::kChoice, 1, 1},
      {Debias::kPride, QuestionType::kChoice, 4, 1},
  };
  for (const auto& c : cases) {
    const auto orders = Orders(c.debias, c.type, c.n);
    ASSERT_TRUE(orders);
    EXPECT_EQ(orders->size(), c.orders) << ToString(c.debias);
    EXPECT_EQ(std::set<std::vector<int>>(orders->begin(), orders->end()).size(), c.orders);
    const auto shuffled = Shuffled(*orders);
    EXPECT_TRUE(std::is_permutation(shuffled.begin(), shuffled.end(), orders->begin()));
  }
  EXPECT_EQ(Orders(Debias::kAll, QuestionType::kChoice, 6).error().code, ErrorCode::kLimit);
  EXPECT_EQ(ToString(ParseDebias("x").error()),
            "expected the debiasing none, cyclic, reversed, all, pride, contextual, pmi, found "
            "\"x\"");
}

TEST(DebiasTest, CanonicalOrderIsOfWhatOptionsSay) {
  Question question{.type = QuestionType::kChoice,
                    .options = {{"b", {}}, {"a", Entry{"z"}}, {"c", {}}}};
  EXPECT_EQ(CanonicalOrder(question), (std::vector<int>{1, 0, 2}));
  question.type = QuestionType::kScore;
  EXPECT_EQ(CanonicalOrder(question), (std::vector<int>{0, 1, 2}));
}

// Random readings: where the bound is 0 the choice never changes, elsewhere no oftener than it
// says.
TEST(DebiasTest, DisagreementStaysBelowTheBound) {
  std::mt19937 random(3);
  const auto uniform = [&] { return static_cast<double>(random() % 10001) / 10000.0; };
  int certain = 0;
  double expected = 0;
  int changed = 0;
  for (int round = 0; round < 20000; ++round) {
    const int n = 2 + static_cast<int>(random() % 4);
    const int k = 2 + static_cast<int>(random() % 7);
    const double lead = 4 * uniform();
    std::vector<Row> readings;
    for (int i = 0; i < k; ++i) {
      Row weights;
      for (int j = 0; j < n; ++j) weights.push_back((j == 0 ? lead : 0) + 2 * uniform());
      readings.push_back(Softmax(weights));
    }
    const auto leader = [&](std::size_t m) {
      Row sum(static_cast<std::size_t>(n), 0.0);
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += readings[i][j];
      }
      return std::max_element(sum.begin(), sum.end()) - sum.begin();
    };
    const std::size_t m = 1 + random() % static_cast<unsigned>(k);
    const double bound = DisagreementBound(std::span(readings).first(m), k);
    EXPECT_LE(bound, 1);
    const bool differs = leader(m) != leader(static_cast<std::size_t>(k));
    if (bound == 0) {
      ++certain;
      EXPECT_FALSE(differs);
    }
    expected += bound;
    changed += differs;
  }
  EXPECT_GT(certain, 1000);
  EXPECT_LE(changed, expected);
}

}  // namespace
}  // namespace adjudge
