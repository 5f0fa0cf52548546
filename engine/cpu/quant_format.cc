#include "engine/cpu/quant_format.h"

#include <cstring>

#include "engine/base/check.h"
#include "engine/model/dequantize.h"

namespace adjudge {
namespace {

using Bytes = const std::uint8_t*;

std::uint16_t U16(Bytes p) {
  std::uint16_t v;
  std::memcpy(&v, p, 2);
  return v;
}

void LoadQ8_0(Bytes block, QuantBlock32* out) {
  out->scales[0] = U16(block);
  for (int i = 0; i < 32; ++i) out->quants[i] = static_cast<std::uint8_t>(block[2 + i] ^ 0x80);
}

// Low nibbles are the first half of the block, high nibbles the second.
void Nibbles(Bytes q, std::uint8_t* out) {
  for (int i = 0; i < 16; ++i) {
    out[i] = q[i] & 15;
    out[i + 16] = q[i] >> 4;
  }
}

void FifthBits(Bytes high_bits, std::uint8_t* out) {
  std::uint32_t high;
  std::memcpy(&high, high_bits, 4);
  for (int i = 0; i < 32; ++i) {
    out[i] = static_cast<std::uint8_t>(out[i] | (high >> i & 1) << 4);
  }
}

void LoadQ4_0(Bytes block, QuantBlock32* out) {
  out->scales[0] = U16(block);
  Nibbles(block + 2, out->quants);
}

void LoadQ4_1(Bytes block, QuantBlock32* out) {
  out->scales[0] = U16(block);
  out->offsets[0] = U16(block + 2);
  Nibbles(block + 4, out->quants);
}

// From a format's own centre to that of its width.
void Centre(int by, QuantBlock32* out) {
  for (std::uint8_t& q : out->quants) q = static_cast<std::uint8_t>(q + by);
}

void LoadQ5_0(Bytes block, QuantBlock32* out) {
  out->scales[0] = U16(block);
  Nibbles(block + 6, out->quants);
  FifthBits(block + 2, out->quants);
  Centre(128 - 16, out);
}

void LoadQ5_1(Bytes block, QuantBlock32* out) {
  out->scales[0] = U16(block);
  out->offsets[0] = U16(block + 2);
  Nibbles(block + 8, out->quants);
  FifthBits(block + 4, out->quants);
}

// The K formats: `j` is which 32 of the block's 256 elements.

void LoadQ2_K(Bytes block, int j, QuantBlock32* out) {
  out->over_scales = U16(block + 80);
  out->over_offsets = U16(block + 82);
  for (int s = 0; s < 2; ++s) {
    const int scale = block[2 * j + s];
    out->scales[s] = static_cast<std::uint16_t>(scale & 15);
    out->offsets[s] = static_cast<std::uint16_t>(scale >> 4);
  }
  const Bytes q = block + 16 + j / 4 * 32;
  const int shift = j % 4 * 2;
  for (int i = 0; i < 32; ++i) out->quants[i] = (q[i] >> shift) & 3;
}

void LoadQ3_K(Bytes block, int j, QuantBlock32* out) {
  const Bytes packed = block + 96;
  out->over_scales = U16(block + 108);
  for (int s = 2 * j; s < 2 * j + 2; ++s) {
    const int low = s < 8 ? packed[s] & 15 : packed[s - 8] >> 4;
    const int high = (packed[8 + s % 4] >> (s / 4 * 2)) & 3;
    out->scales[s % 2] = static_cast<std::uint8_t>((low | high << 4) - 32);
  }
  const Bytes q = block + 32 + j / 4 * 32;
  const int shift = j % 4 * 2;
  for (int i = 0; i < 32; ++i) {
    const int third = (block[i] >> j) & 1;
    out->quants[i] = static_cast<std::uint8_t>(((q[i] >> shift) & 3) | third << 2);
  }
  Centre(8 - 4, out);
}

void ScaleAndOffset(Bytes block, int j, QuantBlock32* out) {
  const Bytes packed = block + 4;
  const int scale = j < 4 ? packed[j] & 63 : (packed[j + 4] & 15) | ((packed[j - 4] >> 2) & 48);
  const int least = j < 4 ? packed[j + 4] & 63 : (packed[j + 4] >> 4) | ((packed[j] >> 2) & 48);
  out->over_scales = U16(block);
  out->over_offsets = U16(block + 2);
  out->scales[0] = static_cast<std::uint16_t>(scale);
  out->offsets[0] = static_cast<std::uint16_t>(least);
}

void LoadQ4_K(Bytes block, int j, QuantBlock32* out) {
  ScaleAndOffset(block, j, out);
  const Bytes q = block + 16 + j / 2 * 32;
  const int shift = j % 2 * 4;
  for (int i = 0; i < 32; ++i) out->quants[i] = (q[i] >> shift) & 15;
}

void LoadQ5_K(Bytes block, int j, QuantBlock32* out) {
  ScaleAndOffset(block, j, out);
  const Bytes q = block + 48 + j / 2 * 32;
  const Bytes high = block + 16;
  const int shift = j % 2 * 4;
  for (int i = 0; i < 32; ++i) {
    const int fifth = (high[i] >> j) & 1;
    out->quants[i] = static_cast<std::uint8_t>(((q[i] >> shift) & 15) | fifth << 4);
  }
}

void LoadQ6_K(Bytes block, int j, QuantBlock32* out) {
  out->over_scales = U16(block + 208);
  for (int s = 0; s < 2; ++s) out->scales[s] = block[192 + 2 * j + s];
  const int quarter = j % 4;
  const Bytes low = block + j / 4 * 64 + quarter % 2 * 32;
  const Bytes high = block + 128 + j / 4 * 32;
  for (int i = 0; i < 32; ++i) {
    const int top = (high[i] >> (quarter * 2)) & 3;
    out->quants[i] = static_cast<std::uint8_t>(((low[i] >> (quarter / 2 * 4)) & 15) | top << 4);
  }
  Centre(128 - 32, out);
}

}  // namespace

std::optional<QuantFormat> QuantFormatOf(TensorType type) {
  switch (type) {
    case TensorType::kF32:
    case TensorType::kF16:
    case TensorType::kBF16:
      return std::nullopt;
    case TensorType::kQ8_0:
      return QuantFormat{.bits = 8, .block = 32};
    case TensorType::kQ4_0:
      return QuantFormat{.bits = 4, .block = 32};
    case TensorType::kQ4_1:
      return QuantFormat{.bits = 4, .block = 32, .has_offsets = true};
    case TensorType::kQ5_0:
      return QuantFormat{.bits = 8, .block = 32};
    case TensorType::kQ5_1:
      return QuantFormat{.bits = 8, .block = 32, .has_offsets = true};
    case TensorType::kQ2_K:
      return QuantFormat{.bits = 4, .block = 16, .has_offsets = true, .bytes = true};
    case TensorType::kQ3_K:
      return QuantFormat{.bits = 4, .block = 16, .bytes = true};
    case TensorType::kQ4_K:
      return QuantFormat{.bits = 4, .block = 32, .has_offsets = true, .bytes = true};
    case TensorType::kQ5_K:
      return QuantFormat{.bits = 8, .block = 32, .has_offsets = true, .bytes = true};
    case TensorType::kQ6_K:
      return QuantFormat{.bits = 8, .block = 16, .bytes = true};
  }
  return std::nullopt;
}

void LoadQuantBlock(TensorType type, const std::byte* row, std::int64_t i, QuantBlock32* out) {
  const std::int64_t per_block = BlockElements(type) / 32;
  const auto block = reinterpret_cast<Bytes>(row + i / per_block * BlockBytes(type));
  const int j = static_cast<int>(i % per_block);
  switch (type) {
    case TensorType::kQ8_0:
      return LoadQ8_0(block, out);
    case TensorType::kQ4_0:
      return LoadQ4_0(block, out);
    case TensorType::kQ4_1:
      return LoadQ4_1(block, out);
    case TensorType::kQ5_0:
      return LoadQ5_0(block, out);
    case TensorType::kQ5_1:
      return LoadQ5_1(block, out);
    case TensorType::kQ2_K:
      return LoadQ2_K(block, j, out);
    case TensorType::kQ3_K:
      return LoadQ3_K(block, j, out);
    case TensorType::kQ4_K:
      return LoadQ4_K(block, j, out);
    case TensorType::kQ5_K:
      return LoadQ5_K(block, j, out);
    case TensorType::kQ6_K:
      return LoadQ6_K(block, j, out);
    default:
      ADJUDGE_CHECK_MSG(false, "a type without blocks");
  }
}

}  // namespace adjudge
