#include "engine/cpu/cpu_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>

#include "engine/base/check.h"
#include "engine/cpu/attention_plan.h"
#include "engine/cpu/cpu_memory.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/thread_count.h"
#include "engine/cpu/thread_pool.h"
#include "engine/model/dequantize.h"

namespace adjudge {
namespace {

// Below this much work (elements, or multiplications) waking threads costs more than it saves.
constexpr std::int64_t kInlineWork = 1 << 14;
// Bytes of decoded weights that a thread keeps at hand: with many rows in the second-level cache,
// with few in the first.
constexpr std::int64_t kManyTileBytes = 160 << 10;
constexpr std::int64_t kFewTileBytes = 20 << 10;
constexpr int kFewRows = 6;
// Bytes of quantised rows that pass by a pair of weight tiles while they stay in the second-level
// cache.
constexpr std::int64_t kQuantChunkBytes = 512 << 10;
constexpr int kTileRows = QuantTileLayout::kRows;

class CpuBackend final : public Backend {
 public:
  CpuBackend(int threads, CpuIsa isa, Precision precision)
      : kernels_(KernelsFor(isa)),
        packs_(precision != Precision::kExact),
        quant_bytes_(precision == Precision::kFast && kernels_.quant8.quantize != nullptr ? 1 : 2),
        quant_(quant_bytes_ == 1 ? kernels_.quant8 : kernels_.quant16),
        pool_(threads),
        scratch_(static_cast<std::size_t>(threads)) {
    name_ = "cpu (" + std::string(ToString(isa)) + ", " + std::to_string(threads) +
            (threads == 1 ? " thread)" : " threads)");
  }

  std::string_view name() const override { return name_; }
  int n_threads() const override { return pool_.n_threads(); }
  std::unique_ptr<Buffer> NewBuffer(std::int64_t n) override {
    return std::make_unique<CpuBuffer>(n);
  }
  std::unique_ptr<KvBlock> NewKvBlock(int n_layers, int block_tokens, int kv_dim) override {
    return std::make_unique<CpuKvBlock>(n_layers, block_tokens, kv_dim);
  }
  Result<std::unique_ptr<PackedWeight>> Pack(std::span<const TensorView> stacked) override;

  void Embed(const PackedWeight& weight, std::span<const int> ids, float scale,
             float* out) override;
  void RmsNorm(const float* x, std::span<const float> gain, float eps, int n, float* out) override;
  void MatMul(const PackedWeight& weight, const float* x, int n, std::span<const float> bias,
              float* out) override;
  void MatMulRows(const PackedWeight& weight, std::span<const int> row_ids, const float* x, int n,
                  float* out) override;
  void Rope(float* x, int n, int stride, int n_heads, int head_dim, int rope_dim,
            RopePairing pairing, const RopeTable& table) override;
  void WriteKv(int layer, const float* k, const float* v, int n, int stride, int kv_dim,
               std::span<const KvCell> cells) override;
  void Attention(int layer, const float* q, int n, int stride, int n_heads, int n_kv_heads,
                 int head_dim, float scale, std::span<const AttentionRow> rows,
                 float* out) override;
  void GatedActivation(const float* gate_up, Activation activation, int n, int width,
                       float* out) override;
  void Add(float* x, const float* y, int n, int width) override;
  void GatherRows(const float* x, std::span<const int> rows, int width, float* out) override;
  void LogSumExp(const float* logits, int n, int width, double* out) override;
  void SoftCap(float* logits, int n, int width, float cap) override;

 private:
  struct Scratch {
    AlignedArray<float> tile;      // decoded weights
    AlignedArray<float> scales;    // of a pair of packed tiles
    AlignedArray<std::byte> rows;  // a pair of tiles of chosen rows
    AlignedArray<float> scores;    // attention
    std::vector<AttentionQuery> queries;
    std::vector<KeyRun> runs;
  };
  struct Rows {                // the right-hand side of a product
    const float* x = nullptr;  // a multiple of the lanes wide; for rows that are not packed
    std::int64_t stride = 0;
    QuantRows quants;  // for those that are
    int n = 0;
  };

