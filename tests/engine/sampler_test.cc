#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <sstream>

#include "engine/counter_random.h"
#include "engine/log_softmax.h"
#include "tests/testing/engine_cases.h"
#include "tests/testing/sampler_twin.h"

namespace adjudge {
namespace {

using nlohmann::json;
using testing::TwinDistribution;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double ToNumber(const json& value) {
  if (!value.is_string()) return value.get<double>();
  const std::string text = value.get<std::string>();
  return text == "nan" ? kNan : text == "inf" ? kInf : text == "-inf" ? -kInf : 0.0;
}

std::vector<float> ToLogits(const json& values) {
  std::vector<float> logits;
  for (const json& value : values) logits.push_back(static_cast<float>(ToNumber(value)));
  return logits;
}

void ExpectDistribution(const SampleDistribution& got, const json& probs, double tolerance) {
  std::vector<double> all(probs.size(), 0.0);
  for (std::size_t i = 0; i < got.ids.size(); ++i) {
    all[static_cast<std::size_t>(got.ids[i])] = got.probabilities[i];
  }
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(all[i], probs[i], tolerance) << i;
}

TEST(CounterRandom, PhiloxGivesItsPublishedNumbers) {
  const std::array<std::uint32_t, 4> zero = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}), zero);
  const std::array<std::uint32_t, 4> pi = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  EXPECT_EQ(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}), pi);
  EXPECT_EQ(UniformDraw(0, 0), static_cast<double>(0x6627e8d5e169c58dULL >> 11) * 0x1p-53);
}

TEST(Sampler, TopPKeepsTheTokenThatCrosses) {
  ADJUDGE_CASE_OR_SKIP(row, "smp-top-p-crossing");
  for (const std::string set : {"a", "b"}) {
    const std::vector<float> logits = ToLogits(row["input"]["logits_" + set]);
    for (const json& expected : row["expected"][set]) {
      const auto sampler = Sampler::Make({.temperature = 1, .top_p = expected["top_p"]});
      const auto got = sampler->Distribution(logits);
      ASSERT_TRUE(got.has_value());
      EXPECT_EQ(got->ids.size(), expected["keep"].size()) << expected;
      ExpectDistribution(*got, expected["probs"], 2e-6);
    }
  }
}

TEST(Sampler, MinPIsRelativeToTheLargest) {
  ADJUDGE_CASE_OR_SKIP(row, "smp-min-p");
  for (const json& expected : row["expected"]["rows"]) {
    const auto sampler = Sampler::Make({.temperature = 1, .min_p = expected["min_p"]});
    const auto got = sampler->Distribution(ToLogits(row["input"]["logits"]));
    EXPECT_EQ(got->ids.size(), expected["keep"].size()) << expected;
    ExpectDistribution(*got, expected["probs"], 2e-6);
  }
}

TEST(Sampler, TemperatureZeroAndItsNeighbours) {
  ADJUDGE_CASE_OR_SKIP(row, "smp-temperature-zero");
  const json& rows = row["input"]["rows"];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const json& expected = row["expected"]["rows"][i];
    for (const std::uint64_t seed : {0, 1, 99}) {
      auto sampler = Sampler::Make({.temperature = ToNumber(rows[i]["temperature"]),
                                    .top_k = rows[i].value("top_k", 0),
                                    .top_p = rows[i].value("top_p", 1.0),
                                    .seed = seed});
      Result<TokenId> id = sampler.has_value()
                               ? sampler->Sample(ToLogits(rows[i]["logits"]))
                               : Result<TokenId>(tl::unexpected<Error>(sampler.error()));
      if (!expected.contains("refuse")) {
        ASSERT_TRUE(id.has_value()) << ToString(id.error());
        EXPECT_EQ(*id, expected["id"].get<int>());
        continue;
      }
      ASSERT_FALSE(id.has_value()) << rows[i];
      for (const json& name : expected["names"]) {
        EXPECT_NE(id.error().message.find(name.get<std::string>()), std::string::npos)
            << id.error().message;
      }
    }
  }
}

