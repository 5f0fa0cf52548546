#include "engine/model/rope_frequencies.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/testing/engine_cases.h"

namespace adjudge {
namespace {

TEST(RopeFrequencies, PlainAndLinearAndDivided) {
  const RopeConfig plain{.base = 10000};
  const RopeFrequencies frequencies(plain, 8);
  const double expected[] = {1, 0.1, 0.01, 0.001};
  ASSERT_EQ(frequencies.n_pairs(), 4);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(frequencies.inverse()[i], expected[i], 1e-15);

  RopeConfig linear = plain;
  linear.scaling = {.kind = RopeScalingKind::kLinear, .factor = 4};
  linear.freq_factors = {1, 2, 4, 8};
  const RopeFrequencies scaled(linear, 8);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(scaled.inverse()[i], expected[i] / 4 / std::exp2(i), 1e-15);
  }
  EXPECT_EQ(scaled.attention_factor(), 1.0);
}

TEST(RopeFrequencies, FarPositionsKeepTheirPrecision) {
  const RopeFrequencies frequencies(RopeConfig{.base = 10000}, 4);
  const std::vector<int> positions = {0, 131071};
  std::vector<float> cos(4), sin(4);
  frequencies.Fill(positions, cos, sin);
  EXPECT_EQ(cos[0], 1.0F);
  EXPECT_EQ(sin[1], 0.0F);
  EXPECT_NEAR(cos[2], std::cos(131071.0), 1e-7);
  EXPECT_NEAR(sin[3], std::sin(1310.71), 1e-7);
}

TEST(RopeFrequencies, Llama3BandsOfPublishedConfigs) {
  ADJUDGE_CASE_OR_SKIP(llama3, "fwd-llama3-rope");
  for (const auto& row : llama3["expected"]["configs"]) {
    RopeConfig config{.base = row["base"].get<double>()};
    config.scaling = {.kind = RopeScalingKind::kLlama3,
                      .factor = row["factor"].get<double>(),
                      .low_freq_factor = row["low_freq_factor"].get<double>(),
                      .high_freq_factor = row["high_freq_factor"].get<double>(),
                      .original_context = row["original_context"].get<int>()};
    const int head_dim = row["head_dim"].get<int>();
    const RopeFrequencies scaled(config, head_dim);
    const RopeFrequencies plain(RopeConfig{.base = config.base}, head_dim);
    ASSERT_EQ(row["divisor_per_pair"].size(), static_cast<std::size_t>(head_dim / 2));
    for (std::size_t i = 0; i < row["divisor_per_pair"].size(); ++i) {
      EXPECT_NEAR(plain.inverse()[i] / scaled.inverse()[i],
                  row["divisor_per_pair"][i].get<double>(), 2e-6)
          << row["name"] << ", pair " << i;
    }
  }
}

TEST(RopeFrequencies, YarnKeepsFastPairsAndDividesSlowOnes) {
  RopeConfig config{.base = 10000};
  config.scaling = {.kind = RopeScalingKind::kYarn, .factor = 4, .original_context = 4096};
  const RopeFrequencies scaled(config, 128), plain(RopeConfig{.base = 10000}, 128);
  // The correction range of this widely used setting: pairs 20 to 46.
  for (std::size_t i = 0; i < 64; ++i) {
    const double divisor = plain.inverse()[i] / scaled.inverse()[i];
    const double ramp = std::min(std::max((static_cast<double>(i) - 20) / 26, 0.0), 1.0);
    EXPECT_NEAR(divisor, 1 / (ramp / 4 + 1 - ramp), 1e-9) << i;
  }
  EXPECT_NEAR(scaled.attention_factor(), 0.1 * std::log(4.0) + 1, 1e-15);
  config.scaling.attention_factor = 1.25;
  EXPECT_EQ(RopeFrequencies(config, 128).attention_factor(), 1.25);
}

}  // namespace
}  // namespace adjudge