  // Calls body(thread, begin, end) over parts of [0, n), on the caller alone when there is little
  // work.
  template <typename Body>
  void Split(std::int64_t n, std::int64_t grain, std::int64_t work_each, Body&& body) {
    if (n * work_each < kInlineWork) {
      if (n > 0) body(0, std::int64_t{0}, n);
      return;
    }
    pool_.For(n, grain, body);
  }

  std::int64_t PaddedCols(const PackedWeight& weight) const {
    return (weight.cols() + kernels_.lanes - 1) / kernels_.lanes * kernels_.lanes;
  }
  void CopyPart(const CpuWeight::Part& part, const std::byte* from);
  Rows PrepareRows(const CpuWeight& weight, const float* x, int n);
  void PadRows(const CpuWeight& weight, const float* x, Rows* rows);
  void QuantizeRows(const CpuWeight& weight, const float* x, Rows* rows);
  std::int64_t TileRows(std::int64_t padded_cols, int n) const;
  void DecodeRow(const CpuWeight::Part& part, std::int64_t row, std::int64_t cols,
                 std::int64_t padded, float* out) const;
  void PlainRows(const CpuWeight& weight, const CpuWeight::Part& part, std::int64_t begin,
                 std::int64_t end, const Rows& x, Scratch& scratch, float* out) const;
  void TileDots(const QuantTileLayout& layout, const std::byte* tiles, std::int64_t n_rows,
                const QuantRows& x, Scratch& scratch, float* out, std::int64_t out_stride) const;
  void PlainChosen(const CpuWeight& weight, std::span<const int> ids, const Rows& x,
                   Scratch& scratch, float* out, std::int64_t out_stride) const;
  void PackedChosen(const CpuWeight::Part& part, std::span<const int> ids, const Rows& x,
                    Scratch& scratch, float* out, std::int64_t out_stride) const;
  void AttendTile(const AttentionPlan& plan, const AttentionPlan::Item& item, Scratch& scratch);

  const CpuKernels& kernels_;
  const bool packs_;       // block formats into tiles
  const int quant_bytes_;  // of a quantised element
  const QuantKernels& quant_;
  std::string name_;
  ThreadPool pool_;
  std::vector<Scratch> scratch_;     // one a thread
  AlignedArray<float> padded_rows_;  // of PadRows
  AlignedArray<std::byte> quants_;   // of QuantizeRows
  AlignedArray<QuantScale> quant_scales_;
  AttentionPlan plan_;  // reused from call to call
};

const CpuWeight& AsCpu(const PackedWeight& weight) { return static_cast<const CpuWeight&>(weight); }

Result<std::unique_ptr<PackedWeight>> CpuBackend::Pack(std::span<const TensorView> stacked) {
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
  const std::int64_t cols = stacked.empty() ? 0 : stacked[0].cols;
  std::vector<CpuWeight::Part> parts;
  for (const TensorView& view : stacked) {
    if (view.cols != cols || cols % BlockElements(view.type) != 0) {
      return Fail(ErrorCode::kInvalidArgument,
                  "expected rows of " + std::to_string(cols) + " elements, a multiple of the " +
                      std::to_string(BlockElements(view.type)) + " in a block of " +
                      std::string(ToString(view.type)) + "; found " + std::to_string(view.cols));
    }
    CpuWeight::Part part{.type = view.type,
                         .first_row = rows,
                         .n_rows = view.rows,
                         .row_bytes = TensorBytes(view.type, cols)};
    const auto format = QuantFormatOf(view.type);
    if (packs_ && format) part.tiles.emplace(*format, cols);
    rows += view.rows;
    bytes += part.bytes();
    parts.push_back(part);
  }
  std::unique_ptr<CpuWeight> weight;
  try {
    weight = std::make_unique<CpuWeight>(rows, cols, bytes);
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kLimit, "no memory for " + std::to_string(bytes) + " bytes of weights");
  }
  std::byte* to = weight->data();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].data = to;
    CopyPart(parts[i], stacked[i].data);
    to += parts[i].bytes();
  }
  weight->parts() = std::move(parts);
  return weight;
}

