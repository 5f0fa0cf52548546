// Which keys a windowed layer sees, and the numbers that come of it.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/batch.h"
#include "engine/model/batch_plan.h"
#include "engine/model/create_backend.h"
#include "tests/testing/engine_cases.h"
#include "tests/testing/fake_model_file.h"

namespace adjudge {
namespace {

using nlohmann::json;

// The indices of the keys that each of n tokens sees, computed `chunk` tokens at a time.
std::vector<std::vector<int>> KeysSeen(int window, int n, int chunk) {
  ModelConfig config = testing::TinyConfig("mistral");
  config.layer_window.assign(3, window);
  const auto model =
      testing::MakeFakeModel(config, {.backend = BackendKind::kReference, .threads = 1});
  const auto cache = *model->NewCache();
  Sequence sequence = cache->NewSequence();
  std::vector<std::vector<int>> seen;
  for (int begin = 0; begin < n; begin += chunk) {
    Batch batch;
    const std::vector<TokenId> tokens(static_cast<std::size_t>(std::min(chunk, n - begin)), 5);
    EXPECT_TRUE(batch.Add(sequence, tokens));
    const BatchPlan plan = PlanBatch(batch, config);
    for (const AttentionRow& row : plan.rows_of_window(window)) {
      std::vector<int>& keys = seen.emplace_back();
      for (int key = row.first_key; key < row.n_keys; ++key) keys.push_back(key);
    }
    EXPECT_TRUE(model->Forward(batch));
  }
  return seen;
}

TEST(SlidingWindow, CountsTheTokenItself) {
  ADJUDGE_CASE_OR_SKIP(edge, "fwd-sliding-window-edge");
  const int window = edge["input"]["window"], n = edge["input"]["length"];
  const auto expected = edge["expected"]["keys_seen_by_query"].get<std::vector<std::vector<int>>>();
  for (const int chunk : {n, 1, 3}) EXPECT_EQ(KeysSeen(window, n, chunk), expected) << chunk;
}

// The case's rows through a backend's own attention: one layer, one head of two.
TEST(SlidingWindow, NumbersOfBothBackends) {
  ADJUDGE_CASE_OR_SKIP(edge, "fwd-sliding-window-edge");
  const json& numeric = edge["input"]["numeric"];
  const auto flat = [](const json& rows) {
    std::vector<float> values;
    for (const json& row : rows) {
      for (const json& value : row) values.push_back(value.get<float>());
    }
    return values;
  };
  const std::vector<float> q = flat(numeric["q"]), k = flat(numeric["k"]), v = flat(numeric["v"]);
  const int n = static_cast<int>(numeric["q"].size());
  for (const BackendKind kind : {BackendKind::kReference, BackendKind::kCpu}) {
    const auto backend = *CreateBackend(kind, 2);
    const auto block = backend->NewKvBlock(1, KvCache::kBlockTokens, 2);
    std::vector<KvCell> cells;
    for (int i = 0; i < n; ++i) cells.push_back({block.get(), i});
    backend->WriteKv(0, k.data(), v.data(), n, 2, 2, cells);
    const std::vector<KvRun> runs = {{block.get(), 0, n}};
    for (const int window : numeric["windows"]) {
      std::vector<AttentionRow> rows;
      for (int i = 0; i < n; ++i) {
        rows.push_back({runs, i + 1, window == 0 ? 0 : std::max(0, i + 1 - window)});
      }
      std::vector<float> out(static_cast<std::size_t>(2 * n));
      backend->Attention(0, q.data(), n, 2, 1, 1, 2, 1 / std::sqrt(2.0F), rows, out.data());
      const auto expected = flat(edge["expected"]["numeric"][std::to_string(window)]);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(out[i], expected[i], 2e-6) << backend->name() << ", window " << window;
      }
    }
  }
}

}  // namespace
}  // namespace adjudge
