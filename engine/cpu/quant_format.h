// Block formats as unsigned integers with a scale and an offset: what the loaders of packed tiles
// make of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/backend.h"

namespace adjudge {

// How a format is packed. An element is scale * quant + offset, or scale * (quant - centre()) where
// no offsets are stored; both equal the format's definition to the bit. In the K formats a scale is
// a byte times the float16 of its 256 elements, and an offset the same, negated.
struct QuantFormat {
  int bits = 0;              // of a packed quant, 4 or 8
  int block = 0;             // elements that share a scale, 16 or 32
  bool has_offsets = false;  // stored beside the scales
  bool bytes = false;        // scales are bytes under a float16; otherwise float16
  // Every format of a width has the same: a constant of the kernels.
  int centre() const { return has_offsets ? 0 : bits == 8 ? 128 : 8; }
};

// nullopt for the plain types (F32, F16, BF16).
std::optional<QuantFormat> QuantFormatOf(TensorType type);

// 32 elements of a row; the second scales are those of the last 16 elements in blocks of 16.
struct QuantBlock32 {
  std::uint8_t quants[32];
  std::uint16_t scales[2];        // float16 bits, or bytes
  std::uint16_t offsets[2];       // the same
  std::uint16_t over_scales = 0;  // float16 bits, above bytes
  std::uint16_t over_offsets = 0;
};

// Elements [32 i, 32 i + 32) of a row in its file's format.
// REQUIRES: the type has a QuantFormat.
void LoadQuantBlock(TensorType type, const std::byte* row, std::int64_t i, QuantBlock32* out);

}  // namespace adjudge