void CpuBackend::CopyPart(const CpuWeight::Part& part, const std::byte* from) {
  if (part.tiles) {
    pool_.For(part.n_tiles(), 1, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const int n =
            static_cast<int>(std::min<std::int64_t>(kTileRows, part.n_rows - i * kTileRows));
        part.tiles->Pack(part.type, from + i * kTileRows * part.row_bytes, part.row_bytes, n,
                         part.data + i * part.tiles->tile_bytes());
      }
    });
    return;
  }
  pool_.For(part.n_rows * part.row_bytes, 1 << 20, [&](int, std::int64_t begin, std::int64_t end) {
    std::memcpy(part.data + begin, from + begin, static_cast<std::size_t>(end - begin));
  });
}

void CpuBackend::DecodeRow(const CpuWeight::Part& part, std::int64_t row, std::int64_t cols,
                           std::int64_t padded, float* out) const {
  const std::int64_t i = row - part.first_row;
  if (part.tiles) {
    part.tiles->UnpackRow(part.tile(i / kTileRows), static_cast<int>(i % kTileRows), out);
  } else {
    kernels_.decode[static_cast<int>(part.type)](part.data + i * part.row_bytes, cols, out);
  }
  std::fill(out + cols, out + padded, 0.0f);
}

void CpuBackend::Embed(const PackedWeight& weight, std::span<const int> ids, float scale,
                       float* out) {
  const CpuWeight& w = AsCpu(weight);
  Split(std::ssize(ids), 1, w.cols(), [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = ids[static_cast<std::size_t>(i)];
      float* o = out + i * w.cols();
      DecodeRow(w.PartOf(row), row, w.cols(), w.cols(), o);
      if (scale != 1.0f) kernels_.scale(o, scale, w.cols());
    }
  });
}

void CpuBackend::RmsNorm(const float* x, std::span<const float> gain, float eps, int n,
                         float* out) {
  const int width = static_cast<int>(gain.size());
  Split(n, 1, width, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      kernels_.rms_norm(x + i * width, gain.data(), eps, width, out + i * width);
    }
  });
}

CpuBackend::Rows CpuBackend::PrepareRows(const CpuWeight& weight, const float* x, int n) {
  Rows rows;
  rows.n = n;
  const auto& parts = weight.parts();
  const auto packed = [](const CpuWeight::Part& part) { return part.tiles.has_value(); };
  if (!std::all_of(parts.begin(), parts.end(), packed)) PadRows(weight, x, &rows);
  if (std::any_of(parts.begin(), parts.end(), packed)) QuantizeRows(weight, x, &rows);
  return rows;
}

void CpuBackend::PadRows(const CpuWeight& weight, const float* x, Rows* rows) {
  const std::int64_t cols = weight.cols();
  rows->x = x;
  rows->stride = PaddedCols(weight);
  if (cols == rows->stride) return;
  padded_rows_.Reserve(rows->n * rows->stride);
  rows->x = padded_rows_.data();
  for (std::int64_t i = 0; i < rows->n; ++i) {
    float* row = padded_rows_.data() + i * rows->stride;
    std::copy(x + i * cols, x + (i + 1) * cols, row);
    std::fill(row + cols, row + rows->stride, 0.0f);
  }
}

