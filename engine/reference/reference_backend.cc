#include "engine/reference/reference_backend.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/model/dequantize.h"

namespace adjudge {
namespace {

class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(std::int64_t n) : data_(static_cast<std::size_t>(n)) {}
  float* data() override { return data_.data(); }
  std::int64_t size() const override { return static_cast<std::int64_t>(data_.size()); }

 private:
  std::vector<float> data_;
};

// The file's own bytes, part below part.
class FileWeight final : public PackedWeight {
 public:
  explicit FileWeight(std::span<const TensorView> stacked) : cols_(stacked.front().cols) {
    for (const TensorView& view : stacked) {
      const auto bytes = static_cast<std::size_t>(TensorBytes(view.type, view.rows * view.cols));
      parts_.push_back({view.type, rows_, {view.data, view.data + bytes}});
      rows_ += view.rows;
    }
  }

  std::int64_t rows() const override { return rows_; }
  std::int64_t cols() const override { return cols_; }
  std::int64_t bytes() const override {
    std::size_t bytes = 0;
    for (const Part& part : parts_) bytes += part.bytes.size();
    return static_cast<std::int64_t>(bytes);
  }

  // out: [cols]
  void Row(std::int64_t row, float* out) const {
    std::size_t p = parts_.size() - 1;
    while (parts_[p].first_row > row) --p;
    const std::int64_t offset = TensorBytes(parts_[p].type, (row - parts_[p].first_row) * cols_);
    Dequantize(parts_[p].type, parts_[p].bytes.data() + offset, cols_, out);
  }

 private:
  struct Part {
    TensorType type;
    std::int64_t first_row;
    std::vector<std::byte> bytes;
  };
  std::vector<Part> parts_;
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
};

class HostKvBlock final : public KvBlock {
 public:
  HostKvBlock(int n_layers, int block_tokens, int kv_dim)
      : block_tokens_(block_tokens),
        kv_dim_(kv_dim),
        keys_(static_cast<std::size_t>(n_layers) * static_cast<std::size_t>(block_tokens * kv_dim)),
        values_(keys_.size()) {}

  float* key(int layer, int cell) { return keys_.data() + Offset(layer, cell); }
  float* value(int layer, int cell) { return values_.data() + Offset(layer, cell); }

 private:
  std::size_t Offset(int layer, int cell) const {
    return (static_cast<std::size_t>(layer) * static_cast<std::size_t>(block_tokens_) +
            static_cast<std::size_t>(cell)) *
           static_cast<std::size_t>(kv_dim_);
  }

  int block_tokens_;
  int kv_dim_;
  std::vector<float> keys_;    // [n_layers, block_tokens, kv_dim]
  std::vector<float> values_;  // [n_layers, block_tokens, kv_dim]
};

const FileWeight& AsFileWeight(const PackedWeight& weight) {
  return static_cast<const FileWeight&>(weight);
}

HostKvBlock& AsHostBlock(KvBlock* block) { return static_cast<HostKvBlock&>(*block); }

std::size_t At(std::int64_t row, std::int64_t stride) {
  return static_cast<std::size_t>(row * stride);
}

double Activate(double x, Activation activation) {
  switch (activation) {
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kGeluTanh: {
      const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1 + std::tanh(inner));
    }
  }
  ADJUDGE_CHECK_MSG(false, "an activation without a formula");
  return 0;
}

constexpr int kTile = 8;  // rows of x worked on at a time; each keeps its own sum

// sums[i] = x[i] . w for kTile rows of x, which lie interleaved: xt[j * kTile + i].
void DotTile(const double* xt, const float* w, std::int64_t cols, double* sums) {
  double acc[kTile] = {};
  for (std::int64_t j = 0; j < cols; ++j) {
    const double weight = w[j];
    for (int i = 0; i < kTile; ++i) acc[i] += weight * xt[j * kTile + i];
  }
  std::copy(acc, acc + kTile, sums);
}

double Dot(const float* x, const float* w, std::int64_t n) {
  double sum = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    sum += static_cast<double>(w[j]) * static_cast<double>(x[j]);
  }
  return sum;
}

// x in tiles of kTile rows, each interleaved; the rows past n are zero.
std::vector<double> Interleave(const float* x, int n, std::int64_t cols) {
  const int tiles = (n + kTile - 1) / kTile;
  std::vector<double> xt(At(tiles * kTile, cols));
  for (int i = 0; i < n; ++i) {
    const std::size_t tile = At(i / kTile, cols * kTile);
    for (std::int64_t j = 0; j < cols; ++j) {
      xt[tile + static_cast<std::size_t>(j * kTile + i % kTile)] =
          static_cast<double>(x[At(i, cols) + static_cast<std::size_t>(j)]);
    }
  }
  return xt;
}

class ReferenceBackend final : public Backend {
 public:
  explicit ReferenceBackend(int threads) : threads_(threads) {}

  std::string_view name() const override { return "reference"; }
  int n_threads() const override { return threads_; }

  std::unique_ptr<Buffer> NewBuffer(std::int64_t n) override {
    return std::make_unique<HostBuffer>(n);
  }

