// Block formats as unsigned integers with a scale and an offset: what the loaders of packed tiles
// make of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/backend.h"

namespace adjudge {

// How a format is packed. An element is scale * quant + offset, or scale * (quant - centre) where
// no offsets are stored; both equal the format's definition to the bit.
struct QuantFormat {
  int bits = 0;              // of a packed quant, 4 or 8
  int block = 0;             // elements that share a scale, 16 or 32
  bool has_offsets = false;  // stored beside the scales
  bool halves = false;       // scales and offsets are float16 as in the file; otherwise float32
  int centre = 0;
};

// nullopt for the plain types (F32, F16, BF16).
std::optional<QuantFormat> QuantFormatOf(TensorType type);

// 32 elements of a row. Scales and offsets are float16 bits or float32 bits, as the format says;
// the second ones are those of the last 16 elements in blocks of 16.
struct QuantBlock32 {
  std::uint8_t quants[32];
  std::uint32_t scales[2];
  std::uint32_t offsets[2];
};

// Elements [32 i, 32 i + 32) of a row in its file's format.
// REQUIRES: the type has a QuantFormat.
void LoadQuantBlock(TensorType type, const std::byte* row, std::int64_t i, QuantBlock32* out);

}  // namespace adjudge
