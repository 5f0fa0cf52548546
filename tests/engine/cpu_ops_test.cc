#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/cpu/kernels.h"
#include "tests/testing/backend_twin.h"

namespace adjudge {
namespace {

using testing::Cpu;
using testing::FirstDifference;
using testing::RandomFloats;
using testing::ShiftedFloats;
using testing::WorstRelative;

constexpr float kInf = std::numeric_limits<float>::infinity();
// Around a vector of each instruction set, odd, prime, real; large enough to be split.
const std::vector<int> kWidths = {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 97, 576, 1537};

class CpuOps : public ::testing::TestWithParam<CpuIsa> {
 protected:
  // Runs `op` on the reference and on the CPU backend with 1 and 3 threads: the latter two must
  // agree to the bit, and lie within `tolerance` of the former. `floor`: see WorstRelative.
  template <typename Op>
  void Twin(const Op& op, double tolerance, double floor, const std::string& what) {
    const auto want = op(*testing::Reference());
    const auto one = op(*Cpu(GetParam(), 1));
    EXPECT_LE(WorstRelative(one, want, floor), tolerance) << what;
    EXPECT_EQ(FirstDifference(op(*Cpu(GetParam(), 3)), one), "") << what;
  }
};

TEST_P(CpuOps, RmsNorm) {
  for (int width : kWidths) {
    for (int n : {0, 1, 3, 40}) {
      const auto x = RandomFloats(1, n * width, 3.0f);
      const auto gain = RandomFloats(2, width);
      Twin(
          [&](Backend& backend) {
            ShiftedFloats in(x);
            backend.RmsNorm(in.data(), gain, 1e-5f, n, in.data());
            return in.values();
          },
          testing::SumTolerance(width / 16 + 8, 1.0), 1e-30, std::to_string(width));
    }
  }
}

TEST_P(CpuOps, GatedActivations) {
  for (int width : kWidths) {
    for (int n : {0, 1, 3, 40}) {
      const auto x = RandomFloats(1, n * width * 2, 4.0f);
      for (Activation activation : {Activation::kSilu, Activation::kGeluTanh}) {
        Twin(
            [&](Backend& backend) {
              ShiftedFloats in(x, 3);
              ShiftedFloats out(std::vector<float>(static_cast<std::size_t>(n * width), NAN));
              backend.GatedActivation(in.data(), activation, n, width, out.data());
              return out.values();
            },
            // e^(-2u) carries the error of 2u, up to about 90.
            activation == Activation::kSilu ? 1e-6 : 2e-5, 1e-6, std::to_string(width));
      }
    }
  }
}

TEST_P(CpuOps, GatedActivationsFarOut) {
  // gate, then up
  const std::vector<float> x = {-1000, -100, -90, -0.0f, 0, 90, 100, 1000, 1, 1, 1, 1, 1, 1, 1, 1};
  for (Activation activation : {Activation::kSilu, Activation::kGeluTanh}) {
    Twin(
        [&](Backend& backend) {
          std::vector<float> out(8);
          backend.GatedActivation(x.data(), activation, 1, 8, out.data());
          return out;
        },
        1e-6, 1.0, "far out");
  }
}

TEST_P(CpuOps, Add) {
  for (int width : kWidths) {
    for (int n : {0, 1, 3, 40}) {
      const auto x = RandomFloats(1, n * width);
      const auto y = RandomFloats(2, n * width);
      Twin(
          [&](Backend& backend) {
            ShiftedFloats in(x);
            backend.Add(in.data(), y.data(), n, width);
            return in.values();
          },
          0, 1e-30, std::to_string(width));
    }
  }
}

TEST_P(CpuOps, GatherRows) {
  const auto x = RandomFloats(1, 10 * 17);
  for (const std::vector<int>& rows : {std::vector<int>{}, {9}, {3, 3, 0, 9}}) {
    Twin(
        [&](Backend& backend) {
          std::vector<float> out(rows.size() * 17, NAN);
          backend.GatherRows(x.data(), rows, 17, out.data());
          return out;
        },
        0, 1e-30, "gather");
  }
}

TEST_P(CpuOps, RopeOfBothPairingsAndPartOfAHead) {
  struct Shape {
    int n_heads, head_dim, rope_dim;
  };
  for (const Shape& s : {Shape{1, 2, 2}, Shape{3, 8, 8}, Shape{2, 16, 6}, Shape{9, 64, 64}}) {
    for (RopePairing pairing : {RopePairing::kHalfSplit, RopePairing::kInterleaved}) {
      for (int n : {0, 1, 70}) {
        const int stride = s.n_heads * s.head_dim + 5;
        const auto x = RandomFloats(1, n * stride);
        const auto cos = RandomFloats(2, n * s.rope_dim / 2);
        const auto sin = RandomFloats(3, n * s.rope_dim / 2);
        Twin(
            [&](Backend& backend) {
              ShiftedFloats in(x);
              backend.Rope(in.data(), n, stride, s.n_heads, s.head_dim, s.rope_dim, pairing,
                           {cos, sin});
              return in.values();
            },
            testing::SumTolerance(2, 1.0), 10.0, std::to_string(s.head_dim));
      }
    }
  }
}

TEST_P(CpuOps, LogSumExp) {
  for (int width : {1, 2, 3, 15, 16, 17, 97, 1024, 1025, 49152}) {
    for (int n : {0, 1, 3}) {
      auto x = RandomFloats(1, static_cast<std::int64_t>(n) * width, 8.0f);
      if (n == 3 && width > 1) x[1] = -kInf;
      const auto op = [&](Backend& backend) {
        std::vector<double> out(static_cast<std::size_t>(n));
        ShiftedFloats in(x);
        backend.LogSumExp(in.data(), n, width, out.data());
        return std::vector<float>(out.begin(), out.end());
      };
      Twin(op, 3e-7, 1.0, std::to_string(width));
    }
  }
  const std::vector<float> rows = {-kInf, -kInf, 1000, -1000, 1000, 1000};
  double out[3];
  Cpu(GetParam())->LogSumExp(rows.data(), 3, 2, out);
  EXPECT_EQ(out[0], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(out[1], 1000.0);
  EXPECT_NEAR(out[2], 1000.0 + std::log(2.0), 1e-6);
}

TEST_P(CpuOps, SoftCap) {
  for (int width : kWidths) {
    for (int n : {0, 1, 3, 40}) {
      auto x = RandomFloats(1, n * width, 30.0f);
      if (!x.empty()) x[0] = 1e30f;
      Twin(
          [&](Backend& backend) {
            ShiftedFloats in(x);
            backend.SoftCap(in.data(), n, width, 30.0f);
            return in.values();
          },
          3e-7, 30.0, std::to_string(width));
    }
  }
}

TEST_P(CpuOps, ExpStaysWithinItsBound) {
  const CpuKernels& kernels = KernelsFor(GetParam());
  std::vector<float> x;
  for (double v = -87.0; v <= 88.0; v += 0.000713) x.push_back(static_cast<float>(v));
  std::vector<float> y(x.size());
  kernels.exp(x.data(), static_cast<std::int64_t>(x.size()), y.data());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(static_cast<double>(x[i]));
    worst = std::max(worst, std::abs(static_cast<double>(y[i]) - exact) / exact);
  }
  EXPECT_LE(worst, 2 * 0x1p-23);
  const std::vector<float> edges = {0, -0.0f, -88, -1000, -kInf, 1000, kInf, NAN};
  std::vector<float> out(edges.size());
  kernels.exp(edges.data(), 8, out.data());
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_EQ(out[1], 1.0f);
  for (int i : {2, 3, 4}) EXPECT_EQ(out[static_cast<std::size_t>(i)], 0.0f);
  for (int i : {5, 6}) EXPECT_NEAR(out[static_cast<std::size_t>(i)] / 1.6516363e38f, 1.0f, 1e-6f);
  EXPECT_TRUE(std::isnan(out[7]));
}

INSTANTIATE_TEST_SUITE_P(Isa, CpuOps, ::testing::ValuesIn(AvailableIsas()),
                         [](const auto& isa) { return testing::NameOf(isa.param); });

}  // namespace
}  // namespace adjudge
