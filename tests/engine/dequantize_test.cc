#include "engine/model/dequantize.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/testing/gguf_builder.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

constexpr TensorType kBlockTypes[] = {
    TensorType::kF16,  TensorType::kBF16, TensorType::kQ8_0, TensorType::kQ4_0,
    TensorType::kQ4_1, TensorType::kQ5_0, TensorType::kQ5_1, TensorType::kQ2_K,
    TensorType::kQ3_K, TensorType::kQ4_K, TensorType::kQ5_K, TensorType::kQ6_K,
};

std::uint32_t Bits(float value) { return std::bit_cast<std::uint32_t>(value); }

bool SameFloat(float a, float b) { return (std::isnan(a) && std::isnan(b)) || Bits(a) == Bits(b); }

class DequantizeGolden : public ::testing::TestWithParam<TensorType> {};

// The files come from the Python package gguf: see make_dequantize_golden.py.
TEST_P(DequantizeGolden, EqualsThePackageToTheBit) {
  const TensorType type = GetParam();
  const std::string bytes =
      testing::ReadFile(testing::SourceFolder().string() + "/tests/golden/dequantize/" +
                        std::string(ToString(type)) + ".bin");
  ASSERT_GE(bytes.size(), 4U);
  std::int32_t blocks = 0;
  std::memcpy(&blocks, bytes.data(), sizeof blocks);
  const std::int64_t n = std::int64_t{blocks} * BlockElements(type);
  const auto data_bytes = static_cast<std::size_t>(TensorBytes(type, n));
  ASSERT_EQ(bytes.size(), 4 + data_bytes + 4 * static_cast<std::size_t>(n));
  std::vector<float> want(static_cast<std::size_t>(n));
  std::memcpy(want.data(), bytes.data() + 4 + data_bytes, want.size() * sizeof(float));

  std::vector<float> got(want.size(), 77.0F);
  Dequantize(type, reinterpret_cast<const std::byte*>(bytes.data() + 4), n, got.data());
  int wrong = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!SameFloat(got[i], want[i]) && ++wrong < 5) {
      ADD_FAILURE() << "element " << i << ": got " << got[i] << ", want " << want[i];
    }
  }
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Types, DequantizeGolden, ::testing::ValuesIn(kBlockTypes),
                         [](const auto& param) { return std::string(ToString(param.param)); });

TEST(Dequantize, F32IsACopyFromAnyAddress) {
  const std::vector<float> values = {1.5F, -0.0F, INFINITY, 1e-40F};
  std::string bytes = "x";
  bytes += testing::EncodeFloats(TensorType::kF32, values);
  std::vector<float> got(values.size());
  Dequantize(TensorType::kF32, reinterpret_cast<const std::byte*>(bytes.data() + 1), 4, got.data());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(Bits(got[i]), Bits(values[i])) << i;
}

// The definition of IEEE binary16, by ldexp.
TEST(Half, EveryPatternHasTheValueOfTheDefinition) {
  for (std::uint32_t half = 0; half <= 0xffff; ++half) {
    const int exponent = (half >> 10) & 31;
    const int fraction = half & 1023;
    const float sign = (half & 0x8000) != 0 ? -1.0F : 1.0F;
    float want = 0;
    if (exponent == 31) {
      want = fraction == 0 ? sign * INFINITY : NAN;
    } else if (exponent == 0) {
      want = sign * std::ldexp(static_cast<float>(fraction), -24);
    } else {
      want = sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    }
    ASSERT_TRUE(SameFloat(HalfToFloat(static_cast<std::uint16_t>(half)), want)) << half;
    ASSERT_TRUE(std::isnan(want) || testing::FloatToHalf(want) == half) << half;
  }
}

TEST(BFloat16, EveryPatternSurvivesTheRoundTripAndNaNTurnsQuiet) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = BFloat16ToFloat(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(Bits(value), bits << 16);
    const std::uint32_t want = std::isnan(value) ? bits | 0x40U : bits;
    ASSERT_EQ(FloatToBFloat16(value), want);
  }
}

struct RoundingRow {
  std::uint32_t f32;
  std::uint16_t bf16;
};

TEST(BFloat16, RoundsToNearestEven) {
  const RoundingRow rows[] = {
      {0x3f808000, 0x3f80}, {0x3f818000, 0x3f82}, {0x3f80ffff, 0x3f81}, {0x3f807fff, 0x3f80},
      {0x7f7fffff, 0x7f80}, {0x7f800001, 0x7fc0}, {0x00008000, 0x0000}, {0x0000ffff, 0x0001},
      {0x007fffff, 0x0080}, {0x80018000, 0x8002}, {0xff800000, 0xff80},
  };
  for (const RoundingRow& row : rows) {
    EXPECT_EQ(FloatToBFloat16(std::bit_cast<float>(row.f32)), row.bf16) << std::hex << row.f32;
  }
}

TEST(BFloat16, EqualsTheStoredCases) {
  ADJUDGE_DATA_OR_SKIP(path, "engine-cases/cases.json");
  const auto cases = nlohmann::json::parse(testing::ReadFile(path));
  int rows = 0;
  for (const auto& item : cases) {
    if (item["id"] != "file-bf16-conversion") continue;
    for (const auto& row : item["expected"]["f32_to_bf16"]) {
      const auto from = std::stoul(row["f32"].get<std::string>(), nullptr, 16);
      const auto want = std::stoul(row["bf16"].get<std::string>(), nullptr, 16);
      const float value = std::bit_cast<float>(static_cast<std::uint32_t>(from));
      const std::uint16_t got = FloatToBFloat16(value);
      // Any quiet NaN will do.
      EXPECT_TRUE(got == want || (std::isnan(value) && (got & 0x7fc0) == 0x7fc0)) << row;
      ++rows;
    }
    for (const auto& row : item["expected"]["bf16_to_f32"]) {
      const auto from = std::stoul(row["bf16"].get<std::string>(), nullptr, 16);
      const auto want = std::stoul(row["f32"].get<std::string>(), nullptr, 16);
      EXPECT_EQ(Bits(BFloat16ToFloat(static_cast<std::uint16_t>(from))), want) << row;
      ++rows;
    }
  }
  EXPECT_EQ(rows, 30);
}

TEST(TensorTypes, NamesAndNumbersGoBothWays) {
  for (const TensorType type : kBlockTypes) {
    EXPECT_EQ(TensorTypeFromGguf(GgufTypeId(type)), type);
    EXPECT_EQ(GgufTypeName(GgufTypeId(type)), ToString(type));
  }
  EXPECT_EQ(TensorTypeFromGguf(16), std::nullopt);
  EXPECT_EQ(GgufTypeName(16), "IQ2_XXS");
  EXPECT_EQ(GgufTypeName(4711), "type 4711");
}

}  // namespace
}  // namespace adjudge
