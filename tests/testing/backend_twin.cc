#include "tests/testing/backend_twin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

#include "engine/base/check.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/model/dequantize.h"
#include "engine/reference/reference_backend.h"

namespace adjudge::testing {
namespace {

std::uint16_t FloatToHalf(float value) {  // ordinary numbers only
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const std::uint32_t exponent = (bits >> 23 & 255) - 112;
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | exponent << 10 | (bits >> 13 & 0x3FF));
}

// Where a block's float16 fields lie and about how large they should be for weights near 0.1.
struct HalfField {
  int offset;
  float size;
};

std::vector<HalfField> HalfFields(TensorType type) {
  switch (type) {
    case TensorType::kQ8_0:
      return {{0, 0.0014f}};
    case TensorType::kQ4_0:
      return {{0, 0.02f}};
    case TensorType::kQ4_1:
      return {{0, 0.02f}, {2, -0.16f}};
    case TensorType::kQ5_0:
      return {{0, 0.01f}};
    case TensorType::kQ5_1:
      return {{0, 0.01f}, {2, -0.16f}};
    case TensorType::kQ2_K:
      return {{80, 0.01f}, {82, 0.015f}};
    case TensorType::kQ3_K:
      return {{108, 0.0025f}};
    case TensorType::kQ4_K:
      return {{0, 0.0007f}, {2, 0.005f}};
    case TensorType::kQ5_K:
      return {{0, 0.00035f}, {2, 0.005f}};
    case TensorType::kQ6_K:
      return {{208, 0.00007f}};
    default:
      return {};
  }
}

void StoreHalf(std::byte* at, float value) {
  const std::uint16_t half = FloatToHalf(value);
  std::memcpy(at, &half, 2);
}

}  // namespace

std::vector<float> RandomFloats(std::uint64_t seed, std::int64_t n, float scale) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0.0f, scale);
  std::vector<float> out(static_cast<std::size_t>(n));
  for (float& x : out) x = normal(random);
  return out;
}

ShiftedFloats::ShiftedFloats(const std::vector<float>& values, int shift)
    : storage_(values.size() + 64), size_(values.size()) {
  const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
  offset_ = (64 - address % 64) % 64 / sizeof(float) + static_cast<std::size_t>(shift);
  std::copy(values.begin(), values.end(), data());
}

std::vector<float> ShiftedFloats::values() const {
  const float* begin = storage_.data() + offset_;
  return {begin, begin + size_};
}

RandomWeight::RandomWeight(std::uint64_t seed, TensorType t, std::int64_t n_rows,
                           std::int64_t n_cols)
    : type(t), rows(n_rows), cols(n_cols) {
  std::mt19937_64 random(seed);
  bytes.resize(static_cast<std::size_t>(TensorBytes(type, rows * cols)));
  if (type == TensorType::kF32 || type == TensorType::kF16 || type == TensorType::kBF16) {
    const std::vector<float> values = RandomFloats(seed, rows * cols, 0.1f);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (type == TensorType::kF32) {
        std::memcpy(bytes.data() + 4 * i, &values[i], 4);
      } else if (type == TensorType::kBF16) {
        const std::uint16_t bits = FloatToBFloat16(values[i]);
        std::memcpy(bytes.data() + 2 * i, &bits, 2);
      } else {
        StoreHalf(bytes.data() + 2 * i, std::abs(values[i]) < 1e-4f ? 0.01f : values[i]);
      }
    }
    return;
  }
  for (std::byte& b : bytes) b = static_cast<std::byte>(random() & 255);
  std::uniform_real_distribution<float> spread(0.5f, 1.5f);
  const auto block = static_cast<std::size_t>(BlockBytes(type));
  for (std::size_t at = 0; at < bytes.size(); at += block) {
    for (const HalfField& field : HalfFields(type)) {
      StoreHalf(bytes.data() + at + field.offset, field.size * spread(random));
    }
  }
}

std::vector<float> RandomWeight::Row(std::int64_t row) const {
  std::vector<float> out(static_cast<std::size_t>(cols));
  Dequantize(type, bytes.data() + TensorBytes(type, cols) * row, cols, out.data());
  return out;
}

const std::vector<TensorType>& AllTensorTypes() {
  static const std::vector<TensorType> types = {
      TensorType::kF32,  TensorType::kF16,  TensorType::kBF16, TensorType::kQ8_0, TensorType::kQ4_0,
      TensorType::kQ4_1, TensorType::kQ5_0, TensorType::kQ5_1, TensorType::kQ2_K, TensorType::kQ3_K,
      TensorType::kQ4_K, TensorType::kQ5_K, TensorType::kQ6_K};
  return types;
}

std::string NameOf(CpuIsa isa) {
  std::string name(ToString(isa));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::unique_ptr<Backend> Reference() { return NewReferenceBackend(1); }

std::unique_ptr<Backend> Cpu(CpuIsa isa, int threads, Precision precision) {
  auto backend = NewCpuBackend({.threads = threads, .isa = isa, .precision = precision});
  ADJUDGE_CHECK(backend.has_value());
  return std::move(*backend);
}

std::unique_ptr<PackedWeight> PackOne(Backend& backend, const RandomWeight& weight) {
  const TensorView view = weight.view();
  auto packed = backend.Pack({&view, 1});
  ADJUDGE_CHECK(packed.has_value());
  return std::move(*packed);
}

std::vector<float> MatMul(Backend& backend, const PackedWeight& weight, std::vector<float> x,
                          const std::vector<float>& bias) {
  const auto n = static_cast<std::int64_t>(x.size()) / weight.cols();
  ShiftedFloats in(x, 1);
  ShiftedFloats out(std::vector<float>(static_cast<std::size_t>(n * weight.rows()), NAN), 3);
  backend.MatMul(weight, in.data(), static_cast<int>(n), bias, out.data());
  return out.values();
}

void ExpectNotFiniteInItsRowAlone(Backend& backend, TensorType type,
                                  const std::vector<float>& bad) {
  const RandomWeight weight(2, type, 40, 96);
  const auto packed = PackOne(backend, weight);
  const auto good = RandomFloats(3, 7 * 96);
  const auto want = MatMul(backend, *packed, good);
  for (const float value : bad) {
    for (const int at : {0, 15, 16, 31, 32, 95}) {
      auto x = good;
      x[static_cast<std::size_t>(2 * 96 + at)] = value;
      const auto out = MatMul(backend, *packed, x);
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (i / 40 == 2) {
          ASSERT_FALSE(std::isfinite(out[i])) << i;
        } else {
          ASSERT_EQ(out[i], want[i]) << i;
        }
      }
    }
  }
}

double SumTolerance(std::int64_t n, double magnitude) {
  return static_cast<double>(n + 2) * 0x1p-24 * magnitude;
}

double WorstRelative(const std::vector<float>& a, const std::vector<float>& b, double floor) {
  ADJUDGE_CHECK(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double exact = b[i];
    const double off = std::abs(static_cast<double>(a[i]) - exact) / (std::abs(exact) + floor);
    if (!(off <= worst)) worst = off;  // NaN too
  }
  return worst;
}

std::string FirstDifference(const std::vector<float>& a, const std::vector<float>& b) {
  std::ostringstream out;
  if (a.size() != b.size()) {
    out << "sizes " << a.size() << " and " << b.size();
    return out.str();
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], 4) == 0) continue;
    out.precision(9);
    out << "at " << i << ": " << a[i] << " and " << b[i];
    return out.str();
  }
  return "";
}

}  // namespace adjudge::testing
