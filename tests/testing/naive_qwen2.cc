#include "tests/testing/naive_qwen2.h"

#include <cmath>

namespace adjudge::testing {
namespace {

using Row = std::vector<double>;

Row RmsNorm(const Row& x, const std::vector<float>& gain, double eps) {
  double square = 0;
  for (const double value : x) square += value * value;
  const double scale = 1 / std::sqrt(square / static_cast<double>(x.size()) + eps);
  Row out;
  for (std::size_t i = 0; i < x.size(); ++i)
    out.push_back(x[i] * scale * static_cast<double>(gain[i]));
  return out;
}

Row MatMul(const std::vector<float>& weight, const Row& x,
           const std::vector<float>* bias = nullptr) {
  Row out(weight.size() / x.size());
  for (std::size_t r = 0; r < out.size(); ++r) {
    double sum = bias == nullptr ? 0 : static_cast<double>((*bias)[r]);
    for (std::size_t d = 0; d < x.size(); ++d) {
      sum += static_cast<double>(weight[r * x.size() + d]) * x[d];
    }
    out[r] = sum;
  }
  return out;
}

// Half-split pairs: dimension i turns with dimension i + half.
void Rotate(Row& x, std::size_t head_dim, int position, double base) {
  const std::size_t half = head_dim / 2;
  for (std::size_t head = 0; head < x.size(); head += head_dim) {
    for (std::size_t i = 0; i < half; ++i) {
      const double angle =
          position * std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(head_dim));
      const double a = x[head + i];
      const double b = x[head + half + i];
      x[head + i] = a * std::cos(angle) - b * std::sin(angle);
      x[head + half + i] = a * std::sin(angle) + b * std::cos(angle);
    }
  }
}

void AddTo(Row& x, const Row& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

}  // namespace

std::vector<Row> NaiveQwen2(FakeModelFile& file, const std::vector<NaiveToken>& tokens) {
  const ModelConfig& c = file.config();
  const auto head_dim = static_cast<std::size_t>(c.head_dim);
  const auto group = static_cast<std::size_t>(c.n_heads / c.n_kv_heads);
  std::vector<Row> x;
  for (const NaiveToken& token : tokens) {
    const auto from =
        file.values("token_embd.weight").begin() + static_cast<std::ptrdiff_t>(token.id) * c.dim;
    x.emplace_back(from, from + c.dim);
  }
  for (int layer = 0; layer < c.n_layers; ++layer) {
    const auto w = [&](const char* name) -> const std::vector<float>& {
      return file.values("blk." + std::to_string(layer) + "." + name);
    };
    std::vector<Row> q, k, v;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const Row normed = RmsNorm(x[t], w("attn_norm.weight"), c.norm_eps);
      q.push_back(MatMul(w("attn_q.weight"), normed, &w("attn_q.bias")));
      k.push_back(MatMul(w("attn_k.weight"), normed, &w("attn_k.bias")));
      v.push_back(MatMul(w("attn_v.weight"), normed, &w("attn_v.bias")));
      Rotate(q.back(), head_dim, tokens[t].position, c.rope.base);
      Rotate(k.back(), head_dim, tokens[t].position, c.rope.base);
    }
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      Row attended(q[t].size(), 0.0);
      for (std::size_t h = 0; h < static_cast<std::size_t>(c.n_heads); ++h) {
        const std::size_t kv = h / group * head_dim;
        double total = 0;
        for (const int seen : tokens[t].sees) {
          const auto s = static_cast<std::size_t>(seen);
          double score = 0;
          for (std::size_t d = 0; d < head_dim; ++d) score += q[t][h * head_dim + d] * k[s][kv + d];
          const double weight = std::exp(score * c.attention_scale);
          total += weight;
          for (std::size_t d = 0; d < head_dim; ++d)
            attended[h * head_dim + d] += weight * v[s][kv + d];
        }
        for (std::size_t d = 0; d < head_dim; ++d) attended[h * head_dim + d] /= total;
      }
      AddTo(x[t], MatMul(w("attn_output.weight"), attended));
    }
    for (Row& row : x) {
      const Row normed = RmsNorm(row, w("ffn_norm.weight"), c.norm_eps);
      Row gate = MatMul(w("ffn_gate.weight"), normed);
      const Row up = MatMul(w("ffn_up.weight"), normed);
      for (std::size_t i = 0; i < gate.size(); ++i)
        gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
      AddTo(row, MatMul(w("ffn_down.weight"), gate));
    }
  }
  for (Row& row : x) row = RmsNorm(row, file.values("output_norm.weight"), c.norm_eps);
  return x;
}

}  // namespace adjudge::testing
