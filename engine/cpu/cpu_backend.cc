#include "engine/cpu/cpu_backend.h"

#include <algorithm>
#include <atomic>
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
// From this many rows on the matrix unit is faster, though it computes 16 at a time.
constexpr int kManyRows = 7;
// Bytes of staged rows that pass by tiles of BF16 while they stay there.
constexpr std::int64_t kBf16ChunkBytes = 1 << 20;
constexpr int kTileRows = QuantTileLayout::kRows;

class CpuBackend final : public Backend {
 public:
  CpuBackend(int threads, CpuIsa isa, Precision precision)
      : kernels_(KernelsFor(isa)),
        packs_(precision != Precision::kExact),
        bytes_(precision == Precision::kFast && kernels_.bytes.of[0][0].group > 0),
        bf16_(kernels_.bf16[precision == Precision::kFast ? 0 : 1]),
        attention_many_(packs_ ? kernels_.attention_many[bytes_ ? 0 : 1] : nullptr),
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
    QuantRows quants[2][2];           // for those that are, by [bits == 8][block == 32]
    const std::byte* bf16 = nullptr;  // for tiles of BF16
    int n = 0;
  };
  struct Quantised {  // memory of the above
    AlignedArray<std::byte> x;
    AlignedArray<std::byte> scales;
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
  bool CopyPart(const CpuWeight::Part& part, const std::byte* from, std::int64_t cols);
  Rows PrepareRows(const CpuWeight& weight, const float* x, int n);
  void PadRows(const CpuWeight& weight, const float* x, Rows* rows);
  std::int64_t Bf16GroupBytes(std::int64_t cols) const;
  void StageBf16(const CpuWeight& weight, const float* x, Rows* rows);
  void Bf16Dots(const Bf16TileLayout& layout, const std::byte* tiles, std::int64_t n_rows,
                std::int64_t cols, const Rows& x, float* out, std::int64_t out_stride) const;
  const QuantKernel& KernelOf(const QuantFormat& format, int n) const;
  void QuantizeRows(const QuantKernel& kernel, const QuantFormat& format, const float* x, int n,
                    std::int64_t cols, QuantRows* rows);
  std::int64_t TileRows(std::int64_t padded_cols, int n) const;
  void DecodeRow(const CpuWeight::Part& part, std::int64_t row, std::int64_t cols,
                 std::int64_t padded, float* out) const;
  void PlainRows(const CpuWeight& weight, const CpuWeight::Part& part, std::int64_t begin,
                 std::int64_t end, const Rows& x, Scratch& scratch, float* out) const;
  void TileDots(const QuantTileLayout& layout, const std::byte* tiles, std::int64_t n_rows,
                const Rows& x, Scratch& scratch, float* out, std::int64_t out_stride) const;
  void ExpandScales(const QuantTileLayout& layout, const std::byte* tile, float* out) const;
  void PlainChosen(const CpuWeight& weight, std::span<const int> ids, const Rows& x,
                   Scratch& scratch, float* out, std::int64_t out_stride) const;
  void PackedChosen(const CpuWeight::Part& part, std::int64_t cols, std::span<const int> ids,
                    const Rows& x, Scratch& scratch, float* out, std::int64_t out_stride) const;
  AttentionPlan::Limits AttentionLimits(int n, int n_heads) const;
  void AttendTile(const AttentionPlan& plan, const AttentionPlan::Item& item, Scratch& scratch);

  const CpuKernels& kernels_;
  const bool packs_;  // block formats into tiles
  const bool bytes_;  // activations are bytes
  const Bf16Kernel& bf16_;
  void (*const attention_many_)(const AttentionTile&);  // null where attention is float32
  std::string name_;
  ThreadPool pool_;
  std::vector<Scratch> scratch_;     // one a thread
  AlignedArray<float> padded_rows_;  // of PadRows
  AlignedArray<std::byte> staged_bf16_;
  Quantised quantised_[2][2];
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
    if (packs_ && bf16_.dots != nullptr && view.type == TensorType::kBF16) part.bf16.emplace(cols);
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
    // Found in the pass that reads the pages anyway; the row, in one more.
    if (!CopyPart(parts[i], stacked[i].data, cols)) {
      ADJUDGE_RETURN_IF_ERROR(CheckFinite(stacked[i]));
    }
    to += parts[i].bytes();
  }
  weight->parts() = std::move(parts);
  return weight;
}