TEST(Sampler, RepetitionPenaltyMovesAwayOnBothSidesOfZero) {
  ADJUDGE_CASE_OR_SKIP(row, "smp-repetition-penalty-sign");
  auto sampler = Sampler::Make(
      {.temperature = 1, .repetition_penalty = row["input"]["penalty"].get<double>()});
  const std::vector<float> logits = ToLogits(row["input"]["logits"]);
  ExpectDistribution(*sampler->Distribution(logits), row["expected"]["before"], 2e-6);
  sampler->ObservePrompt(row["input"]["seen"].get<std::vector<TokenId>>());
  ExpectDistribution(*sampler->Distribution(logits), row["expected"]["probs"], 2e-6);
}

// adjudge reports raw log-probabilities: of the logits as the model gave them.
TEST(Sampler, LogProbabilitiesAreRaw) {
  ADJUDGE_CASE_OR_SKIP(row, "smp-logprobs-which");
  const std::vector<float> logits = ToLogits(row["input"]["logits"]);
  const auto best = BestLogProbs(logits, 4);
  ASSERT_EQ(best.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(best[i].first, static_cast<TokenId>(i));
    EXPECT_NEAR(best[i].second, row["expected"]["raw"][i].get<double>(), 1e-6);
    EXPECT_NEAR(LogProb(logits, static_cast<TokenId>(i)), best[i].second, 1e-12);
  }
}

TEST(Sampler, SeedsSequenceIsItsOwn) {
  ADJUDGE_CASE_OR_SKIP(row, "smp-seed-alone");
  const std::vector<float> logits = ToLogits(row["input"]["logits"]);
  const int draws = row["input"]["draws"];
  const auto run = [&](std::uint64_t seed, Sampler* neighbour) {
    auto sampler = Sampler::Make({.temperature = 1, .seed = seed});
    std::vector<TokenId> ids;
    for (int i = 0; i < draws; ++i) {
      ids.push_back(*sampler->Sample(logits));
      if (neighbour != nullptr) (void)neighbour->Sample(logits);
    }
    return ids;
  };
  const std::vector<TokenId> alone = run(42, nullptr);
  auto neighbour = Sampler::Make({.temperature = 0.7, .seed = 7});
  EXPECT_EQ(run(42, &*neighbour), alone);
  EXPECT_EQ(run(42, nullptr), alone);
  EXPECT_NE(run(43, nullptr), alone);
  std::map<TokenId, int> counts;
  for (TokenId id : alone) ++counts[id];
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const json& band = row["expected"]["counts_within"][id];
    EXPECT_GE(counts[static_cast<TokenId>(id)], band[0].get<int>());
    EXPECT_LE(counts[static_cast<TokenId>(id)], band[1].get<int>());
  }
}

// The first draws of seed 42, written down: another process, compiler or machine must agree.
TEST(Sampler, SeedsSequenceIsTheSameInEveryProcess) {
  const std::vector<float> logits(1000, 0.0F);
  auto sampler = Sampler::Make({.temperature = 1, .seed = 42});
  std::vector<TokenId> ids;
  for (int i = 0; i < 8; ++i) ids.push_back(*sampler->Sample(logits));
  EXPECT_EQ(ids, (std::vector<TokenId>{612, 987, 825, 729, 326, 314, 225, 358}));
}