  Result<std::unique_ptr<PackedWeight>> Pack(std::span<const TensorView> stacked) override {
    if (stacked.empty()) return Fail(ErrorCode::kInvalidArgument, "no matrix to pack");
    for (const TensorView& view : stacked) {
      ADJUDGE_RETURN_IF_ERROR(CheckFinite(view));
      if (view.cols != stacked.front().cols || view.cols % BlockElements(view.type) != 0) {
        return Fail(ErrorCode::kUnsupported, "cannot stack a matrix of " +
                                                 std::to_string(view.cols) + " columns in " +
                                                 std::string(ToString(view.type)) + " on one of " +
                                                 std::to_string(stacked.front().cols));
      }
    }
    return std::make_unique<FileWeight>(stacked);
  }

  std::unique_ptr<KvBlock> NewKvBlock(int n_layers, int block_tokens, int kv_dim) override {
    return std::make_unique<HostKvBlock>(n_layers, block_tokens, kv_dim);
  }

  void Embed(const PackedWeight& weight, std::span<const int> ids, float scale,
             float* out) override {
    const std::int64_t cols = weight.cols();
    for (const int id : ids) {
      AsFileWeight(weight).Row(id, out);
      for (std::int64_t j = 0; j < cols; ++j) out[j] *= scale;
      out += cols;
    }
  }

  void RmsNorm(const float* x, std::span<const float> gain, float eps, int n, float* out) override {
    const std::size_t width = gain.size();
    for (int i = 0; i < n; ++i, x += width, out += width) {
      double squares = 0;
      for (std::size_t j = 0; j < width; ++j) squares += static_cast<double>(x[j]) * x[j];
      const double scale =
          1 / std::sqrt(squares / static_cast<double>(width) + static_cast<double>(eps));
      for (std::size_t j = 0; j < width; ++j) {
        out[j] = static_cast<float>(x[j] * scale * static_cast<double>(gain[j]));
      }
    }
  }

  void MatMul(const PackedWeight& weight, const float* x, int n, std::span<const float> bias,
              float* out) override {
    ADJUDGE_CHECK(bias.empty() || static_cast<std::int64_t>(bias.size()) == weight.rows());
    Product(AsFileWeight(weight), {}, x, n, bias, out);
  }

  void MatMulRows(const PackedWeight& weight, std::span<const int> row_ids, const float* x, int n,
                  float* out) override {
    if (!row_ids.empty()) Product(AsFileWeight(weight), row_ids, x, n, {}, out);
  }

  void Rope(float* x, int n, int stride, int n_heads, int head_dim, int rope_dim,
            RopePairing pairing, const RopeTable& table) override {
    const int pairs = rope_dim / 2;
    const bool halves = pairing == RopePairing::kHalfSplit;
    for (int i = 0; i < n; ++i) {
      const float* cos = table.cos.data() + At(i, pairs);
      const float* sin = table.sin.data() + At(i, pairs);
      for (int h = 0; h < n_heads; ++h) {
        float* head = x + At(i, stride) + At(h, head_dim);
        for (int p = 0; p < pairs; ++p) {
          float& first = head[halves ? p : 2 * p];
          float& second = head[halves ? p + pairs : 2 * p + 1];
          const double a = first, b = second, c = cos[p], s = sin[p];
          first = static_cast<float>(a * c - b * s);
          second = static_cast<float>(a * s + b * c);
        }
      }
    }
  }

  void WriteKv(int layer, const float* k, const float* v, int n, int stride, int kv_dim,
               std::span<const KvCell> cells) override {
    for (int i = 0; i < n; ++i) {
      const KvCell& cell = cells[static_cast<std::size_t>(i)];
      HostKvBlock& block = AsHostBlock(cell.block);
      std::copy_n(k + At(i, stride), kv_dim, block.key(layer, cell.cell));
      std::copy_n(v + At(i, stride), kv_dim, block.value(layer, cell.cell));
    }
  }

  void Attention(int layer, const float* q, int n, int stride, int n_heads, int n_kv_heads,
                 int head_dim, float scale, std::span<const AttentionRow> rows,
                 float* out) override {
    std::vector<const float*> keys, values;
    const int group = n_heads / n_kv_heads;
    for (int i = 0; i < n; ++i) {
      CollectKeys(layer, rows[static_cast<std::size_t>(i)], keys, values);
      for (int h = 0; h < n_heads; ++h) {
        const std::size_t kv_offset = At(h / group, head_dim);
        AttendHead(q + At(i, stride) + At(h, head_dim), keys, values, kv_offset, head_dim, scale,
                   out + At(i, n_heads * head_dim) + At(h, head_dim));
      }
    }
  }

  void GatedActivation(const float* gate_up, Activation activation, int n, int width,
                       float* out) override {
    for (int i = 0; i < n; ++i) {
      const float* gate = gate_up + At(i, 2 * width);
      for (int j = 0; j < width; ++j) {
        out[At(i, width) + static_cast<std::size_t>(j)] = static_cast<float>(
            Activate(gate[j], activation) * static_cast<double>(gate[width + j]));
      }
    }
  }

