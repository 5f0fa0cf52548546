// The inner loops of the CPU backend, one table of functions an instruction set.
//
// The files kernels_*.cc are the same text (the .inc.h files) compiled with different flags. They
// use nothing of the standard library, so that no inline function compiled for a newer machine can
// be picked by the linker for an older one.
//
// Bits: a function's result for one row, head or element depends on that one alone. Where sums run
// over several lanes, lane l takes the elements l, l + lanes, l + 2 lanes, ... in order, and the
// lanes are added in halves: i with i + lanes / 2, then i with i + lanes / 4, and so on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cpu/isa.h"

namespace adjudge {

// Rows of a weight are decoded into float tiles; everything behind the tile is one GEMM. `n` is a
// multiple of the format's block. Values equal the format's definition to the bit.
using DecodeFn = void (*)(const std::byte* data, std::int64_t n, float* out);

inline constexpr int kTensorTypes = 13;  // of TensorType, in its order
inline constexpr int kMaxLanes = 16;

// A run of keys of one layer and one key head. Keys lie transposed, [head_dim, cells], so that a
// vector holds one dimension of neighbouring keys; values lie as [cells, value_stride].
struct KeyRun {
  const float* keys = nullptr;
  const float* values = nullptr;
  int begin = 0;  // first cell
  int count = 0;
};

struct AttentionQuery {
  const float* q = nullptr;  // [head_dim]
  float* out = nullptr;      // [head_dim]
  int first_key = 0;
  int n_keys = 0;
};

// Queries that look at the same runs, with the same key head.
struct AttentionTile {
  const KeyRun* runs = nullptr;
  int n_runs = 0;
  int cells = 0;         // of a block, a multiple of kMaxLanes
  int value_stride = 0;  // floats between the values of neighbouring cells
  int head_dim = 0;
  float scale = 0;
  const AttentionQuery* queries = nullptr;
  int n_queries = 0;
  float* scores = nullptr;  // scratch, [n_queries, score_stride]
  std::int64_t score_stride = 0;
};

// Of a block of quantised elements: the scale, and the sum of the integers times the scale.
struct QuantScale {
  float scale = 0;
  float sum = 0;
};

// Rows of activations as integers, each 32 with a scale. Integers of 16 bits lie in the order
// 0, 2, 1, 3 of every four, as the weights' even and odd bytes want them.
struct QuantRows {
  const void* x = nullptr;               // int8 or int16, [n, cols]
  const QuantScale* scales32 = nullptr;  // [n, cols / 32]
  const QuantScale* scales16 = nullptr;  // [n, cols / 16]: the same scales, sums of 16
  int n = 0;
  std::int64_t cols = 0;
};

// 16 packed rows of a weight (quant_tiles.h). An element is scale * quant + offset.
struct QuantTile {
  const unsigned char* quants = nullptr;
  const float* scales = nullptr;  // [blocks, 2, 16]: scales, offsets
  int n_rows = 0;                 // of the 16, that are written; 0: no tile
  float* out = nullptr;
};

// tiles: two; out[i * out_stride + r] = row r of a tile . x[i]
using QuantDotsFn = void (*)(const QuantTile* tiles, const QuantRows& rows,
                             std::int64_t out_stride);
// x: n floats, a multiple of 32. quants and scales as in QuantRows.
using QuantizeFn = void (*)(const float* x, std::int64_t n, void* quants, QuantScale* scales32,
                            QuantScale* scales16);

// Products with activations of one width. Indexed by [weight bits == 8][block == 32].
struct QuantKernels {
  QuantizeFn quantize = nullptr;
  QuantDotsFn dots[2][2] = {};
};

struct CpuKernels {
  int lanes = 0;
  DecodeFn decode[kTensorTypes] = {};
  // out[j * out_stride + i] = w[i] . x[j]. w: [n_w, k] with rows k apart, 64-byte aligned; x rows
  // are x_stride apart. REQUIRES: k is a multiple of lanes.
  void (*dots)(const float* w, int n_w, const float* x, std::int64_t x_stride, int n_x,
               std::int64_t k, float* out, std::int64_t out_stride) = nullptr;
  QuantKernels quant16;
  QuantKernels quant8;  // empty where the machine has no dot product of bytes
  // Stored scales of a tile -> [n_blocks, 2, 16]. Where no offsets are stored, an offset is
  // -centre * scale. Fetches what lies `ahead` bytes behind into the cache.
  void (*expand_scales)(const std::byte* stored, std::int64_t n_blocks, bool halves,
                        bool has_offsets, float centre, std::int64_t ahead, float* out) = nullptr;
  void (*attention)(const AttentionTile& tile) = nullptr;
  void (*rms_norm)(const float* x, const float* gain, float eps, int width, float* out) = nullptr;
  void (*gated_silu)(const float* gate, const float* up, int width, float* out) = nullptr;
  void (*gated_gelu_tanh)(const float* gate, const float* up, int width, float* out) = nullptr;
  void (*add)(float* x, const float* y, std::int64_t n) = nullptr;
  void (*scale)(float* x, float factor, std::int64_t n) = nullptr;
  // Log of the sum of exp(x[i]), accumulated in double.
  double (*log_sum_exp)(const float* x, int n) = nullptr;
  void (*soft_cap)(float* x, float cap, std::int64_t n) = nullptr;
  // e^x within 2 units in the last place for -87 <= x <= 88; 0 below, e^88 above. NaN stays NaN.
  void (*exp)(const float* x, std::int64_t n, float* out) = nullptr;
};

// REQUIRES: isa is one of AvailableIsas().
const CpuKernels& KernelsFor(CpuIsa isa);

extern const CpuKernels kKernelsBaseline;
#if defined(__x86_64__) && !defined(ADJUDGE_SCALAR)
extern const CpuKernels kKernelsAvx2;
extern const CpuKernels kKernelsAvx512;
extern const CpuKernels kKernelsAvx512Vnni;
#endif

}  // namespace adjudge
