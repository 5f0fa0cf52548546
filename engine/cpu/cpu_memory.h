// Memory of the CPU backend: buffers, weights, cache blocks.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "engine/backend.h"
#include "engine/cpu/bf16_tiles.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/quant_tiles.h"

namespace adjudge {

// Memory aligned to a cache line, with a line to spare behind it: kernels may load a whole vector
// that begins inside. What is larger than some huge pages lies in them where the system has them on
// request: a stream of weights then needs few address translations.
template <typename T>
class AlignedArray {
 public:
  enum class Fill { kZeros, kNothing };

  AlignedArray() = default;
  explicit AlignedArray(std::int64_t n, Fill fill = Fill::kZeros) : size_(n) {
    constexpr std::size_t kLine = 64;
    constexpr std::size_t kHugePage = 2 << 20;
    const std::size_t used = static_cast<std::size_t>(n) * sizeof(T);
    const bool huge = used >= 2 * kHugePage;
    const std::size_t alignment = huge ? kHugePage : kLine;
    const std::size_t bytes = (used + kLine + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<T*>(std::aligned_alloc(alignment, bytes)));
    if (data_ == nullptr) throw std::bad_alloc();
    // Only whole pages of it: the last one would be memory that nobody uses.
    if (huge) madvise(data_.get(), used / kHugePage * kHugePage, MADV_HUGEPAGE);
    const std::size_t skipped = fill == Fill::kZeros ? 0 : used;
    std::memset(reinterpret_cast<std::byte*>(data_.get()) + skipped, 0, used + kLine - skipped);
  }
  T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  // Forgets the contents; grows, never shrinks.
  void Reserve(std::int64_t n) {
    if (n > size_) *this = AlignedArray(n);
  }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
  std::int64_t size_ = 0;
};

class CpuBuffer final : public Buffer {
 public:
  explicit CpuBuffer(std::int64_t n) : data_(n) {}
  float* data() override { return data_.data(); }
  std::int64_t size() const override { return data_.size(); }

 private:
  AlignedArray<float> data_;
};

// Rows in packed tiles, or copied in their file's format. Parts of unlike types may be stacked. Its
// bytes are whatever the memory held until they are written, which the threads of the pool do.
class CpuWeight final : public PackedWeight {
 public:
  struct Part {
    TensorType type = TensorType::kF32;
    std::int64_t first_row = 0;
    std::int64_t n_rows = 0;
    std::int64_t row_bytes = 0;            // in the file's format
    std::optional<QuantTileLayout> tiles;  // of a block format
    std::optional<Bf16TileLayout> bf16;    // of BF16; with neither, in the file's format
    std::byte* data = nullptr;             // into the weight's bytes

    std::int64_t n_tiles() const {
      return (n_rows + QuantTileLayout::kRows - 1) / QuantTileLayout::kRows;
    }
    std::int64_t bytes() const {
      return ((tiled() ? n_tiles() * tile_bytes() : n_rows * row_bytes) + 63) / 64 * 64;
    }
    bool tiled() const { return tiles || bf16; }
    std::int64_t tile_bytes() const { return tiles ? tiles->tile_bytes() : bf16->tile_bytes(); }
    const std::byte* tile(std::int64_t i) const { return data + i * tile_bytes(); }
  };

  CpuWeight(std::int64_t rows, std::int64_t cols, std::int64_t bytes)
      : rows_(rows), cols_(cols), bytes_(bytes, AlignedArray<std::byte>::Fill::kNothing) {}
  std::int64_t rows() const override { return rows_; }
  std::int64_t cols() const override { return cols_; }
  std::int64_t bytes() const override { return bytes_.size(); }

  std::vector<Part>& parts() { return parts_; }
  const std::vector<Part>& parts() const { return parts_; }
  std::byte* data() { return bytes_.data(); }

  const Part& PartOf(std::int64_t row) const {
    std::size_t i = 0;
    while (row >= parts_[i].first_row + parts_[i].n_rows) ++i;
    return parts_[i];
  }

 private:
  std::int64_t rows_;
  std::int64_t cols_;
  AlignedArray<std::byte> bytes_;
  std::vector<Part> parts_;
};

// Keys transposed, [n_layers, kv_dim, cells]; values [n_layers, cells, kv_dim]. `cells` is
// block_tokens rounded up to kMaxLanes.
class CpuKvBlock final : public KvBlock {
 public:
  CpuKvBlock(int n_layers, int block_tokens, int kv_dim)
      : cells_((block_tokens + kMaxLanes - 1) / kMaxLanes * kMaxLanes),
        layer_size_(static_cast<std::int64_t>(cells_) * kv_dim),
        keys_(n_layers * layer_size_),
        values_(n_layers * layer_size_) {}
  int cells() const { return cells_; }
  float* keys(int layer) const { return keys_.data() + layer * layer_size_; }
  float* values(int layer) const { return values_.data() + layer * layer_size_; }

 private:
  int cells_;
  std::int64_t layer_size_;
  AlignedArray<float> keys_;
  AlignedArray<float> values_;
};

}  // namespace adjudge
