#include "heads/likelihood_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "heads/label_head.h"
#include "tests/testing/engine_cases.h"
#include "tests/testing/toy_model.h"

namespace adjudge {
namespace {

using Tokens = std::vector<TokenId>;

// The case's model: one letter is one token, '#' ends; unlisted letters are as good as impossible.
constexpr std::string_view kLetters = "abc#";

TokenId Letter(char c) { return static_cast<TokenId>(kLetters.find(c)); }

Tokens Spell(const std::string& text) {
  Tokens ids;
  for (const char c : text) ids.push_back(Letter(c));
  return ids;
}

std::shared_ptr<const Model> ToyOf(const nlohmann::json& table) {
  return testing::MakeToyModel(5, 64, [table](std::span<const TokenId> visible) {
    std::string seen;
    for (const TokenId id : visible.subspan(1)) seen += kLetters[static_cast<std::size_t>(id)];
    std::vector<float> logits(5, -60);
    if (table.contains(seen)) {
      for (const auto& [letter, p] : table[seen].items()) {
        logits[static_cast<std::size_t>(Letter(letter[0]))] =
            static_cast<float>(std::log(p.get<double>()));
      }
    }
    return logits;
  });
}

constexpr TokenId kStart = 4;

TEST(LikelihoodTest, OptionThatBeginsAnother) {
  // Engine case opt-prefix-of-another, its model written out.
  const auto table = nlohmann::json::parse(R"({"": {"a": 0.6, "c": 0.3, "#": 0.1},
      "a": {"b": 0.7, "#": 0.2, "c": 0.1}, "ab": {"#": 0.5, "a": 0.5}, "c": {"#": 0.9, "a": 0.1}})");
  auto session = *DecisionSession::Make(ToyOf(table));
  const Tokens prompt = {kStart};
  const std::vector<Tokens> options = {Spell("a"), Spell("ab"), Spell("c")};
  const Tokens stop = {Letter('#')};

  const auto counted = ReadLikelihoods(session, prompt, options, stop);
  ASSERT_TRUE(counted) << ToString(counted.error());
  EXPECT_TRUE(counted->end_counted) << "by default, since one begins another";
  const double joint[] = {.12, .21, .27};
  const double normalized[] = {.2, .35, .45};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(std::exp(counted->logprobs[i]), joint[i], 1e-6);
    EXPECT_NEAR(counted->probabilities[i], normalized[i], 1e-6);
  }
  EXPECT_NEAR(counted->label_mass, .6, 1e-6);

  const auto without = ReadLikelihoods(session, prompt, options, stop, EndRule::kNone);
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->end_counted);
  const double raw[] = {.454545, .318182, .227273};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(without->probabilities[i], raw[i], 1e-6);
  EXPECT_NEAR(without->label_mass, .9, 1e-6) << "ab is a part of a";

  const std::vector<Tokens> apart = {Spell("ab"), Spell("c")};
  const auto uncounted = ReadLikelihoods(session, prompt, apart, stop);
  ASSERT_TRUE(uncounted);
  EXPECT_FALSE(uncounted->end_counted);
  EXPECT_NEAR(std::exp(uncounted->logprobs[0]), .42, 1e-6);
  EXPECT_NEAR(uncounted->label_mass, .72, 1e-6);
  const auto asked = ReadLikelihoods(session, prompt, apart, stop, EndRule::kStop);
  ASSERT_TRUE(asked);
  EXPECT_TRUE(asked->end_counted);
  EXPECT_NEAR(std::exp(asked->logprobs[1]), .27, 1e-6);
}

TEST(LikelihoodTest, OptionThatBeginsAnotherIsTheCase) {
  ADJUDGE_CASE_OR_SKIP(c, "opt-prefix-of-another");
  auto session = *DecisionSession::Make(ToyOf(c["input"]["toy_model"]));
  std::vector<Tokens> options;
  for (const auto& option : c["input"]["options"]) options.push_back(Spell(option));
  const auto reading = ReadLikelihoods(session, Tokens{kStart}, options, Tokens{Letter('#')});
  ASSERT_TRUE(reading);
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string name = c["input"]["options"][i];
    EXPECT_NEAR(reading->probabilities[i], c["expected"]["normalized"][name].get<double>(), 1e-6);
  }
}

