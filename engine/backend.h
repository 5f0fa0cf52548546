// Backend: the boundary between the model's arithmetic and the machine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/model_config.h"

namespace adjudge {

// The element types of weights as files store them; block formats are named as in GGUF.
enum class TensorType {
  kF32,
  kF16,
  kBF16,
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
};

// A matrix in a file, row-major: `rows` rows of `cols` elements (cols is the fast dimension).
struct TensorView {
  TensorType type = TensorType::kF32;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  const std::byte* data = nullptr;
  std::string_view name = {};  // for errors
};

// Memory of a backend. [n] float. The CPU backends' data() is host memory.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual float* data() = 0;
  virtual std::int64_t size() const = 0;
};

// A weight matrix in the backend's own layout. Immutable.
class PackedWeight {
 public:
  virtual ~PackedWeight() = default;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t cols() const = 0;
  virtual std::int64_t bytes() const = 0;
};

// Keys and values of KvCache::kBlockTokens tokens, all layers.
// keys: [n_layers, block_tokens, kv_dim], values: the same.
class KvBlock {
 public:
  virtual ~KvBlock() = default;
};

// A run of cached tokens in one block: cells [begin, begin + count).
struct KvRun {
  KvBlock* block = nullptr;
  int begin = 0;
  int count = 0;
};

// What one new token attends to: its sequence's runs in order, cut to n_keys tokens in all (itself
// is the last) from index `first_key` on, the first inside the window of a windowed layer. Bits
// depend on the keys seen and their order alone, never on where one run ends and the next begins.
struct AttentionRow {
  std::span<const KvRun> runs;  // shared by the rows of an entry
  int n_keys = 0;
  int first_key = 0;
};

struct KvCell {
  KvBlock* block = nullptr;
  int cell = 0;
};

// Cos and sin of each row's position: [n_rows, rope_dim / 2] each.
struct RopeTable {
  std::span<const float> cos;
  std::span<const float> sin;
};

// Some dozen operations over rows. Every row's result depends on that row alone and is summed in
// one fixed order, whatever the number of rows or threads. Pointers are the backend's memory; n is
// the number of rows. Used by one thread at a time, but for NewBuffer and NewKvBlock, which any
// thread may call at any time.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual int n_threads() const { return 1; }

  virtual std::unique_ptr<Buffer> NewBuffer(std::int64_t n) = 0;
  // Copies and repacks; the file's pages are not needed afterwards. Several views are stacked by
  // rows into one weight (fused q, k and v; gate and up). kMalformed, naming the view and the row,
  // for a number that is not finite.
  virtual Result<std::unique_ptr<PackedWeight>> Pack(std::span<const TensorView> stacked) = 0;
  virtual std::unique_ptr<KvBlock> NewKvBlock(int n_layers, int block_tokens, int kv_dim) = 0;

  // out[i] = weight row ids[i] * scale. out: [n, cols]
  virtual void Embed(const PackedWeight& weight, std::span<const int> ids, float scale,
                     float* out) = 0;
  // out[i] = x[i] / sqrt(mean(x[i]^2) + eps) * gain, over rows of `width`. May be in place.
  virtual void RmsNorm(const float* x, std::span<const float> gain, float eps, int n,
                       float* out) = 0;
  // out[i, r] = x[i] . weight[r] (+ bias[r]). x: [n, cols], out: [n, rows]
  virtual void MatMul(const PackedWeight& weight, const float* x, int n,
                      std::span<const float> bias, float* out) = 0;
  // The same for chosen rows of the weight: out: [n, row_ids.size()]. Bits equal MatMul's.
  virtual void MatMulRows(const PackedWeight& weight, std::span<const int> row_ids, const float* x,
                          int n, float* out) = 0;
  // Rotates the first rope_dim of each of n_heads heads of head_dim in place; row i begins at
  // x + i * stride.
  virtual void Rope(float* x, int n, int stride, int n_heads, int head_dim, int rope_dim,
                    RopePairing pairing, const RopeTable& table) = 0;
  // Writes row i's key and value (k + i * stride, v + i * stride, kv_dim each) into its cell.
  virtual void WriteKv(int layer, const float* k, const float* v, int n, int stride, int kv_dim,
                       std::span<const KvCell> cells) = 0;
  // Softmax attention of row i's q (q + i * stride, [n_heads, head_dim]) over its keys, in order.
  // out: [n, n_heads * head_dim]
  virtual void Attention(int layer, const float* q, int n, int stride, int n_heads, int n_kv_heads,
                         int head_dim, float scale, std::span<const AttentionRow> rows,
                         float* out) = 0;
  // gate_up: [n, 2 * width] (gate then up); out[i, j] = act(gate) * up: [n, width]
  virtual void GatedActivation(const float* gate_up, Activation activation, int n, int width,
                               float* out) = 0;
  // x += y, [n, width]
  virtual void Add(float* x, const float* y, int n, int width) = 0;
  // out[i] = x[rows[i]], [rows.size(), width]
  virtual void GatherRows(const float* x, std::span<const int> rows, int width, float* out) = 0;
  // out[i] = log sum_j exp(logits[i, j]), j < width
  virtual void LogSumExp(const float* logits, int n, int width, double* out) = 0;
  // logits = cap * tanh(logits / cap), in place
  virtual void SoftCap(float* logits, int n, int width, float cap) = 0;
};

}  // namespace adjudge
