// What the tests of a fast backend share: random inputs, every variant of the CPU backend, and how
// far floats may lie from the reference.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend.h"
#include "engine/cpu/isa.h"
#include "engine/precision.h"

namespace adjudge::testing {

// Values in about [-3 scale, 3 scale].
std::vector<float> RandomFloats(std::uint64_t seed, std::int64_t n, float scale = 1.0f);

// A copy whose first element lies `shift` floats behind a 64-byte boundary.
class ShiftedFloats {
 public:
  explicit ShiftedFloats(const std::vector<float>& values, int shift = 1);
  float* data() { return storage_.data() + offset_; }
  std::vector<float> values() const;

 private:
  std::vector<float> storage_;
  std::size_t offset_ = 0;
  std::size_t size_ = 0;
};

// A matrix of random blocks whose scales are ordinary numbers (weights about `deviation`).
struct RandomWeight {
  RandomWeight(std::uint64_t seed, TensorType type, std::int64_t rows, std::int64_t cols);
  TensorView view() const { return {type, rows, cols, bytes.data()}; }
  std::vector<float> Row(std::int64_t row) const;  // by Dequantize
  TensorType type;
  std::int64_t rows;
  std::int64_t cols;
  std::vector<std::byte> bytes;
};

const std::vector<TensorType>& AllTensorTypes();

// In names of tests, which have no dashes.
std::string NameOf(CpuIsa isa);

std::unique_ptr<Backend> Reference();
std::unique_ptr<Backend> Cpu(CpuIsa isa, int threads = 2, Precision precision = Precision::kExact);

// The weight in the backend's layout.
std::unique_ptr<PackedWeight> PackOne(Backend& backend, const RandomWeight& weight);

// x . weight (+ bias) for rows x, with input and output off any vector's alignment. The output is
// filled with NaN before. x: [n, cols], result: [n, rows]
std::vector<float> MatMul(Backend& backend, const PackedWeight& weight, std::vector<float> x,
                          const std::vector<float>& bias = {});

// What is not finite in a row of x is seen in that row of x . weight, wherever in it it stands, and
// in no other. The weight is a random one of 40 rows and 96 columns.
void ExpectNotFiniteInItsRowAlone(Backend& backend, TensorType type, const std::vector<float>& bad);

// How far a float sum of n products may lie from the exact one: each addend is rounded at most once
// as a product and n times as part of a sum, each time by half a unit of 2^-23. `magnitude` is the
// sum of the products' absolute values. One more unit for the reference's own float result.
double SumTolerance(std::int64_t n, double magnitude);

// The worst |a - b| / (|b| + floor).
double WorstRelative(const std::vector<float>& a, const std::vector<float>& b, double floor);

// "" when equal to the bit (NaN included), else the first index that differs and both values.
std::string FirstDifference(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace adjudge::testing