// False when a number of the weight is not finite.
bool CpuBackend::CopyPart(const CpuWeight::Part& part, const std::byte* from, std::int64_t cols) {
  std::atomic<bool> finite{true};
  const auto copy = [&](std::int64_t row, int n) {
    const std::byte* rows = from + row * part.row_bytes;
    if (!AllFinite(part.type, rows, n * cols)) finite = false;
    if (part.tiled()) {
      std::byte* tile = part.data + row / kTileRows * part.tile_bytes();
      std::memset(tile, 0, static_cast<std::size_t>(part.tile_bytes()));
      if (part.tiles) {
        part.tiles->Pack(part.type, rows, part.row_bytes, n, tile);
      } else {
        part.bf16->Pack(rows, part.row_bytes, n, tile);
      }
    } else {
      std::memcpy(part.data + row * part.row_bytes, rows,
                  static_cast<std::size_t>(n * part.row_bytes));
    }
  };
  pool_.For(part.n_tiles(), 1, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t left = part.n_rows - i * kTileRows;
      copy(i * kTileRows, static_cast<int>(std::min<std::int64_t>(kTileRows, left)));
    }
  });
  return finite;
}

void CpuBackend::DecodeRow(const CpuWeight::Part& part, std::int64_t row, std::int64_t cols,
                           std::int64_t padded, float* out) const {
  const std::int64_t i = row - part.first_row;
  if (part.tiles) {
    part.tiles->UnpackRow(part.tile(i / kTileRows), static_cast<int>(i % kTileRows), out);
  } else if (part.bf16) {
    auto* halves = reinterpret_cast<std::byte*>(out) + cols * 2;  // widened from the front
    part.bf16->UnpackRow(part.tile(i / kTileRows), static_cast<int>(i % kTileRows), halves);
    for (std::int64_t c = 0; c < cols; ++c) {
      std::uint16_t half;
      std::memcpy(&half, halves + c * 2, 2);
      out[c] = BFloat16ToFloat(half);
    }
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
  const auto tiled = [](const CpuWeight::Part& part) { return part.tiled(); };
  const auto bf16 = [](const CpuWeight::Part& part) { return part.bf16.has_value(); };
  if (!std::all_of(parts.begin(), parts.end(), tiled)) PadRows(weight, x, &rows);
  if (std::any_of(parts.begin(), parts.end(), bf16)) StageBf16(weight, x, &rows);
  for (const CpuWeight::Part& part : parts) {
    if (!part.tiles) continue;
    const QuantFormat& format = part.tiles->format();
    QuantRows& quants = rows.quants[format.bits == 8 ? 1 : 0][format.block == 32 ? 1 : 0];
    if (quants.n > 0) continue;  // of a part before
    QuantizeRows(KernelOf(format, n), format, x, n, weight.cols(), &quants);
  }
  return rows;
}

const QuantKernel& CpuBackend::KernelOf(const QuantFormat& format, int n) const {
  const auto of = [&](const QuantKernels& kernels) -> const QuantKernel& {
    return kernels.of[format.bits == 8 ? 1 : 0][format.block == 32 ? 1 : 0];
  };
  const QuantKernel& many = of(bytes_ ? kernels_.bytes_many : kernels_.wide_many);
  if (n >= kManyRows && many.group > 0) return many;
  return of(bytes_ ? kernels_.bytes : kernels_.wide);
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

std::int64_t CpuBackend::Bf16GroupBytes(std::int64_t cols) const {
  return Bf16TileLayout(cols).tile_bytes() * (&bf16_ == &kernels_.bf16[1] ? 2 : 1);
}

void CpuBackend::StageBf16(const CpuWeight& weight, const float* x, Rows* rows) {
  const std::int64_t cols = weight.cols();
  const std::int64_t groups = (rows->n + kTileRows - 1) / kTileRows;
  const std::int64_t bytes = Bf16GroupBytes(cols);
  // A group more: the last pair of groups may be half there.
  staged_bf16_.Reserve((groups + 1) * bytes);
  Split(groups, 1, kTileRows * cols, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto n = static_cast<int>(std::min<std::int64_t>(kTileRows, rows->n - i * kTileRows));
      bf16_.stage(x + i * kTileRows * cols, n, cols, staged_bf16_.data() + i * bytes);
    }
  });
  rows->bf16 = staged_bf16_.data();
}