void CpuBackend::QuantizeRows(const CpuWeight& weight, const float* x, Rows* rows) {
  const std::int64_t cols = weight.cols();
  const std::int64_t n = rows->n;
  const std::int64_t blocks = cols / 32;
  quants_.Reserve(n * cols * quant_bytes_);
  quant_scales_.Reserve(n * blocks * 3);
  QuantScale* scales32 = quant_scales_.data();
  QuantScale* scales16 = scales32 + n * blocks;
  Split(n, 1, cols, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      quant_.quantize(x + i * cols, cols, quants_.data() + i * cols * quant_bytes_,
                      scales32 + i * blocks, scales16 + i * 2 * blocks);
    }
  });
  rows->quants = {
      .x = quants_.data(), .scales32 = scales32, .scales16 = scales16, .n = rows->n, .cols = cols};
}

std::int64_t CpuBackend::TileRows(std::int64_t padded_cols, int n) const {
  const std::int64_t bytes = n <= kFewRows ? kFewTileBytes : kManyTileBytes;
  const std::int64_t rows = bytes / (padded_cols * static_cast<std::int64_t>(sizeof(float)));
  return std::clamp<std::int64_t>(rows / 8 * 8, 8, 256);
}

// Rows [begin, end) of one part. Each output depends on its row and its x alone, so neither the
// tile nor the thread that a row falls to is seen in its bits.
void CpuBackend::PlainRows(const CpuWeight& weight, const CpuWeight::Part& part, std::int64_t begin,
                           std::int64_t end, const Rows& x, Scratch& scratch, float* out) const {
  const std::int64_t cols = weight.cols();
  const std::int64_t padded = x.stride;
  const std::int64_t tile = TileRows(padded, x.n);
  scratch.tile.Reserve(tile * padded);
  for (std::int64_t r = begin; r < end; r += tile) {
    const std::int64_t n = std::min(tile, end - r);
    const float* rows = scratch.tile.data();
    if (part.type == TensorType::kF32 && cols == padded) {
      rows = reinterpret_cast<const float*>(part.data + (r - part.first_row) * part.row_bytes);
    } else {
      for (std::int64_t i = 0; i < n; ++i) {
        DecodeRow(part, r + i, cols, padded, scratch.tile.data() + i * padded);
      }
    }
    kernels_.dots(rows, static_cast<int>(n), x.x, x.stride, x.n, padded, out + r, weight.rows());
  }
}

// n_rows of neighbouring packed tiles.
void CpuBackend::TileDots(const QuantTileLayout& layout, const std::byte* tiles,
                          std::int64_t n_rows, const QuantRows& x, Scratch& scratch, float* out,
                          std::int64_t out_stride) const {
  const QuantFormat& format = layout.format();
  const QuantDotsFn dots = quant_.dots[format.bits == 8 ? 1 : 0][format.block == 32 ? 1 : 0];
  const std::int64_t scales = layout.n_blocks() * 2 * kTileRows;
  scratch.scales.Reserve(2 * scales);
  QuantRows chunk = x;
  const int chunk_rows = static_cast<int>(
      std::clamp<std::int64_t>(kQuantChunkBytes / (x.cols * quant_bytes_) / 12 * 12, 12, 1 << 20));
  for (int row = 0; row < x.n; row += chunk_rows) {
    chunk.n = std::min(chunk_rows, x.n - row);
    chunk.x = static_cast<const std::byte*>(x.x) + row * x.cols * quant_bytes_;
    chunk.scales32 = x.scales32 + row * (x.cols / 32);
    chunk.scales16 = x.scales16 + row * (x.cols / 16);
    for (std::int64_t r = 0; r < n_rows; r += 2 * kTileRows) {
      QuantTile pair[2];
      for (int i = 0; i < 2 && r + i * kTileRows < n_rows; ++i) {
        const std::byte* tile = tiles + (r / kTileRows + i) * layout.tile_bytes();
        float* expanded = scratch.scales.data() + i * scales;
        kernels_.expand_scales(tile, layout.n_blocks(), format.halves, format.has_offsets,
                               static_cast<float>(format.centre), 2 * layout.tile_bytes(),
                               expanded);
        pair[i] = {.quants = reinterpret_cast<const unsigned char*>(tile + layout.scales_bytes()),
                   .scales = expanded,
                   .n_rows = static_cast<int>(
                       std::min<std::int64_t>(kTileRows, n_rows - r - i * kTileRows)),
                   .out = out + row * out_stride + r + i * kTileRows};
      }
      if (pair[1].n_rows == 0) {  // computed beside the first and not written
        pair[1] = pair[0];
        pair[1].n_rows = 0;
      }
      dots(pair, chunk, out_stride);
    }
  }
}

