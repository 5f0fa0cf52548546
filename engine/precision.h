// Precision: how the CPU backend rounds activations before it multiplies them with weights of block
// formats.
#pragma once

#include <string_view>

#include "engine/base/result.h"

namespace adjudge {

// Sums within a block of 32 are exact in all of them. What no block format is part of is float32,
// but on a matrix unit: there attention's values and weights of BF16 take numbers of 8 bits (kFast)
// or 16 (kDefault), and its scores 16. Weights of F32 and F16 and norms are float32 always.
enum class Precision {
  kFast,     // 8-bit integers a block of 32; computed as kDefault where the machine multiplies no
             // bytes
  kDefault,  // integers a block of 32: of 12 bits with weights of 4 bits, of 16 with weights of 8
  kExact,    // not at all: float32
};

Result<Precision> ParsePrecision(std::string_view name);
std::string_view ToString(Precision precision);  // fast, default, exact

}  // namespace adjudge
