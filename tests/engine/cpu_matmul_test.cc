#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/kernels.h"
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
using testing::SumTolerance;

// Columns that suit a type: around a vector, odd, prime and real widths.
std::vector<std::int64_t> ColumnsFor(TensorType type) {
  switch (BlockElements(type)) {
    case 1:
      return {1, 3, 7, 8, 9, 15, 16, 17, 31, 97, 576};
    case 32:
      return {32, 64, 96, 576, 1536};
    default:
      return {256, 768, 2048};
  }
}

class CpuMatMul : public ::testing::TestWithParam<CpuIsa> {};

TEST_P(CpuMatMul, EqualsTheExactSumWithinItsBoundForEveryTypeAndSize) {
  const auto backend = Cpu(GetParam());
  for (TensorType type : AllTensorTypes()) {
    for (std::int64_t cols : ColumnsFor(type)) {
      for (std::int64_t rows : {1, 3, 4, 5, 8, 13, 67}) {
        SCOPED_TRACE(std::string(ToString(type)) + " " + std::to_string(rows) + " x " +
                     std::to_string(cols));
        const RandomWeight weight(static_cast<std::uint64_t>(rows * 7 + cols), type, rows, cols);
        const auto packed = PackOne(*backend, weight);
        EXPECT_EQ(packed->rows(), rows);
        EXPECT_EQ(packed->cols(), cols);
        const int n = 7;
        const auto x = RandomFloats(5, n * cols);
        const auto out = MatMul(*backend, *packed, x);
        double worst = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          const auto row = weight.Row(r);
          for (int i = 0; i < n; ++i) {
            double sum = 0;
            double magnitude = 0;
            for (std::int64_t c = 0; c < cols; ++c) {
              const double product = static_cast<double>(row[static_cast<std::size_t>(c)]) *
                                     static_cast<double>(x[static_cast<std::size_t>(i * cols + c)]);
              sum += product;
              magnitude += std::abs(product);
            }
            const double got = out[static_cast<std::size_t>(i * rows + r)];
            const double off = std::abs(got - sum) / SumTolerance(cols, magnitude + 1e-30);
            worst = std::isnan(off) ? off : std::max(worst, off);
          }
        }
        EXPECT_LE(worst, 1.0);
      }
    }
  }
}

TEST_P(CpuMatMul, AgreesWithTheReferenceBackendWithBias) {
  const auto backend = Cpu(GetParam());
  const auto reference = testing::Reference();
  for (TensorType type : AllTensorTypes()) {
    const RandomWeight weight(3, type, 50, 512);
    const auto bias = RandomFloats(9, 50);
    const auto x = RandomFloats(4, 3 * 512);
    const auto ours = MatMul(*backend, *PackOne(*backend, weight), x, bias);
    const auto theirs = MatMul(*reference, *PackOne(*reference, weight), x, bias);
    EXPECT_LE(testing::WorstRelative(ours, theirs, 1.0), SumTolerance(512, 50.0)) << ToString(type);
  }
}