// Rows [begin, end) of the weight fall to one thread, but a packed tile to the thread of its first
// row.
void CpuBackend::MatMul(const PackedWeight& weight, const float* x, int n,
                        std::span<const float> bias, float* out) {
  const CpuWeight& w = AsCpu(weight);
  if (n == 0) return;
  const Rows rows = PrepareRows(w, x, n);
  Split(w.rows(), 2 * kTileRows, n * w.cols(),
        [&](int thread, std::int64_t begin, std::int64_t end) {
          Scratch& scratch = scratch_[static_cast<std::size_t>(thread)];
          for (const CpuWeight::Part& part : w.parts()) {
            const std::int64_t part_end = part.first_row + part.n_rows;
            std::int64_t from = std::clamp(begin, part.first_row, part_end);
            std::int64_t to = std::clamp(end, part.first_row, part_end);
            if (part.tiles) {
              const auto up = [&](std::int64_t row) {
                return std::min(part_end, part.first_row + (row - part.first_row + kTileRows - 1) /
                                                               kTileRows * kTileRows);
              };
              from = up(from);
              to = up(to);
            }
            if (from >= to) continue;
            if (part.tiles) {
              TileDots(*part.tiles, part.tile((from - part.first_row) / kTileRows), to - from,
                       rows.quants, scratch, out + from, w.rows());
            } else {
              PlainRows(w, part, from, to, rows, scratch, out);
            }
            if (bias.empty()) continue;
            for (std::int64_t i = 0; i < n; ++i) {
              kernels_.add(out + i * w.rows() + from, bias.data() + from, to - from);
            }
          }
        });
}

// Chosen rows of parts that are not packed.
void CpuBackend::PlainChosen(const CpuWeight& weight, std::span<const int> ids, const Rows& x,
                             Scratch& scratch, float* out, std::int64_t out_stride) const {
  const std::int64_t tile_rows = TileRows(x.stride, x.n);
  scratch.tile.Reserve(tile_rows * x.stride);
  for (std::int64_t r = 0; r < std::ssize(ids); r += tile_rows) {
    const std::int64_t count = std::min(tile_rows, std::ssize(ids) - r);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = ids[static_cast<std::size_t>(r + i)];
      DecodeRow(weight.PartOf(row), row, weight.cols(), x.stride,
                scratch.tile.data() + i * x.stride);
    }
    kernels_.dots(scratch.tile.data(), static_cast<int>(count), x.x, x.stride, x.n, x.stride,
                  out + r, out_stride);
  }
}

// Chosen rows of a packed part, gathered into tiles of their own.
void CpuBackend::PackedChosen(const CpuWeight::Part& part, std::span<const int> ids, const Rows& x,
                              Scratch& scratch, float* out, std::int64_t out_stride) const {
  const QuantTileLayout& layout = *part.tiles;
  scratch.rows.Reserve(2 * layout.tile_bytes());
  for (std::int64_t r = 0; r < std::ssize(ids); r += 2 * kTileRows) {
    const std::int64_t count = std::min<std::int64_t>(2 * kTileRows, std::ssize(ids) - r);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = ids[static_cast<std::size_t>(r + i)] - part.first_row;
      layout.CopyRow(part.tile(row / kTileRows), static_cast<int>(row % kTileRows),
                     scratch.rows.data() + i / kTileRows * layout.tile_bytes(),
                     static_cast<int>(i % kTileRows));
    }
    TileDots(layout, scratch.rows.data(), count, x.quants, scratch, out + r, out_stride);
  }
}

