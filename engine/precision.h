// Precision: how the CPU backend rounds activations before it multiplies them with weights of block
// formats.
#pragma once

#include <string_view>

#include "engine/base/result.h"

namespace adjudge {

// Sums within a block of 32 are exact in all of them, and so is what no block format is part of:
// weights of F32, F16 and BF16, attention, norms.
enum class Precision {
  kFast,     // 8-bit integers a block of 32; computed as kDefault where the machine multiplies no
             // bytes
  kDefault,  // 16-bit integers a block of 32
  kExact,    // not at all: float32
};

Result<Precision> ParsePrecision(std::string_view name);
std::string_view ToString(Precision precision);  // fast, default, exact

}  // namespace adjudge