// One row's bits are the same in any company: n from 1 to 9 and 64, any number of threads.
TEST_P(CpuMatMul, BitsDoNotDependOnTheNumberOfRowsOrThreads) {
  for (TensorType type : AllTensorTypes()) {
    const std::int64_t cols = BlockElements(type) == 1 ? 333 : 512;
    const std::int64_t rows = 203;
    const RandomWeight weight(11, type, rows, cols);
    const auto x = RandomFloats(12, 64 * cols);
    std::vector<float> expected;
    for (int threads : {1, 2, 3, 7}) {
      const auto backend = Cpu(GetParam(), threads);
      const auto packed = PackOne(*backend, weight);
      for (int n : {64, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
        const auto out = MatMul(*backend, *packed, {x.begin(), x.begin() + n * cols});
        if (expected.empty()) expected = out;
        const std::vector<float> want(expected.begin(), expected.begin() + n * rows);
        ASSERT_EQ(FirstDifference(out, want), "")
            << ToString(type) << " n " << n << " threads " << threads;
      }
    }
  }
}

TEST_P(CpuMatMul, ChosenRowsHaveTheBitsOfAllRows) {
  const auto backend = Cpu(GetParam(), 3);
  for (TensorType type : AllTensorTypes()) {
    const std::int64_t cols = BlockElements(type) == 1 ? 333 : 512;
    const RandomWeight weight(11, type, 203, cols);
    const auto packed = PackOne(*backend, weight);
    for (int n : {1, 5, 9}) {
      const auto x = RandomFloats(12, n * cols);
      const auto all = MatMul(*backend, *packed, x);
      for (const std::vector<int>& ids :
           {std::vector<int>{}, {202}, {0, 202, 7, 7}, {5, 4, 3, 2, 1, 0, 100, 150, 199}}) {
        std::vector<float> out(static_cast<std::size_t>(n) * ids.size(), NAN);
        backend->MatMulRows(*packed, ids, x.data(), n, out.data());
        std::vector<float> want;
        for (int i = 0; i < n; ++i) {
          for (int id : ids) want.push_back(all[static_cast<std::size_t>(i * 203 + id)]);
        }
        ASSERT_EQ(FirstDifference(out, want), "") << ToString(type) << " n " << n;
      }
    }
  }
}

TEST_P(CpuMatMul, StackedWeightsOfUnlikeTypesAreOneMatrix) {
  const RandomWeight a(1, TensorType::kQ4_1, 61, 256);
  const RandomWeight b(2, TensorType::kQ6_K, 7, 256);
  const RandomWeight c(3, TensorType::kF32, 40, 256);
  const auto x = RandomFloats(4, 5 * 256);
  const auto backend = Cpu(GetParam(), 3);
  const std::vector<TensorView> views = {a.view(), b.view(), c.view()};
  const auto stacked = backend->Pack(views);
  ASSERT_TRUE(stacked.has_value());
  EXPECT_EQ((*stacked)->rows(), 108);
  const auto out = MatMul(*backend, **stacked, x);
  std::vector<float> want(out.size());
  std::int64_t first = 0;
  for (const RandomWeight* part : {&a, &b, &c}) {
    const auto alone = MatMul(*backend, *PackOne(*backend, *part), x);
    for (int i = 0; i < 5; ++i) {
      for (std::int64_t r = 0; r < part->rows; ++r) {
        want[static_cast<std::size_t>(i * 108 + first + r)] =
            alone[static_cast<std::size_t>(i * part->rows + r)];
      }
    }
    first += part->rows;
  }
  EXPECT_EQ(FirstDifference(out, want), "");
}

TEST_P(CpuMatMul, EmbeddedRowsAreTheDefinitionToTheBit) {
  const auto backend = Cpu(GetParam(), 2);
  for (TensorType type : AllTensorTypes()) {
    for (std::int64_t cols : ColumnsFor(type)) {
      const RandomWeight weight(21, type, 9, cols);
      const auto packed = PackOne(*backend, weight);
      const std::vector<int> ids = {8, 0, 3, 3};
      for (float scale : {1.0f, 1.7f}) {
        std::vector<float> out(ids.size() * static_cast<std::size_t>(cols), NAN);
        backend->Embed(*packed, ids, scale, out.data());
        std::vector<float> want;
        for (int id : ids) {
          for (float x : weight.Row(id)) want.push_back(x * scale);
        }
        ASSERT_EQ(FirstDifference(out, want), "") << ToString(type) << " " << cols;
      }
    }
  }
}

// Subnormals, zeros, infinities: all 65,536 patterns. A NaN stays a NaN.
TEST_P(CpuMatMul, EveryHalfPrecisionNumberDecodesToTheBit) {
  std::vector<std::uint16_t> patterns(1 << 16);
  std::iota(patterns.begin(), patterns.end(), std::uint16_t{0});
  for (TensorType type : {TensorType::kF16, TensorType::kBF16}) {
    const auto* data = reinterpret_cast<const std::byte*>(patterns.data());
    std::vector<float> out(1 << 16);
    KernelsFor(GetParam()).decode[static_cast<int>(type)](data, 1 << 16, out.data());
    std::vector<float> want(1 << 16);
    Dequantize(type, data, 1 << 16, want.data());
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(std::isnan(out[i]), std::isnan(want[i])) << i;
      if (std::isnan(want[i])) out[i] = want[i];
    }
    EXPECT_EQ(FirstDifference(out, want), "") << ToString(type);
  }
}

TEST_P(CpuMatMul, PackKeepsTheFilesSizeAndRefusesUnlikeWidths) {
  const auto backend = Cpu(GetParam());
  const RandomWeight a(1, TensorType::kQ4_1, 64, 256);
  EXPECT_EQ(PackOne(*backend, a)->bytes(), static_cast<std::int64_t>(a.bytes.size()));
  const RandomWeight b(1, TensorType::kQ4_1, 64, 128);
  const std::vector<TensorView> unlike = {a.view(), b.view()};
  EXPECT_FALSE(backend->Pack(unlike).has_value());
  TensorView ragged = a.view();
  ragged.cols = 255;
  EXPECT_FALSE(backend->Pack({&ragged, 1}).has_value());
}

INSTANTIATE_TEST_SUITE_P(Isa, CpuMatMul, ::testing::ValuesIn(AvailableIsas()),
                         [](const auto& isa) { return testing::NameOf(isa.param); });

}  // namespace
}  // namespace adjudge