void ExpectRefused(const SamplerOptions& options, const std::string& words) {
  const auto sampler = Sampler::Make(options);
  ASSERT_FALSE(sampler.has_value()) << words;
  EXPECT_EQ(sampler.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(sampler.error().message.find(words), std::string::npos) << sampler.error().message;
}

TEST(Sampler, RefusesBadOptionsByFieldAndValue) {
  struct Row {
    double SamplerOptions::*field;
    std::string name;
    double good;
    std::vector<double> bad;
  };
  const std::vector<Row> rows = {
      {&SamplerOptions::temperature, "temperature", 1e300, {kNan, -1, kInf}},
      {&SamplerOptions::top_p, "top_p", 0, {-0.1, 1.5, kNan, -kInf}},
      {&SamplerOptions::min_p, "min_p", 1, {-0.5, 2, kNan}},
      {&SamplerOptions::repetition_penalty, "repetition_penalty", 0.5, {0, -2, kInf, kNan}},
      {&SamplerOptions::presence_penalty, "presence_penalty", -2, {kInf, kNan}},
      {&SamplerOptions::frequency_penalty, "frequency_penalty", -2, {-kInf, kNan}},
  };
  for (const Row& row : rows) {
    SamplerOptions options;
    options.*row.field = row.good;
    EXPECT_TRUE(Sampler::Make(options).has_value()) << row.name;
    for (const double bad : row.bad) {
      options.*row.field = bad;
      std::ostringstream value;
      value << bad;
      ExpectRefused(options, row.name + " must be ");
      ExpectRefused(options, ", not " + value.str());
    }
  }
  ExpectRefused({.top_k = -3}, "top_k must be at least 0, not -3");
  using Bias = std::vector<std::pair<TokenId, double>>;
  const std::vector<std::pair<Bias, std::string>> biases = {
      {{{5, kNan}}, "id 5 must be finite, not nan"},
      {{{5, kInf}}, "id 5 must be finite, not inf"},
      {{{-5, 1.0}}, "needs a token id, not -5"},
      {{{7, 1.0}, {7, 2.0}}, "names id 7 twice"},
  };
  for (const auto& [bias, words] : biases) ExpectRefused({.logit_bias = bias}, words);
}

TEST(Sampler, RefusesBadLogits) {
  struct Row {
    std::vector<float> logits;
    std::vector<TokenId> mask;  // allowed ids
    TokenId biased;
    std::string words;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<Row> rows = {
      {{1, nan, 0}, {0, 1, 2}, 0, "id 1 has NaN"},
      {{1, 2, nan}, {0}, 0, "id 2 has NaN"},
      {{1, inf, 0}, {0, 1, 2}, 0, "id 1 has +infinity"},
      {{1, 2, 3}, {}, 0, "allows no token"},
      {{-inf, -inf, 3}, {0, 1}, 0, "above -infinity"},
      {{1, 2, 3}, {0, 1, 2}, 3, "id 3, but there are 3 logits"},
  };
  for (const Row& row : rows) {
    TokenMask mask(3);
    for (TokenId id : row.mask) mask.set(id);
    for (const double temperature : {0.0, 1.0}) {
      auto sampler = Sampler::Make({.temperature = temperature, .logit_bias = {{row.biased, 1.0}}});
      const auto id = sampler->Sample(row.logits, &mask);
      ASSERT_FALSE(id.has_value()) << row.words;
      EXPECT_NE(id.error().message.find(row.words), std::string::npos) << id.error().message;
    }
  }
}

TEST(Sampler, PenaltiesTellThePromptFromTheText) {
  // Repetition looks at both; presence and frequency at the text alone.
  const std::vector<float> logits = {2, 2, 2, 2};
  const SamplerOptions options = {.temperature = 1,
                                  .repetition_penalty = 2,
                                  .presence_penalty = 0.25,
                                  .frequency_penalty = 0.5,
                                  .logit_bias = {{3, -1.0}}};
  auto sampler = Sampler::Make(options);
  sampler->ObservePrompt(std::vector<TokenId>{0, 0, 1});
  sampler->ObserveText(std::vector<TokenId>{1, 2, 2});
  const auto got = sampler->Distribution(logits);
  // Adjusted logits: 1, 1 - .75, 1 - 1.25, 1.
  EXPECT_EQ(got->ids, (std::vector<TokenId>{0, 3, 1, 2}));
  EXPECT_NEAR(got->probabilities[2] / got->probabilities[0], std::exp(-0.75), 1e-7);
  EXPECT_NEAR(got->probabilities[3] / got->probabilities[0], std::exp(-1.25), 1e-7);
}

TEST(Sampler, HugeBiasAndPenaltyStayFinite) {
  auto sampler = Sampler::Make({.temperature = 1e-300,
                                .repetition_penalty = 1e-300,
                                .logit_bias = {{0, -1e300}, {2, 1e308}}});
  sampler->ObserveText(std::vector<TokenId>{0, 1, 2});
  const auto got = sampler->Distribution(std::vector<float>{1, 2, 3});
  ASSERT_TRUE(got.has_value());
  for (double p : got->probabilities) EXPECT_TRUE(std::isfinite(p));
}

TEST(Sampler, EqualsTheTwinOnRandomRows) {
  std::mt19937 random(20);
  const auto pick = [&](std::initializer_list<double> values) {
    return std::data(values)[random() % values.size()];
  };
  for (int round = 0; round < 400; ++round) {
    const int n = 1 + static_cast<int>(random() % (round % 10 == 0 ? 4000 : 60));
    std::vector<float> logits(static_cast<std::size_t>(n));
    for (float& x : logits) {
      // Coarse steps make ties; some ids are impossible.
      x = static_cast<float>(static_cast<int>(random() % 41) - 20) / 4;
      if (random() % 10 == 0) x = -std::numeric_limits<float>::infinity();
    }
    const SamplerOptions options = {
        .temperature = pick({0, 0.3, 1, 2.5}),
        .top_k = static_cast<int>(pick({0, 1, 2, 7, 50, 2000})),
        .top_p = pick({0, 0.1, 0.5, 0.93, 0.999, 1}),
        .min_p = pick({0, 0, 0.01, 0.2, 1}),
        .repetition_penalty = pick({1, 1.3, 0.8}),
        .presence_penalty = pick({0, 0.5}),
        .frequency_penalty = pick({0, 0.25, -0.25}),
        .logit_bias = {{static_cast<TokenId>(random() % static_cast<unsigned>(n)), 1.5}}};
    TokenMask mask(std::max(1, n - static_cast<int>(random() % 5)));
    for (TokenId id = 0; id < mask.width(); ++id) {
      if (random() % 3 != 0) mask.set(id);
    }
    const TokenMask* given = random() % 2 == 0 ? &mask : nullptr;
    std::vector<TokenId> prompt;
    std::vector<TokenId> text;
    for (int i = 0; i < 10; ++i) {
      prompt.push_back(static_cast<TokenId>(random() % static_cast<unsigned>(n)));
      text.push_back(static_cast<TokenId>(random() % static_cast<unsigned>(n)));
    }
    auto sampler = Sampler::Make(options);
    sampler->ObservePrompt(prompt);
    for (std::size_t i = 0; i < text.size(); i += 2) {
      sampler->ObserveText(std::span(text).subspan(i, 2));
    }
    const auto got = sampler->Distribution(logits, given);
    if (!got.has_value()) continue;  // nothing allowed
    const SampleDistribution twin = TwinDistribution(options, logits, given, prompt, text);
    ASSERT_EQ(got->ids, twin.ids) << "round " << round;
    double sum = 0;
    for (std::size_t i = 0; i < twin.ids.size(); ++i) {
      EXPECT_NEAR(got->probabilities[i], twin.probabilities[i], 1e-12);
      sum += got->probabilities[i];
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
    const TokenId drawn = *sampler->Sample(logits, given);
    EXPECT_NE(std::find(twin.ids.begin(), twin.ids.end(), drawn), twin.ids.end());
  }
}

// The draws follow the distribution: Pearson's statistic stays under its 99.99 % point.
TEST(Sampler, DrawsFollowTheDistribution) {
  std::vector<float> logits(20);
  for (std::size_t i = 0; i < logits.size(); ++i)
    logits[i] = static_cast<float>((i * 7) % 5) * 0.5F;
  const SamplerOptions options = {.temperature = 1.2, .top_k = 15, .top_p = 0.95, .seed = 5};
  const auto probe = Sampler::Make(options);
  const auto expected = probe->Distribution(logits);
  auto sampler = Sampler::Make(options);
  std::map<TokenId, int> counts;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) ++counts[*sampler->Sample(logits)];
  double statistic = 0;
  int total = 0;
  for (std::size_t i = 0; i < expected->ids.size(); ++i) {
    const double want = expected->probabilities[i] * kDraws;
    statistic += std::pow(counts[expected->ids[i]] - want, 2) / want;
    total += counts[expected->ids[i]];
  }
  EXPECT_EQ(total, kDraws);
  EXPECT_LT(statistic, 44.3);  // chi squared, 15 degrees of freedom or fewer
}

}  // namespace
}  // namespace adjudge
