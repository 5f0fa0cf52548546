// The integer path of the CPU backend: packed tiles against the formats' definition, its products
// against a scalar twin to the bit, and what rounding activations costs on golden decisions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/cpu/kernels.h"
#include "engine/cpu/quant_format.h"
#include "engine/cpu/quant_tiles.h"
#include "engine/model/dequantize.h"
#include "tests/testing/backend_twin.h"

namespace adjudge {
namespace {

using testing::AllTensorTypes;
using testing::Cpu;
using testing::FirstDifference;
using testing::MatMul;
using testing::PackOne;
using testing::RandomFloats;
using testing::RandomWeight;
using testing::ShiftedFloats;

std::vector<TensorType> BlockTypes() {
  std::vector<TensorType> types;
  for (TensorType type : AllTensorTypes()) {
    if (QuantFormatOf(type)) types.push_back(type);
  }
  return types;
}

std::vector<std::int64_t> ColumnsFor(TensorType type) {
  return BlockElements(type) == 32 ? std::vector<std::int64_t>{32, 96, 576, 1536}
                                   : std::vector<std::int64_t>{256, 768};
}

std::vector<std::byte> PackTile(const QuantTileLayout& layout, const RandomWeight& weight) {
  std::vector<std::byte> tile(static_cast<std::size_t>(layout.tile_bytes()));
  layout.Pack(weight.type, weight.bytes.data(), TensorBytes(weight.type, weight.cols),
              static_cast<int>(weight.rows), tile.data());
  return tile;
}

TEST(QuantTiles, RowsUnpackToTheDefinitionToTheBit) {
  for (TensorType type : BlockTypes()) {
    for (std::int64_t cols : ColumnsFor(type)) {
      for (int rows : {1, 7, 16}) {
        const RandomWeight weight(static_cast<std::uint64_t>(cols + rows), type, rows, cols);
        const QuantTileLayout layout(*QuantFormatOf(type), cols);
        const auto tile = PackTile(layout, weight);
        std::vector<float> out(static_cast<std::size_t>(cols));
        for (int r = 0; r < rows; ++r) {
          layout.UnpackRow(tile.data(), r, out.data());
          ASSERT_EQ(FirstDifference(out, weight.Row(r)), "") << ToString(type) << " " << cols;
        }
        std::vector<std::byte> copy(tile.size(), std::byte{0xAB});
        layout.CopyRow(tile.data(), rows - 1, copy.data(), 3);
        layout.UnpackRow(copy.data(), 3, out.data());
        ASSERT_EQ(FirstDifference(out, weight.Row(rows - 1)), "") << ToString(type);
      }
    }
  }
}

TEST(PrecisionNames, ReadBackAndRefuseOthers) {
  for (const Precision p : {Precision::kFast, Precision::kDefault, Precision::kExact}) {
    EXPECT_EQ(ParsePrecision(ToString(p)).value(), p);
  }
  for (const char* unknown : {"", "Fast", "float32"}) {
    const auto precision = ParsePrecision(unknown);
    ASSERT_FALSE(precision) << unknown;
    EXPECT_NE(precision.error().message.find("fast, default, exact"), std::string::npos);
  }
}

struct Setting {
  CpuIsa isa;
  Precision precision;
};

std::vector<Setting> Settings() {
  std::vector<Setting> settings;
  for (CpuIsa isa : AvailableIsas()) {
    settings.push_back({isa, Precision::kDefault});
    settings.push_back({isa, Precision::kFast});
  }
  return settings;
}

bool HasBytes(const Setting& setting) {
  return setting.precision == Precision::kFast && KernelsFor(setting.isa).bytes.of[0][0].group > 0;
}

std::string NameOf(const ::testing::TestParamInfo<Setting>& row) {
  return testing::NameOf(row.param.isa) + "_" + std::string(ToString(row.param.precision));
}

// One row of activations, element by element.
struct TwinRow {
  std::vector<std::int64_t> quants;
  std::vector<float> scales;  // a block of 32
};

TwinRow QuantizeTwin(const float* x, std::int64_t n, float most) {
  TwinRow row;
  for (std::int64_t b = 0; b < n; b += 32) {
    float greatest = 0;
    for (int i = 0; i < 32; ++i) greatest = std::max(greatest, std::fabs(x[b + i]));
    const float factor = greatest == 0 ? 0.0f : most / greatest;
    for (int i = 0; i < 32; ++i)
      row.quants.push_back(std::llrint(std::nearbyint(x[b + i] * factor)));
    row.scales.push_back(greatest / most);
  }
  return row;
}

float MultiplyAdd(const Setting& setting, float a, float b, float c) {
  return setting.isa == CpuIsa::kBaseline ? a * b + c : std::fma(a, b, c);
}

float ScaleOf(const QuantFormat& format, const QuantBlock32& block, int s) {
  if (!format.bytes) return HalfToFloat(block.scales[s]);
  const int byte = format.has_offsets ? block.scales[s] : static_cast<std::int8_t>(block.scales[s]);
  return HalfToFloat(block.over_scales) * static_cast<float>(byte);
}

float OffsetOf(const QuantFormat& format, const QuantBlock32& block, int s) {
  if (!format.bytes) return HalfToFloat(block.offsets[s]);
  return -(HalfToFloat(block.over_offsets) * static_cast<float>(block.offsets[s]));
}

float DotTwin(const Setting& setting, const RandomWeight& weight, std::int64_t r,
              const TwinRow& x) {
  const QuantFormat format = *QuantFormatOf(weight.type);
  const std::byte* row = weight.bytes.data() + TensorBytes(weight.type, weight.cols) * r;
  float total = 0;
  for (std::int64_t b = 0; b < weight.cols / 32; ++b) {
    QuantBlock32 block;
    LoadQuantBlock(weight.type, row, b, &block);
    const float x_scale = x.scales[static_cast<std::size_t>(b)];
    for (int s = 0; s < 32 / format.block; ++s) {
      const float scale = ScaleOf(format, block, s);
      std::int64_t products = 0;
      std::int64_t sum = 0;
      for (int i = s * format.block; i < (s + 1) * format.block; ++i) {
        const std::int64_t q = x.quants[static_cast<std::size_t>(b * 32 + i)];
        products += q * (block.quants[i] - format.centre());
        sum += q;
      }
      total = MultiplyAdd(setting, static_cast<float>(products), scale * x_scale, total);
      if (!format.has_offsets) continue;
      total = MultiplyAdd(setting, OffsetOf(format, block, s), x_scale * static_cast<float>(sum),
                          total);
    }
  }
  return total;
}

class CpuInt8 : public ::testing::TestWithParam<Setting> {
 protected:
  std::unique_ptr<Backend> Make(int threads = 2) const {
    return Cpu(GetParam().isa, threads, GetParam().precision);
  }
  // The largest integer of an activation.
  float MostWith(TensorType type) const {
    if (HasBytes(GetParam())) return 127.0f;
    return QuantFormatOf(type)->bits == 4 ? 2047.0f : 32767.0f;
  }
};

INSTANTIATE_TEST_SUITE_P(Isa, CpuInt8, ::testing::ValuesIn(Settings()), NameOf);

TEST_P(CpuInt8, ProductsEqualTheScalarTwinToTheBit) {
  const auto backend = Make();
  for (TensorType type : BlockTypes()) {
    for (std::int64_t cols : ColumnsFor(type)) {
      for (std::int64_t rows : {1, 15, 16, 17, 33, 67}) {
        SCOPED_TRACE(std::string(ToString(type)) + " " + std::to_string(rows) + " x " +
                     std::to_string(cols));
        const RandomWeight weight(static_cast<std::uint64_t>(rows * 7 + cols), type, rows, cols);
        const int n = 9;  // as many as go to a matrix unit, and fewer than it takes at once
        const auto x = RandomFloats(5, n * cols);
        const auto out = MatMul(*backend, *PackOne(*backend, weight), x);
        std::vector<float> want;
        for (int i = 0; i < n; ++i) {
          const TwinRow twin = QuantizeTwin(x.data() + i * cols, cols, MostWith(type));
          for (std::int64_t r = 0; r < rows; ++r) {
            want.push_back(DotTwin(GetParam(), weight, r, twin));
          }
        }
        ASSERT_EQ(FirstDifference(out, want), "");
      }
    }
  }
}

// Each activation is off by half a step of its block at most, and sums by what float sums are.
TEST_P(CpuInt8, ProductsLieWithinTheRoundingOfActivations) {
  const auto backend = Make();
  for (TensorType type : BlockTypes()) {
    const std::int64_t cols = 512;
    const std::int64_t rows = 50;
    const RandomWeight weight(3, type, rows, cols);
    const auto x = RandomFloats(4, cols);
    const auto bias = RandomFloats(9, rows);
    const auto out = MatMul(*backend, *PackOne(*backend, weight), x, bias);
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto row = weight.Row(r);
      double sum = static_cast<double>(bias[static_cast<std::size_t>(r)]);
      double allowed = 0;
      for (std::int64_t b = 0; b < cols; b += 32) {
        double greatest = 0;
        for (std::int64_t c = b; c < b + 32; ++c) {
          greatest =
              std::max(greatest, std::fabs(static_cast<double>(x[static_cast<std::size_t>(c)])));
        }
        for (std::int64_t c = b; c < b + 32; ++c) {
          const auto w = static_cast<double>(row[static_cast<std::size_t>(c)]);
          sum += w * static_cast<double>(x[static_cast<std::size_t>(c)]);
          allowed += std::fabs(w) * greatest * (0.5 / static_cast<double>(MostWith(type)) + 1e-5);
        }
      }
      ASSERT_NEAR(static_cast<double>(out[static_cast<std::size_t>(r)]), sum, allowed + 1e-5)
          << ToString(type);
    }
  }
}

TEST_P(CpuInt8, BitsDoNotDependOnTheNumberOfRowsOrThreads) {
  for (TensorType type : BlockTypes()) {
    const std::int64_t cols = 512;
    const std::int64_t rows = 203;
    const RandomWeight weight(11, type, rows, cols);
    const auto x = RandomFloats(12, 70 * cols);
    std::vector<float> expected;
    for (int threads : {1, 2, 3, 7}) {
      const auto backend = Make(threads);
      const auto packed = PackOne(*backend, weight);
      for (int n : {70, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 17, 33}) {
        const auto out = MatMul(*backend, *packed, {x.begin(), x.begin() + n * cols});
        if (expected.empty()) expected = out;
        const std::vector<float> want(expected.begin(), expected.begin() + n * rows);
        ASSERT_EQ(FirstDifference(out, want), "")
            << ToString(type) << " n " << n << " threads " << threads;
      }
    }
  }
}

// More rows than stay in the second-level cache at once: they go in chunks.
TEST_P(CpuInt8, BitsDoNotDependOnChunksOfManyRows) {
  const std::int64_t cols = 4096;
  const RandomWeight weight(11, TensorType::kQ4_1, 40, cols);
  const auto x = RandomFloats(12, 140 * cols);
  const auto backend = Make();
  const auto packed = PackOne(*backend, weight);
  const auto all = MatMul(*backend, *packed, x);
  for (int i = 0; i < 140; ++i) {
    const auto one = MatMul(*backend, *packed, {x.begin() + i * cols, x.begin() + (i + 1) * cols});
    const std::vector<float> want(all.begin() + i * 40, all.begin() + (i + 1) * 40);
    ASSERT_EQ(FirstDifference(one, want), "") << i;
  }
}

TEST_P(CpuInt8, ChosenRowsAndStackedTypesHaveTheBitsOfEachAlone) {
  const RandomWeight a(1, TensorType::kQ4_1, 61, 256);
  const RandomWeight b(2, TensorType::kQ6_K, 7, 256);
  const RandomWeight c(3, TensorType::kF32, 40, 256);
  const RandomWeight d(4, TensorType::kQ8_0, 90, 256);
  const std::vector<TensorView> views = {a.view(), b.view(), c.view(), d.view()};
  constexpr int kRows = 198;
  const auto bias = RandomFloats(8, kRows);
  for (int threads : {1, 2, 3, 5}) {
    const auto backend = Make(threads);
    const auto stacked = backend->Pack(views);
    ASSERT_TRUE(stacked.has_value());
    ASSERT_EQ((*stacked)->rows(), kRows);
    for (int n : {1, 5, 30}) {
      const auto x = RandomFloats(4, n * 256);
      const auto all = MatMul(*backend, **stacked, x);
      std::vector<float> want(all.size());
      std::int64_t first = 0;
      for (const RandomWeight* part : {&a, &b, &c, &d}) {
        const auto alone = MatMul(*backend, *PackOne(*backend, *part), x);
        for (int i = 0; i < n; ++i) {
          std::copy_n(alone.begin() + i * part->rows, part->rows, want.begin() + i * kRows + first);
        }
        first += part->rows;
      }
      ASSERT_EQ(FirstDifference(all, want), "") << n << " rows, " << threads << " threads";
      const auto with_bias = MatMul(*backend, **stacked, x, bias);
      for (std::size_t i = 0; i < want.size(); ++i) want[i] = all[i] + bias[i % kRows];
      ASSERT_EQ(FirstDifference(with_bias, want), "") << n << " rows, " << threads << " threads";
      for (const std::vector<int>& ids :
           {std::vector<int>{},
            {197},
            {0, 197, 61, 7, 7, 62, 67, 68, 107, 108},
            {5, 4, 3, 2, 1, 0, 100, 150, 110, 9, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}}) {
        std::vector<float> out(static_cast<std::size_t>(n) * ids.size(), NAN);
        backend->MatMulRows(**stacked, ids, x.data(), n, out.data());
        std::vector<float> chosen;
        for (int i = 0; i < n; ++i) {
          for (int id : ids) chosen.push_back(all[static_cast<std::size_t>(i * kRows + id)]);
        }
        ASSERT_EQ(FirstDifference(out, chosen), "") << n << " rows, " << threads << " threads";
      }
    }
  }
}

TEST_P(CpuInt8, EmbeddedRowsAreTheDefinitionToTheBit) {
  const auto backend = Make();
  for (TensorType type : BlockTypes()) {
    const RandomWeight weight(21, type, 19, 768);
    const auto packed = PackOne(*backend, weight);
    const std::vector<int> ids = {18, 0, 3, 16, 3};
    std::vector<float> out(ids.size() * 768, NAN);
    backend->Embed(*packed, ids, 1.7f, out.data());
    std::vector<float> want;
    for (int id : ids) {
      for (float x : weight.Row(id)) want.push_back(x * 1.7f);
    }
    ASSERT_EQ(FirstDifference(out, want), "") << ToString(type);
  }
}

TEST_P(CpuInt8, NotANumberAndInfinityShowInTheirRowAlone) {
  testing::ExpectNotFiniteInItsRowAlone(*Make(), TensorType::kQ4_1,
                                        {NAN, -NAN, INFINITY, -INFINITY});
}

TEST_P(CpuInt8, ZeroTinyAndHugeActivations) {
  const auto backend = Make();
  for (TensorType type : {TensorType::kQ8_0, TensorType::kQ4_1}) {
    const RandomWeight weight(2, type, 40, 96);
    const auto packed = PackOne(*backend, weight);
    const auto unit = RandomFloats(3, 96);
    const auto want = MatMul(*backend, *packed, unit);
    for (int exponent : {0, -200, -90, -30, 30, 110}) {  // -200 is zero
      auto x = unit;
      for (float& v : x) v = std::ldexp(v, exponent);
      const auto out = MatMul(*backend, *packed, x);
      for (std::size_t i = 0; i < out.size(); ++i) {
        ASSERT_EQ(out[i], exponent == -200 ? 0.0f : std::ldexp(want[i], exponent)) << exponent;
      }
    }
    // Subnormal: a few bits are left of it, and nothing overflows.
    const std::vector<float> least(96, 0x1p-140f);
    for (float v : MatMul(*backend, *packed, least)) ASSERT_LE(std::fabs(v), 0x1p-120f);
  }
}

TEST_P(CpuInt8, PackedSizeStaysWithinItsFactorOfTheFile) {
  const struct {
    TensorType type;
    double factor;
  } cases[] = {{TensorType::kQ8_0, 1.0},  {TensorType::kQ4_0, 1.0},  {TensorType::kQ4_1, 1.0},
               {TensorType::kQ5_0, 1.55}, {TensorType::kQ5_1, 1.5},  {TensorType::kQ2_K, 1.96},
               {TensorType::kQ3_K, 1.33}, {TensorType::kQ4_K, 1.04}, {TensorType::kQ5_K, 1.58},
               {TensorType::kQ6_K, 1.31}};
  const auto backend = Make();
  for (const auto& row : cases) {
    const RandomWeight weight(1, row.type, 64, 2048);
    EXPECT_LE(static_cast<double>(PackOne(*backend, weight)->bytes()),
              row.factor * static_cast<double>(weight.bytes.size()))
        << ToString(row.type);
  }
}

// The 16-bit products of all instruction sets with a fused multiply-add are one.
TEST(CpuInt8Isas, AgreeToTheBit) {
  const RandomWeight weight(11, TensorType::kQ4_1, 67, 576);
  const auto x = RandomFloats(12, 13 * 576);
  std::vector<float> expected;
  for (CpuIsa isa : AvailableIsas()) {
    if (isa == CpuIsa::kBaseline) continue;
    const auto backend = Cpu(isa, 2, Precision::kDefault);
    const auto out = MatMul(*backend, *PackOne(*backend, weight), x);
    if (expected.empty()) expected = out;
    EXPECT_EQ(FirstDifference(out, expected), "") << ToString(isa);
  }
}

}  // namespace
}  // namespace adjudge
