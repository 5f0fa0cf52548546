#include <gtest/gtest.h>

#include <cmath>

#include "engine/cpu/kernels.h"
#include "tests/testing/backend_twin.h"

namespace adjudge {
namespace {

using testing::Cpu;
using testing::FirstDifference;
using testing::RandomFloats;
using testing::ShiftedFloats;

struct Shape {
  int n_heads;
  int n_kv_heads;
  int head_dim;
};

// Keys and values of a text in blocks of one backend, the text laid out in runs as given: a run of
// (begin, count) is a new block with its cells [begin, begin + count) used.
class Cache {
 public:
  static constexpr int kCells = 16;
  static constexpr int kLayers = 2;

  Cache(Backend& backend, const Shape& shape, const std::vector<std::pair<int, int>>& layout,
        const std::vector<float>& keys, const std::vector<float>& values) {
    const int kv_dim = shape.n_kv_heads * shape.head_dim;
    std::vector<KvCell> cells;
    for (const auto& [begin, count] : layout) {
      blocks_.push_back(backend.NewKvBlock(kLayers, kCells, kv_dim));
      runs_.push_back({blocks_.back().get(), begin, count});
      Poison(backend, kv_dim);
      for (int i = 0; i < count; ++i) cells.push_back({blocks_.back().get(), begin + i});
    }
    const int n = static_cast<int>(cells.size());
    // Rows lie further apart than they are long, as in a fused q, k, v.
    const int stride = kv_dim + 5;
    std::vector<float> k(static_cast<std::size_t>(n * stride), 7.0f);
    std::vector<float> v = k;
    for (int i = 0; i < n; ++i) {
      for (int d = 0; d < kv_dim; ++d) {
        k[static_cast<std::size_t>(i * stride + d)] =
            keys[static_cast<std::size_t>(i * kv_dim + d)];
        v[static_cast<std::size_t>(i * stride + d)] =
            values[static_cast<std::size_t>(i * kv_dim + d)];
      }
    }
    backend.WriteKv(1, k.data(), v.data(), n, stride, kv_dim, cells);
  }
  const std::vector<KvRun>& runs() const { return runs_; }

 private:
  // What unused cells hold must not matter.
  void Poison(Backend& backend, int kv_dim) {
    const std::vector<float> bad(static_cast<std::size_t>(kv_dim), NAN);
    for (int layer = 0; layer < kLayers; ++layer) {
      for (int c = 0; c < kCells; ++c) {
        const KvCell cell{blocks_.back().get(), c};
        backend.WriteKv(layer, bad.data(), bad.data(), 1, kv_dim, kv_dim, {&cell, 1});
      }
    }
  }