void CpuBackend::MatMulRows(const PackedWeight& weight, std::span<const int> row_ids,
                            const float* x, int n, float* out) {
  const CpuWeight& w = AsCpu(weight);
  if (n == 0) return;
  const Rows rows = PrepareRows(w, x, n);
  const std::int64_t n_ids = std::ssize(row_ids);
  Split(n_ids, 8, n * w.cols(), [&](int thread, std::int64_t begin, std::int64_t end) {
    Scratch& scratch = scratch_[static_cast<std::size_t>(thread)];
    while (begin < end) {  // runs of ids of one part
      const auto id = [&](std::int64_t i) { return row_ids[static_cast<std::size_t>(i)]; };
      const CpuWeight::Part& part = w.PartOf(id(begin));
      std::int64_t last = begin + 1;
      while (last < end && &w.PartOf(id(last)) == &part) ++last;
      const auto ids =
          row_ids.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(last - begin));
      if (part.tiles) {
        PackedChosen(part, ids, rows, scratch, out + begin, n_ids);
      } else {
        PlainChosen(w, ids, rows, scratch, out + begin, n_ids);
      }
      begin = last;
    }
  });
}

void RotateHead(float* x, int half, RopePairing pairing, const float* cos, const float* sin) {
  if (pairing == RopePairing::kHalfSplit) {
    for (int i = 0; i < half; ++i) {
      const float a = x[i];
      const float b = x[i + half];
      x[i] = a * cos[i] - b * sin[i];
      x[i + half] = a * sin[i] + b * cos[i];
    }
    return;
  }
  for (int i = 0; i < half; ++i) {
    const float a = x[2 * i];
    const float b = x[2 * i + 1];
    x[2 * i] = a * cos[i] - b * sin[i];
    x[2 * i + 1] = a * sin[i] + b * cos[i];
  }
}

void CpuBackend::Rope(float* x, int n, int stride, int n_heads, int head_dim, int rope_dim,
                      RopePairing pairing, const RopeTable& table) {
  const std::int64_t half = rope_dim / 2;
  Split(n, 1, n_heads * head_dim, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      for (int h = 0; h < n_heads; ++h) {
        RotateHead(x + i * stride + h * head_dim, static_cast<int>(half), pairing,
                   table.cos.data() + i * half, table.sin.data() + i * half);
      }
    }
  });
}

void CpuBackend::WriteKv(int layer, const float* k, const float* v, int n, int stride, int kv_dim,
                         std::span<const KvCell> cells) {
  Split(n, 1, kv_dim, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const KvCell& cell = cells[static_cast<std::size_t>(i)];
      const auto& block = static_cast<const CpuKvBlock&>(*cell.block);
      float* key = block.keys(layer) + cell.cell;
      const float* from = k + i * stride;
      for (int d = 0; d < kv_dim; ++d) key[static_cast<std::int64_t>(d) * block.cells()] = from[d];
      std::copy(v + i * stride, v + i * stride + kv_dim,
                block.values(layer) + static_cast<std::int64_t>(cell.cell) * kv_dim);
    }
  });
}

void CpuBackend::Attention(int layer, const float* q, int n, int stride, int n_heads,
                           int n_kv_heads, int head_dim, float scale,
                           std::span<const AttentionRow> rows, float* out) {
  plan_.Build({.layer = layer,
               .q = q,
               .out = out,
               .n = n,
               .stride = stride,
               .n_heads = n_heads,
               .n_kv_heads = n_kv_heads,
               .head_dim = head_dim,
               .scale = scale,
               .rows = rows},
              pool_.n_threads());
  if (plan_.work() < kInlineWork || pool_.n_threads() == 1) {
    for (const AttentionPlan::Item& item : plan_.items()) AttendTile(plan_, item, scratch_[0]);
    return;
  }
  pool_.Run([&](int thread) {
    const auto t = static_cast<std::size_t>(thread);
    for (std::size_t i = plan_.first_item(thread); i < plan_.first_item(thread + 1); ++i) {
      AttendTile(plan_, plan_.items()[i], scratch_[t]);
    }
  });
}

