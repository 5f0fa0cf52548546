#include "engine/cpu/quant_tiles.h"

#include <cstring>

#include "engine/model/dequantize.h"

namespace adjudge {

void QuantTileLayout::Pack(TensorType type, const std::byte* rows, std::int64_t row_bytes,
                           int n_rows, std::byte* tile) const {
  const std::size_t scale_size = static_cast<std::size_t>(scale_bytes());
  const int per_32 = 32 / format_.block;
  const int vectors = format_.has_offsets ? 2 : 1;
  QuantBlock32 block;
  for (std::int64_t b = 0; b < cols_ / 32; ++b) {
    std::byte* quants = tile + scales_bytes() + b * 4 * kRows * format_.bits;
    for (int r = 0; r < n_rows; ++r) {
      LoadQuantBlock(type, rows + r * row_bytes, b, &block);
      for (int s = 0; s < per_32; ++s) {  // little-endian: a float16 is the first two bytes
        std::byte* at = tile + ((b * per_32 + s) * vectors * kRows + r) * scale_bytes();
        std::memcpy(at, &block.scales[s], scale_size);
        if (format_.has_offsets) {
          std::memcpy(at + kRows * scale_bytes(), &block.offsets[s], scale_size);
        }
      }
      std::uint32_t words[8];
      std::memcpy(words, block.quants, 32);
      const int n_words = format_.bits;  // a row's 32 elements in words of four bytes
      for (int i = 0; i < n_words; ++i) {
        const std::uint32_t word =
            format_.bits == 8 ? words[i] : words[2 * i] | words[2 * i + 1] << 4;
        std::memcpy(quants + (i * kRows + r) * 4, &word, 4);
      }
    }
  }
}

float QuantTileLayout::Scale(const std::byte* at) const {
  if (format_.halves) {
    std::uint16_t half;
    std::memcpy(&half, at, 2);
    return HalfToFloat(half);
  }
  float scale;
  std::memcpy(&scale, at, 4);
  return scale;
}

void QuantTileLayout::UnpackRow(const std::byte* tile, int row, float* out) const {
  const int vectors = format_.has_offsets ? 2 : 1;
  const std::byte* quants = tile + scales_bytes() + row * 4;
  const std::uint32_t mask = format_.bits == 8 ? 255 : 15;
  for (std::int64_t b = 0; b < n_blocks(); ++b) {
    const std::byte* at = tile + (b * vectors * kRows + row) * scale_bytes();
    const float scale = Scale(at);
    const float offset = format_.has_offsets ? Scale(at + kRows * scale_bytes()) : 0.0f;
    const int words = format_.block * format_.bits / 32;
    for (int i = 0; i < words; ++i, quants += kRows * 4) {
      std::uint32_t word;
      std::memcpy(&word, quants, 4);
      for (int part = 0; part < 8 / format_.bits; ++part) {
        for (int j = 0; j < 4; ++j, ++out) {
          const int q = static_cast<int>(word >> (8 * j + 4 * part) & mask);
          const float product = scale * static_cast<float>(q - format_.centre);
          *out = format_.has_offsets ? product + offset : product;
        }
      }
    }
  }
}

void QuantTileLayout::CopyRow(const std::byte* from, int from_row, std::byte* to,
                              int to_row) const {
  const auto copy = [&](std::int64_t begin, std::int64_t end, std::int64_t size) {
    for (std::int64_t at = begin; at < end; at += kRows * size) {
      std::memcpy(to + at + to_row * size, from + at + from_row * size,
                  static_cast<std::size_t>(size));
    }
  };
  const std::int64_t scales = n_blocks() * (format_.has_offsets ? 2 : 1) * kRows * scale_bytes();
  copy(0, scales, scale_bytes());
  copy(scales_bytes(), tile_bytes(), 4);
}

}  // namespace adjudge