TEST(LikelihoodTest, EveryOptionCanWinWhenOneBeginsAnother) {
  // Without the end "a" could never lose to "ab".
  auto session = *DecisionSession::Make(ToyOf(nlohmann::json::parse(
      R"({"": {"a": 0.99, "#": 0.01}, "a": {"b": 0.98, "#": 0.02}, "ab": {"#": 1.0}})")));
  const std::vector<Tokens> options = {Spell("a"), Spell("ab")};
  const auto reading = ReadLikelihoods(session, Tokens{kStart}, options, Tokens{Letter('#')});
  ASSERT_TRUE(reading);
  EXPECT_GT(reading->probabilities[1], .9);
}

TEST(LikelihoodTest, MeanPerTokenOnlyByName) {
  // One token at 0.3 against two at 0.5: by sum 0.3 > 0.25, by mean 0.5 > 0.3.
  auto session = *DecisionSession::Make(ToyOf(
      nlohmann::json::parse(R"({"": {"c": 0.3, "a": 0.5, "#": 0.2}, "a": {"b": 0.5, "#": 0.5}})")));
  const std::vector<Tokens> options = {Spell("c"), Spell("ab")};
  const auto sum = ReadLikelihoods(session, Tokens{kStart}, options, {});
  ASSERT_TRUE(sum);
  EXPECT_GT(sum->probabilities[0], sum->probabilities[1]);
  EXPECT_NEAR(sum->probabilities[0], .3 / .55, 1e-6);
  const auto mean = ReadLikelihoods(session, Tokens{kStart}, options, {}, EndRule::kAuto,
                                    LikelihoodNorm::kMeanPerToken);
  ASSERT_TRUE(mean);
  EXPECT_NEAR(mean->probabilities[1], .5 / .8, 1e-6);
  EXPECT_NEAR(mean->logprobs[1], std::log(.25), 1e-6) << "log-probabilities stay sums";
}

TEST(LikelihoodTest, BeginningsAreFound) {
  const struct {
    std::vector<Tokens> options;
    bool any;
  } cases[] = {
      {{{1}, {2}, {3}}, false},
      {{{1, 2}, {1, 3}, {1, 4}}, false},
      {{{1, 2, 3}, {7}, {1, 2}}, true},
      {{{1}, {1, 0}, {1, 0, 5}, {1, 1}}, true},
      {{{5, 1}, {5, 1, 9}, {5, 0, 1}}, true},
      {{{}, {1}}, true},
      {{{4}}, false},
  };
  for (const auto& c : cases) EXPECT_EQ(AnyBeginsAnother(c.options), c.any);
}

TEST(LikelihoodTest, Refuses) {
  auto session = *DecisionSession::Make(ToyOf(nlohmann::json::object()));
  const std::vector<Tokens> same = {Spell("ab"), Spell("c"), Spell("ab")};
  EXPECT_FALSE(ReadLikelihoods(session, Tokens{kStart}, same, {}));
  const std::vector<Tokens> nested = {Spell("a"), Spell("ab")};
  EXPECT_EQ(ReadLikelihoods(session, Tokens{kStart}, nested, {}).error().code,
            ErrorCode::kUnsupported)
      << "the end counts and nothing ends";
  EXPECT_FALSE(ReadLikelihoods(session, {}, nested, Tokens{3}));
  EXPECT_FALSE(ReadLikelihoods(session, Tokens{kStart}, {}, Tokens{3}));
}

TEST(LabelReadingTest, ProbabilitiesAndMass) {
  auto session = *DecisionSession::Make(
      ToyOf(nlohmann::json::parse(R"({"": {"a": 0.6, "c": 0.3, "#": 0.1}})")));
  const auto reading = ReadLabels(session, Tokens{kStart}, Tokens{Letter('a'), Letter('c')});
  ASSERT_TRUE(reading);
  EXPECT_NEAR(reading->probabilities[0], 2. / 3, 1e-6);
  EXPECT_NEAR(reading->probabilities[1], 1. / 3, 1e-6);
  EXPECT_NEAR(reading->label_mass, .9, 1e-6);
  EXPECT_NEAR(reading->logprobs[1], std::log(.3), 1e-6);
  const auto one = ReadLabels(session, Tokens{kStart}, Tokens{Letter('c')});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->probabilities, std::vector<double>{1.0});
  EXPECT_NEAR(one->label_mass, .3, 1e-6);
}

}  // namespace
}  // namespace adjudge