void CpuBackend::AttendTile(const AttentionPlan& plan, const AttentionPlan::Item& item,
                            Scratch& scratch) {
  plan.Queries(item, &scratch.queries);
  const int cells = plan.Runs(item, &scratch.runs);
  const AttentionPlan::Call& call = plan.call();
  AttentionTile tile;
  tile.runs = scratch.runs.data();
  tile.n_runs = static_cast<int>(scratch.runs.size());
  tile.cells = cells;
  tile.value_stride = call.n_kv_heads * call.head_dim;
  tile.head_dim = call.head_dim;
  tile.scale = call.scale;
  tile.queries = scratch.queries.data();
  tile.n_queries = static_cast<int>(scratch.queries.size());
  tile.score_stride = (item.n_keys + kMaxLanes - 1) / kMaxLanes * kMaxLanes;
  scratch.scores.Reserve(tile.n_queries * tile.score_stride);
  tile.scores = scratch.scores.data();
  kernels_.attention(tile);
}

void CpuBackend::GatedActivation(const float* gate_up, Activation activation, int n, int width,
                                 float* out) {
  const auto function =
      activation == Activation::kSilu ? kernels_.gated_silu : kernels_.gated_gelu_tanh;
  Split(n, 1, width, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float* row = gate_up + i * 2 * width;
      function(row, row + width, width, out + i * width);
    }
  });
}

void CpuBackend::Add(float* x, const float* y, int n, int width) {
  Split(static_cast<std::int64_t>(n) * width, 1 << 12, 1,
        [&](int, std::int64_t begin, std::int64_t end) {
          kernels_.add(x + begin, y + begin, end - begin);
        });
}

void CpuBackend::GatherRows(const float* x, std::span<const int> rows, int width, float* out) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float* row = x + static_cast<std::int64_t>(rows[i]) * width;
    std::copy(row, row + width, out + static_cast<std::int64_t>(i) * width);
  }
}

void CpuBackend::LogSumExp(const float* logits, int n, int width, double* out) {
  Split(n, 1, width, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      out[i] = width == 0 ? -std::numeric_limits<double>::infinity()
                          : kernels_.log_sum_exp(logits + i * width, width);
    }
  });
}

void CpuBackend::SoftCap(float* logits, int n, int width, float cap) {
  Split(static_cast<std::int64_t>(n) * width, 1 << 12, 1,
        [&](int, std::int64_t begin, std::int64_t end) {
          kernels_.soft_cap(logits + begin, cap, end - begin);
        });
}

}  // namespace

Result<std::unique_ptr<Backend>> NewCpuBackend(const CpuBackendOptions& options) {
  ADJUDGE_ASSIGN_OR_RETURN(const int threads, ResolveThreadCount(options.threads));
  const std::vector<CpuIsa>& available = AvailableIsas();
  const CpuIsa isa = options.isa.value_or(available.back());
  if (std::find(available.begin(), available.end(), isa) == available.end()) {
    return Fail(ErrorCode::kUnsupported,
                "this machine or build lacks the instruction set " + std::string(ToString(isa)),
                "cpu-isa");
  }
  try {
    return std::make_unique<CpuBackend>(threads, isa, options.precision);
  } catch (const std::system_error& error) {
    return Fail(ErrorCode::kLimit,
                "the system gives no " + std::to_string(threads) + " threads: " + error.what(),
                "threads");
  }
}

}  // namespace adjudge