  void Add(float* x, const float* y, int n, int width) override {
    const std::size_t size = At(n, width);
    for (std::size_t i = 0; i < size; ++i) x[i] += y[i];
  }

  void GatherRows(const float* x, std::span<const int> rows, int width, float* out) override {
    for (const int row : rows) {
      std::copy_n(x + At(row, width), width, out);
      out += width;
    }
  }

  void LogSumExp(const float* logits, int n, int width, double* out) override {
    for (int i = 0; i < n; ++i) {
      const float* row = logits + At(i, width);
      const double largest = *std::max_element(row, row + width);
      double sum = 0;
      for (int j = 0; j < width; ++j) sum += std::exp(row[j] - largest);
      out[i] = largest + std::log(sum);
    }
  }

  void SoftCap(float* logits, int n, int width, float cap) override {
    const std::size_t size = At(n, width);
    for (std::size_t i = 0; i < size; ++i) {
      logits[i] = static_cast<float>(cap * std::tanh(static_cast<double>(logits[i]) / cap));
    }
  }

 private:
  // out[i, r] = x[i] . weight[row_ids[r]] (or weight[r]) + bias[r]
  void Product(const FileWeight& weight, std::span<const int> row_ids, const float* x, int n,
               std::span<const float> bias, float* out) {
    const std::int64_t cols = weight.cols();
    const std::int64_t rows =
        row_ids.empty() ? weight.rows() : static_cast<std::int64_t>(row_ids.size());
    const std::vector<double> xt = n > 1 ? Interleave(x, n, cols) : std::vector<double>();
    const auto work = [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> w(static_cast<std::size_t>(cols));
      double sums[kTile];
      for (std::int64_t r = begin; r < end; ++r) {
        weight.Row(row_ids.empty() ? r : row_ids[static_cast<std::size_t>(r)], w.data());
        const double b =
            bias.empty() ? 0.0 : static_cast<double>(bias[static_cast<std::size_t>(r)]);
        for (int i = 0; i < n; i += kTile) {
          const int count = std::min(kTile, n - i);
          if (n == 1) {
            sums[0] = Dot(x, w.data(), cols);
          } else {
            DotTile(xt.data() + At(i, cols), w.data(), cols, sums);
          }
          for (int t = 0; t < count; ++t) {
            out[At(i + t, rows) + static_cast<std::size_t>(r)] = static_cast<float>(sums[t] + b);
          }
        }
      }
    };
    Split(rows, rows * cols * n, work);
  }

  // Runs work(begin, end) over parts of [0, rows), on several threads where it is worth them.
  template <typename F>
  void Split(std::int64_t rows, std::int64_t cost, const F& work) const {
    constexpr std::int64_t kWorthAThread = 1 << 19;
    const auto parts = static_cast<int>(
        std::clamp<std::int64_t>(cost / kWorthAThread, 1, std::min<std::int64_t>(threads_, rows)));
    std::vector<std::thread> helpers;
    for (int p = 1; p < parts; ++p) {
      const auto part = [&work, rows, p, parts] { work(rows * p / parts, rows * (p + 1) / parts); };
      try {
        helpers.emplace_back(part);
      } catch (const std::system_error&) {
        part();  // no more threads to be had
      }
    }
    work(0, rows / parts);
    for (std::thread& helper : helpers) helper.join();
  }

  static void CollectKeys(int layer, const AttentionRow& row, std::vector<const float*>& keys,
                          std::vector<const float*>& values) {
    keys.clear();
    values.clear();
    int index = 0;
    for (const KvRun& run : row.runs) {
      for (int c = 0; c < run.count && index < row.n_keys; ++c, ++index) {
        if (index < row.first_key) continue;
        keys.push_back(AsHostBlock(run.block).key(layer, run.begin + c));
        values.push_back(AsHostBlock(run.block).value(layer, run.begin + c));
      }
    }
  }

  static void AttendHead(const float* q, const std::vector<const float*>& keys,
                         const std::vector<const float*>& values, std::size_t kv_offset,
                         int head_dim, float scale, float* out) {
    std::vector<double> weights(keys.size());
    for (std::size_t t = 0; t < keys.size(); ++t) {
      weights[t] = Dot(q, keys[t] + kv_offset, head_dim) * static_cast<double>(scale);
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& w : weights) {
      w = std::exp(w - largest);
      sum += w;
    }
    for (int d = 0; d < head_dim; ++d) {
      double value = 0;
      for (std::size_t t = 0; t < keys.size(); ++t) {
        value +=
            weights[t] * static_cast<double>(values[t][kv_offset + static_cast<std::size_t>(d)]);
      }
      out[d] = static_cast<float>(value / sum);
    }
  }

  int threads_;
};

}  // namespace

std::unique_ptr<Backend> NewReferenceBackend(int threads) {
  ADJUDGE_CHECK(threads >= 1);
  return std::make_unique<ReferenceBackend>(threads);
}

}  // namespace adjudge
