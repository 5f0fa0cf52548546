// Weights of bfloat16 as their products load them (bf16.inc.h): tiles of 16 rows,
// [cols / 32][16 pairs of columns][16 rows, 2], columns behind the last zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace adjudge {

class Bf16TileLayout {
 public:
  static constexpr int kRows = 16;

  explicit Bf16TileLayout(std::int64_t cols) : cols_(cols) {}
  std::int64_t groups() const { return (cols_ + 31) / 32; }
  std::int64_t tile_bytes() const { return groups() * 1024; }

  // rows: as the file has them, row_bytes apart. `tile` is tile_bytes() of zeros.
  void Pack(const std::byte* rows, std::int64_t row_bytes, int n_rows, std::byte* tile) const {
    for (int r = 0; r < n_rows; ++r) {
      for (std::int64_t c = 0; c < cols_; ++c) {
        std::memcpy(tile + At(r, c), rows + r * row_bytes + c * 2, 2);
      }
    }
  }
  // out: [cols] bfloat16
  void UnpackRow(const std::byte* tile, int row, std::byte* out) const {
    for (std::int64_t c = 0; c < cols_; ++c) std::memcpy(out + c * 2, tile + At(row, c), 2);
  }
  void CopyRow(const std::byte* from, int from_row, std::byte* to, int to_row) const {
    for (std::int64_t c = 0; c < groups() * 32; c += 2) {
      std::memcpy(to + At(to_row, c), from + At(from_row, c), 4);
    }
  }

 private:
  std::int64_t At(std::int64_t row, std::int64_t col) const {
    return ((col / 2) * kRows + row) * 4 + col % 2 * 2;
  }

  std::int64_t cols_;
};

}  // namespace adjudge