  std::vector<std::unique_ptr<KvBlock>> blocks_;
  std::vector<KvRun> runs_;
};

std::vector<std::pair<int, int>> Whole(int n) {
  std::vector<std::pair<int, int>> layout;
  for (; n > 0; n -= 16) layout.emplace_back(0, std::min(n, 16));
  return layout;
}

std::vector<std::pair<int, int>> Joined(std::vector<std::pair<int, int>> a,
                                        const std::vector<std::pair<int, int>>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct Row {
  int first_key;
  int n_keys;
};

std::vector<float> Attend(Backend& backend, const Shape& shape, const Cache& cache,
                          const std::vector<Row>& rows, const std::vector<float>& q) {
  const int q_dim = shape.n_heads * shape.head_dim;
  const int stride = q_dim + 3;
  const int n = static_cast<int>(rows.size());
  ShiftedFloats in(std::vector<float>(static_cast<std::size_t>(n * stride), NAN), 1);
  for (int i = 0; i < n; ++i) {
    for (int d = 0; d < q_dim; ++d)
      in.data()[i * stride + d] = q[static_cast<std::size_t>(i * q_dim + d)];
  }
  std::vector<AttentionRow> attention;
  for (const Row& row : rows) attention.push_back({cache.runs(), row.n_keys, row.first_key});
  ShiftedFloats out(std::vector<float>(static_cast<std::size_t>(n * q_dim), NAN), 1);
  backend.Attention(1, in.data(), n, stride, shape.n_heads, shape.n_kv_heads, shape.head_dim,
                    1.0f / std::sqrt(static_cast<float>(shape.head_dim)), attention, out.data());
  return out.values();
}

struct Setting {
  CpuIsa isa;
  Precision precision;
  double relative;  // error of a number beside float32's
};

// Attention is of float32 but on a matrix unit, whose numbers have 8 bits or 16.
std::vector<Setting> Settings() {
  std::vector<Setting> settings;
  for (CpuIsa isa : AvailableIsas()) {
    settings.push_back({isa, Precision::kExact, 0});
    if (KernelsFor(isa).attention_scratch == nullptr) continue;
    settings.push_back({isa, Precision::kDefault, 0x1p-15});
    settings.push_back({isa, Precision::kFast, 0x1p-8});
  }
  return settings;
}

class CpuAttention : public ::testing::TestWithParam<Setting> {
 protected:
  static std::unique_ptr<Backend> Make(int threads) {
    return Cpu(GetParam().isa, threads, GetParam().precision);
  }
  static std::vector<float> Keys(const Shape& s, int n) {
    return RandomFloats(1, static_cast<std::int64_t>(n) * s.n_kv_heads * s.head_dim, 1.5f);
  }
  static std::vector<float> Values(const Shape& s, int n) {
    return RandomFloats(2, static_cast<std::int64_t>(n) * s.n_kv_heads * s.head_dim);
  }
  static std::vector<float> Queries(const Shape& s, std::size_t n) {
    return RandomFloats(3, static_cast<std::int64_t>(n) * s.n_heads * s.head_dim);
  }
};

const std::vector<Shape> kShapes = {{1, 1, 1},  {2, 1, 3},   {4, 2, 8},  {3, 3, 15},
                                    {4, 1, 16}, {9, 3, 64},  {2, 1, 66}, {14, 2, 64},
                                    {8, 1, 32}, {4, 1, 256}, {3, 1, 17}};

TEST_P(CpuAttention, AgreesWithTheReferenceBackend) {
  const auto cpu = Make(3);
  const auto reference = testing::Reference();
  for (const Shape& shape : kShapes) {
    for (int n_keys : {1, 2, 15, 16, 17, 31, 33, 100, 257, 530}) {
      std::vector<Row> rows;
      for (int i = std::max(1, n_keys - 9); i <= n_keys; ++i) rows.push_back({0, i});
      for (int first : {0, n_keys / 3, n_keys / 2, n_keys - 1}) rows.push_back({first, n_keys});
      const auto q = Queries(shape, rows.size());
      const auto run = [&](Backend& backend) {
        const Cache cache(backend, shape, Whole(n_keys), Keys(shape, n_keys),
                          Values(shape, n_keys));
        return Attend(backend, shape, cache, rows, q);
      };
      const auto ours = run(*cpu);
      const auto theirs = run(*reference);
      // A weight's error is that of its score (a sum over head_dim, scores up to about 20) and of
      // exp; outputs are means of values up to about 4.
      const double tolerance =
          testing::SumTolerance(shape.head_dim + n_keys, 20.0) + 1e-6 + GetParam().relative * 20.0;
      EXPECT_LE(testing::WorstRelative(ours, theirs, 1.0), tolerance)
          << shape.n_heads << "/" << shape.n_kv_heads << " x " << shape.head_dim << ", " << n_keys
          << " keys";
    }
  }
}

// Forks and joins lay the same keys out in other runs; alone or in company; 1 to 7 threads.
TEST_P(CpuAttention, BitsDependOnTheKeysInOrderAlone) {
  const int n = 339;  // more than one chunk of a matrix unit
  const std::vector<std::vector<std::pair<int, int>>> layouts = {
      Whole(n),
      Joined(Whole(256), {{0, 16}, {0, 10}, {10, 6}, {0, 16}, {0, 1}, {1, 15}, {0, 16}, {0, 3}}),
      Joined({{3, 5}, {0, 16}, {15, 1}, {2, 13}, {0, 16}, {0, 16}, {4, 12}, {0, 4}}, Whole(256)),
  };
  for (const Shape& shape : {Shape{4, 2, 8}, Shape{9, 3, 64}, Shape{2, 1, 66}}) {
    const auto row_size = static_cast<std::ptrdiff_t>(shape.n_heads) * shape.head_dim;
    std::vector<Row> rows;
    for (int i = 1; i <= n; i += 3) rows.push_back({std::max(0, i - 20), i});
    for (int i = 1; i <= n; i += 15) rows.push_back({0, i});
    const auto q = Queries(shape, rows.size());
    std::vector<float> expected;
    for (int threads : {1, 2, 3, 7}) {
      const auto backend = Make(threads);
      for (const auto& layout : layouts) {
        const Cache cache(*backend, shape, layout, Keys(shape, n), Values(shape, n));
        const auto all = Attend(*backend, shape, cache, rows, q);
        if (expected.empty()) expected = all;
        ASSERT_EQ(FirstDifference(all, expected), "") << threads << " threads";
        for (std::size_t i = 0; i < rows.size(); i += 7) {
          const auto from = q.begin() + static_cast<std::ptrdiff_t>(i) * row_size;
          const auto alone = Attend(*backend, shape, cache, {rows[i]}, {from, from + row_size});
          const auto want = expected.begin() + static_cast<std::ptrdiff_t>(i) * row_size;
          ASSERT_EQ(FirstDifference(alone, {want, want + row_size}), "") << "row " << i;
        }
      }
    }
  }
}

TEST_P(CpuAttention, RowsOfManySequencesInOneCall) {
  const Shape shape{6, 2, 32};
  const auto backend = Make(2);
  const Cache a(*backend, shape, Whole(40), Keys(shape, 40), Values(shape, 40));
  const Cache b(*backend, shape, Whole(7), Keys(shape, 7), Values(shape, 7));
  const std::vector<std::pair<const Cache*, Row>> plan = {
      {&a, {0, 40}}, {&b, {0, 7}}, {&b, {0, 6}}, {&a, {3, 39}}, {&a, {0, 1}}, {&b, {6, 7}}};
  const auto q = Queries(shape, plan.size());
  const int q_dim = shape.n_heads * shape.head_dim;
  std::vector<AttentionRow> rows;
  std::vector<float> want;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto& [cache, row] = plan[i];
    rows.push_back({cache->runs(), row.n_keys, row.first_key});
    const auto from = q.begin() + static_cast<std::ptrdiff_t>(i) * q_dim;
    const auto alone = Attend(*backend, shape, *cache, {row}, {from, from + q_dim});
    want.insert(want.end(), alone.begin(), alone.end());
  }
  std::vector<float> out(q.size(), NAN);
  backend->Attention(1, q.data(), static_cast<int>(plan.size()), q_dim, shape.n_heads,
                     shape.n_kv_heads, shape.head_dim, 1.0f / std::sqrt(32.0f), rows, out.data());
  EXPECT_EQ(FirstDifference(out, want), "");
  backend->Attention(1, q.data(), 0, q_dim, shape.n_heads, shape.n_kv_heads, shape.head_dim, 1.0f,
                     {}, out.data());  // nothing to do
}

INSTANTIATE_TEST_SUITE_P(Isa, CpuAttention, ::testing::ValuesIn(Settings()), [](const auto& row) {
  return testing::NameOf(row.param.isa) + "_" + std::string(ToString(row.param.precision));
});

}  // namespace
}  // namespace adjudge