// n_rows of neighbouring tiles of BF16.
void CpuBackend::Bf16Dots(const Bf16TileLayout& layout, const std::byte* tiles, std::int64_t n_rows,
                          std::int64_t cols, const Rows& x, float* out,
                          std::int64_t out_stride) const {
  const std::int64_t group = Bf16GroupBytes(cols);
  const int chunk = static_cast<int>(std::max<std::int64_t>(kBf16ChunkBytes / group / 2 * 32, 32));
  for (int row = 0; row < x.n; row += chunk) {
    bf16_.dots(tiles, layout.tile_bytes(), n_rows, x.bf16 + row / kTileRows * group,
               std::min(chunk, x.n - row), out + row * out_stride, out_stride);
  }
}

void CpuBackend::QuantizeRows(const QuantKernel& kernel, const QuantFormat& format, const float* x,
                              int n, std::int64_t cols, QuantRows* rows) {
  Quantised& memory = quantised_[format.bits == 8 ? 1 : 0][format.block == 32 ? 1 : 0];
  const std::int64_t groups = (n + kernel.group - 1) / kernel.group;
  const std::int64_t bytes = kernel.group * cols * kernel.element_bytes;
  const std::int64_t scale_bytes = kernel.group * cols / format.block * kernel.scale_bytes;
  memory.x.Reserve(groups * bytes);
  memory.scales.Reserve(groups * scale_bytes);
  Split(groups, 1, kernel.group * cols, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i * kernel.group;
      kernel.quantize(x + first * cols,
                      static_cast<int>(std::min<std::int64_t>(kernel.group, n - first)), cols,
                      memory.x.data() + i * bytes, memory.scales.data() + i * scale_bytes);
    }
  });
  *rows = {.x = memory.x.data(), .scales = memory.scales.data(), .n = n, .cols = cols};
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
                          std::int64_t n_rows, const Rows& x, Scratch& scratch, float* out,
                          std::int64_t out_stride) const {
  const QuantFormat& format = layout.format();
  const QuantKernel& kernel = KernelOf(format, x.n);
  const QuantRows& all = x.quants[format.bits == 8 ? 1 : 0][format.block == 32 ? 1 : 0];
  const std::int64_t vectors = layout.n_blocks() * (format.has_offsets ? 2 : 1);
  scratch.scales.Reserve(2 * vectors * kTileRows);
  const std::int64_t row_bytes = all.cols * kernel.element_bytes;
  const std::int64_t row_scale_bytes = layout.n_blocks() * kernel.scale_bytes;
  const int chunk_rows = static_cast<int>(
      std::clamp<std::int64_t>(kQuantChunkBytes / row_bytes / 48 * 48, 48, 1 << 20));
  QuantRows chunk = all;
  for (int row = 0; row < all.n; row += chunk_rows) {
    chunk.n = std::min(chunk_rows, all.n - row);
    chunk.x = all.x + row * row_bytes;
    chunk.scales = all.scales + row * row_scale_bytes;
    for (std::int64_t r = 0; r < n_rows; r += 2 * kTileRows) {
      QuantTile pair[2];
      for (int i = 0; i < 2 && r + i * kTileRows < n_rows; ++i) {
        const std::byte* tile = tiles + (r / kTileRows + i) * layout.tile_bytes();
        float* expanded = scratch.scales.data() + i * vectors * kTileRows;
        ExpandScales(layout, tile, expanded);
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
      kernel.dots[format.has_offsets ? 1 : 0](pair, chunk, out_stride);
    }
  }
}

void CpuBackend::ExpandScales(const QuantTileLayout& layout, const std::byte* tile,
                              float* out) const {
  const QuantFormat& format = layout.format();
  const std::int64_t ahead = 2 * layout.tile_bytes();
  if (format.bytes) {
    kernels_.expand_bytes(tile, layout.n_blocks(), QuantTileLayout::kOver / format.block,
                          format.has_offsets, ahead, out);
  } else {
    kernels_.expand_halves(tile, layout.n_blocks() * (format.has_offsets ? 2 : 1), ahead, out);
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
            if (part.tiled()) {
              const auto up = [&](std::int64_t row) {
                return std::min(part_end, part.first_row + (row - part.first_row + kTileRows - 1) /
                                                               kTileRows * kTileRows);
              };
              from = up(from);
              to = up(to);
            }
            if (from >= to) continue;
            if (part.tiles) {
              TileDots(*part.tiles, part.tile((from - part.first_row) / kTileRows), to - from, rows,
                       scratch, out + from, w.rows());
            } else if (part.bf16) {
              Bf16Dots(*part.bf16, part.tile((from - part.first_row) / kTileRows), to - from,
                       w.cols(), rows, out + from, w.rows());
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
void CpuBackend::PackedChosen(const CpuWeight::Part& part, std::int64_t cols,
                              std::span<const int> ids, const Rows& x, Scratch& scratch, float* out,
                              std::int64_t out_stride) const {
  const std::int64_t tile_bytes = part.tile_bytes();
  scratch.rows.Reserve(2 * tile_bytes);
  for (std::int64_t r = 0; r < std::ssize(ids); r += 2 * kTileRows) {
    const std::int64_t count = std::min<std::int64_t>(2 * kTileRows, std::ssize(ids) - r);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = ids[static_cast<std::size_t>(r + i)] - part.first_row;
      const std::byte* from = part.tile(row / kTileRows);
      std::byte* to = scratch.rows.data() + i / kTileRows * tile_bytes;
      const auto from_row = static_cast<int>(row % kTileRows);
      const auto to_row = static_cast<int>(i % kTileRows);
      if (part.tiles) {
        part.tiles->CopyRow(from, from_row, to, to_row);
      } else {
        part.bf16->CopyRow(from, from_row, to, to_row);
      }
    }
    if (part.tiles) {
      TileDots(*part.tiles, scratch.rows.data(), count, x, scratch, out + r, out_stride);
    } else {
      Bf16Dots(*part.bf16, scratch.rows.data(), count, cols, x, out + r, out_stride);
    }
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
      if (part.tiled()) {
        PackedChosen(part, w.cols(), ids, rows, scratch, out + begin, n_ids);
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
              pool_.n_threads(), AttentionLimits(n, n_heads));
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

// On the matrix unit keys are made ready once an item: items are large, and heads stay together.
AttentionPlan::Limits CpuBackend::AttentionLimits(int n, int n_heads) const {
  if (attention_many_ == nullptr) return {};
  const int per_item = n * n_heads / (8 * pool_.n_threads());
  return {.queries = std::clamp(per_item / 16 * 16, 48, 256),
          .scores = std::numeric_limits<std::int64_t>::max(),
          .by_head = false};
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
  if (attention_many_ != nullptr) {
    const std::int64_t bytes = kernels_.attention_scratch(tile.head_dim, tile.n_queries);
    scratch.scores.Reserve(bytes / static_cast<std::int64_t>(sizeof(float)));
    tile.scores = scratch.scores.data();
    return attention_many_(tile);
  }
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
                "this machine or build lacks the instruction set " + std::string(ToString(isa)) +
                    "; it has " + AvailableIsaNames(),
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
