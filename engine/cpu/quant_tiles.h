// Weights of block formats in the layout that the integer kernels read: tiles of 16 rows.
//
// A tile is its scales, then its quants. A vector of 64 quant bytes holds four bytes of each row:
// with 8 bits four elements; with 4 bits eight, the first four in the low nibbles. So one vector
// times four (eight) elements of x, the same in every lane, serves 16 rows, and one layout serves
// one row of x and many.
//   scales  [blocks, 1 or 2, 16]   float16: scales, then offsets where there are any; or, of the K
//           formats, for each 256 elements [1 or 2, 16] float16, then [blocks, 1 or 2, 16] bytes
//   quants  [cols / 4 or cols / 8, 16 rows, 4 bytes]
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/cpu/quant_format.h"

namespace adjudge {

class QuantTileLayout {
 public:
  static constexpr int kRows = 16;
  static constexpr int kOver = 256;  // elements under one float16 of the K formats

  // REQUIRES: cols is a multiple of 32, in formats with bytes of 256.
  QuantTileLayout(const QuantFormat& format, std::int64_t cols) : format_(format), cols_(cols) {}

  const QuantFormat& format() const { return format_; }
  std::int64_t n_blocks() const { return cols_ / format_.block; }
  std::int64_t scales_bytes() const {  // a multiple of 64 keeps the quants aligned
    return (stored_scales() + 63) / 64 * 64;
  }
  std::int64_t quants_bytes() const { return cols_ * kRows * format_.bits / 8; }
  std::int64_t tile_bytes() const { return scales_bytes() + quants_bytes(); }

  // Packs up to 16 rows in their file's format, row_bytes apart; the others are zero.
  // `tile` is tile_bytes() of zeros.
  void Pack(TensorType type, const std::byte* rows, std::int64_t row_bytes, int n_rows,
            std::byte* tile) const;
  // The values of one row, equal to the format's definition to the bit. out: [cols]
  void UnpackRow(const std::byte* tile, int row, float* out) const;
  void CopyRow(const std::byte* from, int from_row, std::byte* to, int to_row) const;

 private:
  int vectors() const { return format_.has_offsets ? 2 : 1; }
  std::int64_t over_bytes() const { return vectors() * kRows * 2; }
  std::int64_t over_stride() const { return over_bytes() + kOver / format_.block * block_bytes(); }
  std::int64_t block_bytes() const { return vectors() * kRows * (format_.bytes ? 1 : 2); }
  std::int64_t stored_scales() const {
    return format_.bytes ? cols_ / kOver * over_stride() : n_blocks() * block_bytes();
  }
  // Where the vectors of block b begin.
  std::int64_t ScalesAt(std::int64_t block) const;
  float Scale(const std::byte* tile, std::int64_t block, int row) const;
  float Offset(const std::byte* tile, std::int64_t block, int row) const;

  QuantFormat format_;
  std::int64_t cols_;
};

}  // namespace adjudge
