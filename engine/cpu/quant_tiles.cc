#include "engine/cpu/quant_tiles.h"

#include <cstring>

#include "engine/model/dequantize.h"

namespace adjudge {
namespace {

std::uint16_t Half(const std::byte* at) {
  std::uint16_t half;
  std::memcpy(&half, at, 2);
  return half;
}

}  // namespace

std::int64_t QuantTileLayout::ScalesAt(std::int64_t block) const {
  if (!format_.bytes) return block * block_bytes();
  const std::int64_t per_over = kOver / format_.block;
  return block / per_over * over_stride() + over_bytes() + block % per_over * block_bytes();
}

void QuantTileLayout::Pack(TensorType type, const std::byte* rows, std::int64_t row_bytes,
                           int n_rows, std::byte* tile) const {
  const int per_32 = 32 / format_.block;
  const std::int64_t scale_size = format_.bytes ? 1 : 2;
  QuantBlock32 block;
  const auto put = [&](std::int64_t at, int r, std::int64_t size, std::uint16_t value) {
    std::memcpy(tile + at + r * size, &value, static_cast<std::size_t>(size));  // little-endian
  };
  for (std::int64_t b = 0; b < cols_ / 32; ++b) {
    std::byte* quants = tile + scales_bytes() + b * 4 * kRows * format_.bits;
    const std::int64_t over = b * 32 / kOver * over_stride();
    for (int r = 0; r < n_rows; ++r) {
      LoadQuantBlock(type, rows + r * row_bytes, b, &block);
      if (format_.bytes) {
        put(over, r, 2, block.over_scales);
        if (format_.has_offsets) put(over + kRows * 2, r, 2, block.over_offsets);
      }
      for (int s = 0; s < per_32; ++s) {
        const std::int64_t at = ScalesAt(b * per_32 + s);
        put(at, r, scale_size, block.scales[s]);
        if (format_.has_offsets) put(at + kRows * scale_size, r, scale_size, block.offsets[s]);
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

float QuantTileLayout::Scale(const std::byte* tile, std::int64_t block, int row) const {
  const std::byte* at = tile + ScalesAt(block);
  if (!format_.bytes) return HalfToFloat(Half(at + row * 2));
  const std::byte* over = tile + block / (kOver / format_.block) * over_stride();
  const int byte = std::to_integer<int>(at[row]);
  // Signed where the elements lie around zero.
  const int scale = format_.has_offsets ? byte : static_cast<std::int8_t>(byte);
  return HalfToFloat(Half(over + row * 2)) * static_cast<float>(scale);
}

float QuantTileLayout::Offset(const std::byte* tile, std::int64_t block, int row) const {
  if (!format_.has_offsets) return 0.0f;
  const std::byte* at = tile + ScalesAt(block);
  if (!format_.bytes) return HalfToFloat(Half(at + (kRows + row) * 2));
  const std::byte* over = tile + block / (kOver / format_.block) * over_stride();
  const int byte = std::to_integer<int>(at[kRows + row]);
  return -(HalfToFloat(Half(over + (kRows + row) * 2)) * static_cast<float>(byte));
}

void QuantTileLayout::UnpackRow(const std::byte* tile, int row, float* out) const {
  const std::byte* quants = tile + scales_bytes() + row * 4;
  const std::uint32_t mask = format_.bits == 8 ? 255 : 15;
  for (std::int64_t b = 0; b < n_blocks(); ++b) {
    const float scale = Scale(tile, b, row);
    const float offset = Offset(tile, b, row);
    const int words = format_.block * format_.bits / 32;
    for (int i = 0; i < words; ++i, quants += kRows * 4) {
      std::uint32_t word;
      std::memcpy(&word, quants, 4);
      for (int part = 0; part < 8 / format_.bits; ++part) {
        for (int j = 0; j < 4; ++j, ++out) {
          const int q = static_cast<int>(word >> (8 * j + 4 * part) & mask);
          const float product = scale * static_cast<float>(q - format_.centre());
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
  if (format_.bytes) {
    for (std::int64_t over = 0; over < stored_scales(); over += over_stride()) {
      copy(over, over + over_bytes(), 2);
      copy(over + over_bytes(), over + over_stride(), 1);
    }
  } else {
    copy(0, stored_scales(), 2);
  }
  copy(scales_bytes(), tile_bytes(), 4);
}

}  // namespace adjudge
