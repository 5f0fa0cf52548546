// Weights of bfloat16 in every precision: against the reference, and bits that depend on a row
// alone.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "engine/cpu/bf16_tiles.h"
#include "engine/cpu/kernels.h"
#include "tests/testing/backend_twin.h"

namespace adjudge {
namespace {

using testing::Cpu;
using testing::FirstDifference;
using testing::MatMul;
using testing::PackOne;
using testing::RandomFloats;
using testing::RandomWeight;

struct Setting {
  CpuIsa isa;
  Precision precision;
};

class CpuBf16 : public ::testing::TestWithParam<Setting> {
 protected:
  std::unique_ptr<Backend> Make(int threads) const {
    return Cpu(GetParam().isa, threads, GetParam().precision);
  }
  // Of a rounded activation; none but on a matrix unit.
  double relative() const {
    if (KernelsFor(GetParam().isa).bf16[0].dots == nullptr) return 0;
    return GetParam().precision == Precision::kFast      ? 0x1p-8
           : GetParam().precision == Precision::kDefault ? 0x1p-16
                                                         : 0;
  }
};

std::vector<Setting> Settings() {
  std::vector<Setting> settings;
  for (CpuIsa isa : AvailableIsas()) {
    for (Precision p : {Precision::kFast, Precision::kDefault, Precision::kExact}) {
      settings.push_back({isa, p});
    }
  }
  return settings;
}

INSTANTIATE_TEST_SUITE_P(Isa, CpuBf16, ::testing::ValuesIn(Settings()), [](const auto& row) {
  return testing::NameOf(row.param.isa) + "_" + std::string(ToString(row.param.precision));
});

// The nearest bfloat16 number, ties away from zero, of an ordinary number.
float Nearest(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  bits = (bits + 0x8000) & 0xFFFF0000u;
  std::memcpy(&x, &bits, 4);
  return x;
}

float At(const float* p, std::int64_t i, std::int64_t n) { return i < n ? p[i] : 0.0f; }

// What TDPBF16PS (a matrix unit), 32 columns and a part of x at a time, and VDPBF16PS, a pair and a
// part at a time, are defined to do: the first sums even and odd columns apart, the second adds a
// pair's odd product and then its even one. Products of bfloat16 numbers are exact in float32.
float DotTwin(bool matrix_unit, const std::vector<float>& weight, const float* x, int n_parts) {
  const std::int64_t cols = std::ssize(weight);
  const std::int64_t step = matrix_unit ? 32 : 2;
  float total = 0;
  for (std::int64_t c = 0; c < cols; c += step) {
    float left[32];
    for (int i = 0; i < step; ++i) left[i] = At(x, c + i, cols);
    for (int part = 0; part < n_parts; ++part) {
      float sums[2] = {};
      for (int i = 0; i < step; i += 2) {
        float products[2];
        for (int j = 0; j < 2; ++j) {
          const float nearest = Nearest(left[i + j]);
          products[j] = nearest * At(weight.data(), c + i + j, cols);
          left[i + j] -= nearest;
        }
        if (matrix_unit) {
          sums[0] += products[0];
          sums[1] += products[1];
        } else {
          total = total + products[1] + products[0];
        }
      }
      if (matrix_unit) total += sums[0] + sums[1];
    }
  }
  return total;
}

TEST_P(CpuBf16, ProductsOfAUnitEqualTheScalarTwinToTheBit) {
  if (relative() == 0) GTEST_SKIP() << "float32";
  const auto backend = Make(2);
  const int n_parts = GetParam().precision == Precision::kFast ? 1 : 2;
  for (std::int64_t cols : {1, 31, 32, 33, 100, 576, 1536}) {
    for (std::int64_t rows : {1, 15, 16, 17, 33, 67}) {
      const RandomWeight weight(static_cast<std::uint64_t>(rows * 7 + cols), TensorType::kBF16,
                                rows, cols);
      const int n = 19;
      const auto x = RandomFloats(5, n * cols);
      const auto out = MatMul(*backend, *PackOne(*backend, weight), x);
      std::vector<float> want;
      for (int i = 0; i < n; ++i) {
        for (std::int64_t r = 0; r < rows; ++r) {
          want.push_back(
              DotTwin(GetParam().isa == CpuIsa::kAmx, weight.Row(r), x.data() + i * cols, n_parts));
        }
      }
      ASSERT_EQ(FirstDifference(out, want), "") << rows << " x " << cols;
    }
  }
}

TEST_P(CpuBf16, NotANumberAndInfinityShowInTheirRowAlone) {
  float all_ones;
  std::memset(&all_ones, 0xFF, sizeof all_ones);  // a NaN too
  testing::ExpectNotFiniteInItsRowAlone(*Make(2), TensorType::kBF16,
                                        {NAN, -NAN, all_ones, -all_ones, INFINITY, -INFINITY});
}

TEST_P(CpuBf16, ProductsLieWithinTheRoundingOfActivations) {
  const auto backend = Make(2);
  for (std::int64_t cols : {1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 64, 576}) {
    for (std::int64_t rows : {1, 15, 16, 17, 32, 33, 67}) {
      const RandomWeight weight(static_cast<std::uint64_t>(rows * 7 + cols), TensorType::kBF16,
                                rows, cols);
      const auto packed = PackOne(*backend, weight);
      const int n = 35;
      const auto x = RandomFloats(5, n * cols);
      const auto out = MatMul(*backend, *packed, x);
      for (int i = 0; i < n; ++i) {
        for (std::int64_t r = 0; r < rows; ++r) {
          const auto row = weight.Row(r);
          double sum = 0;
          double magnitude = 0;
          for (std::int64_t c = 0; c < cols; ++c) {
            const double product = static_cast<double>(row[static_cast<std::size_t>(c)]) *
                                   static_cast<double>(x[static_cast<std::size_t>(i * cols + c)]);
            sum += product;
            magnitude += std::fabs(product);
          }
          ASSERT_NEAR(static_cast<double>(out[static_cast<std::size_t>(i * rows + r)]), sum,
                      testing::SumTolerance(cols, magnitude) + relative() * magnitude)
              << rows << " x " << cols << ", row " << i;
        }
      }
    }
  }
}

TEST_P(CpuBf16, BitsDependOnTheRowAlone) {
  const std::int64_t cols = 544;
  const std::int64_t rows = 203;
  const RandomWeight weight(11, TensorType::kBF16, rows, cols);
  const auto x = RandomFloats(12, 70 * cols);
  std::vector<float> expected;
  for (int threads : {1, 2, 3, 7}) {
    const auto backend = Make(threads);
    const auto packed = PackOne(*backend, weight);
    for (int n : {70, 1, 2, 15, 16, 17, 31, 32, 33}) {
      const auto out = MatMul(*backend, *packed, {x.begin(), x.begin() + n * cols});
      if (expected.empty()) expected = out;
      ASSERT_EQ(FirstDifference(out, {expected.begin(), expected.begin() + n * rows}), "")
          << n << " rows, " << threads << " threads";
      const std::vector<int> ids = {202, 0, 7, 7, 16, 17, 100, 150, 199, 15};
      std::vector<float> chosen(static_cast<std::size_t>(n) * ids.size(), NAN);
      backend->MatMulRows(*packed, ids, x.data(), n, chosen.data());
      for (int i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < ids.size(); ++k) {
          ASSERT_EQ(chosen[static_cast<std::size_t>(i) * ids.size() + k],
                    expected[static_cast<std::size_t>(i * rows + ids[k])]);
        }
      }
    }
  }
}

TEST_P(CpuBf16, EmbeddedRowsAreTheFilesToTheBit) {
  const auto backend = Make(2);
  for (std::int64_t cols : {1, 31, 32, 96}) {
    const RandomWeight weight(21, TensorType::kBF16, 19, cols);
    const auto packed = PackOne(*backend, weight);
    const std::vector<int> ids = {18, 0, 3, 16, 3};
    std::vector<float> out(ids.size() * static_cast<std::size_t>(cols), NAN);
    backend->Embed(*packed, ids, 1.0f, out.data());
    std::vector<float> want;
    for (int id : ids) {
      for (float x : weight.Row(id)) want.push_back(x);
    }
    ASSERT_EQ(FirstDifference(out, want), "") << cols;
  }
}

TEST_P(CpuBf16, TheFilesSizeIsKept) {
  const RandomWeight weight(1, TensorType::kBF16, 64, 576);
  EXPECT_EQ(PackOne(*Make(1), weight)->bytes(), static_cast<std::int64_t>(weight.bytes.size()));
}

}  // namespace
}  // namespace adjudge
