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

// Rows of activations as integers, a block of the weight's size at a time, in the form that the
// products of one QuantKernel read.
struct QuantRows {
  const std::byte* x = nullptr;
  const std::byte* scales = nullptr;
  int n = 0;
  std::int64_t cols = 0;
};

// 16 packed rows of a weight (quant_tiles.h). An element is scale * quant + offset, or
// scale * (quant - centre) in formats without offsets.
struct QuantTile {
  const unsigned char* quants = nullptr;
  const float* scales = nullptr;  // [blocks, 1 or 2, 16]: scales, offsets if there are any
  int n_rows = 0;                 // of the 16, that are written; 0: no tile
  float* out = nullptr;
};

// tiles: two; out[i * out_stride + r] = row r of a tile . x[i]
using QuantDotsFn = void (*)(const QuantTile* tiles, const QuantRows& rows,
                             std::int64_t out_stride);
// x: n rows of cols floats, cols a multiple of 32; n at most the kernel's group.
using QuantizeFn = void (*)(const float* x, int n, std::int64_t cols, void* quants, void* scales);

// Products with weights of some bits and block. All kernels of one form of activations give the
// same bits: sums within a block are of integers.
struct QuantKernel {
  int group = 0;          // rows that are quantised together; 0: there is no such kernel
  int element_bytes = 0;  // of a quantised row
  int scale_bytes = 0;    // of a block of a row
  QuantizeFn quantize = nullptr;
  QuantDotsFn dots[2] = {};  // [has offsets]
};

// Activations of 8 bits (fast), or (default) of 12 with weights of 4 bits and 16 with weights of 8.
struct QuantKernels {
  QuantKernel of[2][2];  // [weight bits == 8][block == 32]
};

// Products of weights of bfloat16 (bf16.inc.h, matrix_bf16.inc.h).
struct Bf16Kernel {
  // n rows, 16 at most, into a group of 16 with columns up to a multiple of 32.
  void (*stage)(const float* x, int n, std::int64_t cols, std::byte* out) = nullptr;
  void (*dots)(const std::byte* tiles, std::int64_t tile_bytes, std::int64_t n_rows,
               const std::byte* x, int n, float* out, std::int64_t out_stride) = nullptr;
};

struct CpuKernels {
  int lanes = 0;
  DecodeFn decode[kTensorTypes] = {};
  // out[j * out_stride + i] = w[i] . x[j]. w: [n_w, k] with rows k apart, 64-byte aligned; x rows
  // are x_stride apart. REQUIRES: k is a multiple of lanes.
  void (*dots)(const float* w, int n_w, const float* x, std::int64_t x_stride, int n_x,
               std::int64_t k, float* out, std::int64_t out_stride) = nullptr;
  QuantKernels wide;   // of Precision::kDefault
  QuantKernels bytes;  // of kFast; empty where the machine has no dot product of bytes
  // The same bits, faster for many rows; empty where the machine has no matrix unit.
  QuantKernels wide_many;
  QuantKernels bytes_many;
  // With rows of one plane [0] or two [1]; empty where the machine has no such product.
  Bf16Kernel bf16[2];
  // Float16 numbers of a tile's scales -> floats, and those of the K formats: for each
  // `per_over` blocks one or two vectors of float16, then bytes. Both fetch what lies `ahead` bytes
  // behind into the cache. out: [n_blocks, 1 or 2, 16]
  void (*expand_halves)(const std::byte* stored, std::int64_t n_vectors, std::int64_t ahead,
                        float* out) = nullptr;
  void (*expand_bytes)(const std::byte* stored, std::int64_t n_blocks, int per_over,
                       bool has_offsets, std::int64_t ahead, float* out) = nullptr;
  void (*attention)(const AttentionTile& tile) = nullptr;
  // On a matrix unit, where there is one: scores in numbers of 16 bits, weights and values in
  // numbers of 8 bits [0] or 16 [1]. A tile's scores are attention_scratch(head_dim, n_queries)
  // bytes.
  void (*attention_many[2])(const AttentionTile& tile) = {};
  std::int64_t (*attention_scratch)(int head_dim, int n_queries) = nullptr;
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
extern const CpuKernels kKernelsAvxVnni;
extern const CpuKernels kKernelsAvx512;
extern const CpuKernels kKernelsAvx512Vnni;
extern const CpuKernels kKernelsAvx512Bf16;
extern const CpuKernels kKernelsAmx;
#endif
#if defined(__aarch64__) && !defined(ADJUDGE_SCALAR)
extern const CpuKernels kKernelsNeon;
#endif

}  // namespace adjudge
