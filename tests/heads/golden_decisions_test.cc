// Decisions of an independent float64 implementation of the default model, read by both heads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/model.h"
#include "engine/tokenizer.h"
#include "heads/answer.h"
#include "heads/label_head.h"
#include "heads/likelihood_head.h"
#include "tests/testing/engine_cases.h"
#include "tests/testing/engine_recipe.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using Json = nlohmann::json;
using Tokens = std::vector<TokenId>;

Json LoadDecisions(const std::filesystem::path& path) {
  return Json::parse(testing::ReadFile(path))["decisions"];
}

double MaxDifference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

std::vector<Tokens> OptionIds(const Json& decision) {
  std::vector<Tokens> options;
  for (const Json& option : decision["options"]) options.push_back(option["ids"].get<Tokens>());
  return options;
}

struct Differences {
  double label_logprob = 0;     // largest
  double option_logprob = 0;    // largest, a token
  double mean_probability = 0;  // mean over items of the largest
};

Differences Compare(BackendKind backend, const std::filesystem::path& file, const Json& decisions,
                    std::size_t n) {
  Differences found;
  const auto model = Model::Load(file, {.backend = backend, .precision = Precision::kExact});
  EXPECT_TRUE(model) << ToString(model.error());
  if (!model) return found;
  auto session = *DecisionSession::Make(*model);
  for (std::size_t i = 0; i < n; ++i) {
    const Json& decision = decisions[i];
    const auto expected = decision["label_logprob"].get<std::vector<double>>();
    const auto labels = ReadLabels(session, decision["label_prompt_ids"].get<Tokens>(),
                                   decision["label_ids"].get<Tokens>());
    EXPECT_TRUE(labels) << ToString(labels.error());
    if (!labels) return found;
    found.label_logprob = std::max(found.label_logprob, MaxDifference(labels->logprobs, expected));
    found.mean_probability +=
        MaxDifference(labels->probabilities, Softmax(expected)) / static_cast<double>(n);
    const std::vector<Tokens> options = OptionIds(decision);
    const auto read = ReadLikelihoods(session, decision["likelihood_prompt_ids"].get<Tokens>(),
                                      options, {}, EndRule::kNone);
    EXPECT_TRUE(read) << ToString(read.error());
    if (!read) return found;
    for (std::size_t k = 0; k < options.size(); ++k) {
      const double difference =
          std::abs(read->logprobs[k] - decision["options"][k]["logprob"].get<double>());
      found.option_logprob =
          std::max(found.option_logprob, difference / static_cast<double>(options[k].size()));
    }
  }
  return found;
}

void Record(const Differences& found) {
  ::testing::Test::RecordProperty("label_logprob", std::to_string(found.label_logprob));
  ::testing::Test::RecordProperty("option_logprob", std::to_string(found.option_logprob));
  ::testing::Test::RecordProperty("mean_probability", std::to_string(found.mean_probability));
}

TEST(GoldenDecisionsTest, ReferenceBackend) {
  ADJUDGE_MODEL_OR_SKIP(model, "default");
  ADJUDGE_DATA_OR_SKIP(golden, "golden/smollm2/golden.json");
  const Differences found = Compare(BackendKind::kReference, model, LoadDecisions(golden), 2);
  Record(found);
  EXPECT_LT(found.label_logprob, 1e-3);
  EXPECT_LT(found.option_logprob, 1e-3);
}

TEST(GoldenDecisionsTest, CpuBackend) {
  ADJUDGE_MODEL_OR_SKIP(model, "default");
  ADJUDGE_DATA_OR_SKIP(golden, "golden/smollm2/golden.json");
  const Json decisions = LoadDecisions(golden);
  const Differences found = Compare(BackendKind::kCpu, model, decisions, decisions.size());
  Record(found);
  EXPECT_LT(found.label_logprob, 1e-2);
  EXPECT_LT(found.option_logprob, 1e-3);
  EXPECT_LT(found.mean_probability, 1e-3);
}

TEST(GoldenDecisionsTest, OptionsOfSeveralTokensAreSummed) {
  ADJUDGE_CASE_OR_SKIP(c, "opt-multi-token-sum");
  testing::TempFolder folder;
  ADJUDGE_RECIPE_OR_SKIP(file, c["input"]["file"], folder);
  const Json& expected = c["expected"];
  const auto context = c["input"]["context_ids"].get<Tokens>();
  const auto options = c["input"]["options_ids"].get<std::vector<Tokens>>();
  const Tokens end = {c["input"]["end_id"].get<TokenId>()};
  for (const BackendKind backend : {BackendKind::kReference, BackendKind::kCpu}) {
    const auto model = Model::Load(file, {.backend = backend, .precision = Precision::kExact});
    ASSERT_TRUE(model) << ToString(model.error());
    auto session = *DecisionSession::Make(*model);
    const auto sums = ReadLikelihoods(session, context, options, end);
    const auto ended = ReadLikelihoods(session, context, options, end, EndRule::kStop);
    const auto means = ReadLikelihoods(session, context, options, end, EndRule::kNone,
                                       LikelihoodNorm::kMeanPerToken);
    ASSERT_TRUE(sums && ended && means);
    EXPECT_FALSE(sums->end_counted);
    std::vector<double> expected_means;
    for (std::size_t i = 0; i < options.size(); ++i) {
      for (std::size_t k = 0; k < options[i].size(); ++k) {
        EXPECT_NEAR(sums->token_logprobs[i][k], expected["per_token"][i][k].get<double>(), 1e-3);
      }
      EXPECT_NEAR(sums->logprobs[i], expected["sum_without_end"][i].get<double>(), 1e-3);
      EXPECT_NEAR(ended->logprobs[i], expected["sum_with_end"][i].get<double>(), 1e-3);
      EXPECT_NEAR(ended->probabilities[i], expected["normalized_with_end"][i].get<double>(), 1e-6);
      expected_means.push_back(expected["mean_per_token"][i].get<double>());
    }
    EXPECT_LT(MaxDifference(means->probabilities, Softmax(expected_means)), 1e-3);
  }
}

}  // namespace
}  // namespace adjudge
