// Every architecture, rope scaling and weight type, GGUF and safetensors, against an independent
// float64 forward: tests/testing/make_tiny_models.py writes the models and golden.json.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/batch.h"
#include "engine/kv_cache.h"
#include "engine/model/create_backend.h"
#include "engine/model/model_file.h"
#include "engine/model/transformer.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(ADJUDGE_SOURCE_DIR) / "tests/golden/tiny";

struct Golden {
  std::string file;
  std::vector<TokenId> ids;
  std::vector<int> argmax;
  std::vector<double> gap;
  std::vector<std::pair<int, std::vector<double>>> rows;
};

std::vector<Golden> ReadGoldens() {
  std::vector<Golden> out;
  for (const auto& entry : nlohmann::json::parse(testing::ReadFile(kFolder / "golden.json"))) {
    Golden golden{entry["file"], entry["ids"], entry["argmax"], entry["gap"], {}};
    for (const auto& [row, logits] : entry["rows"].items()) {
      golden.rows.emplace_back(std::stoi(row), logits.get<std::vector<double>>());
    }
    out.push_back(std::move(golden));
  }
  return out;
}

// All logits, the ids given in chunks of `chunk`. [ids.size(), vocab_size]
Result<std::vector<float>> Logits(const Model& model, const std::vector<TokenId>& ids, int chunk) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto cache, model.NewCache());
  Sequence sequence = cache->NewSequence();
  std::vector<float> logits;
  for (std::size_t at = 0; at < ids.size(); at += static_cast<std::size_t>(chunk)) {
    const auto n = std::min(ids.size() - at, static_cast<std::size_t>(chunk));
    Wants wants{.logits = true};
    for (std::size_t i = 0; i < n; ++i) wants.rows.push_back(static_cast<int>(i));
    Batch batch;
    ADJUDGE_RETURN_IF_ERROR(batch.Add(sequence, std::span(ids).subspan(at, n), wants));
    ADJUDGE_ASSIGN_OR_RETURN(const ForwardOutput output, model.Forward(batch));
    const auto& part = output.entries[0].logits;
    logits.insert(logits.end(), part.begin(), part.end());
  }
  return logits;
}

class TinyGolden : public ::testing::TestWithParam<Golden> {
 protected:
  void Check(BackendKind kind, double tolerance) {
    const Golden& golden = GetParam();
    const auto file = ModelFile::Open(kFolder / golden.file);
    ASSERT_TRUE(file) << ToString(file.error());
    const auto model = BuildTransformer(**file, *CreateBackend(kind, 2));
    ASSERT_TRUE(model) << ToString(model.error());
    const auto logits = Logits(**model, golden.ids, 1 << 20);
    ASSERT_TRUE(logits) << ToString(logits.error());
    const std::size_t width = golden.rows[0].second.size();
    ASSERT_EQ(logits->size(), golden.ids.size() * width);
    double worst = 0;
    for (const auto& [row, expected] : golden.rows) {
      for (std::size_t i = 0; i < width; ++i) {
        const double got = (*logits)[static_cast<std::size_t>(row) * width + i];
        const double off = std::abs(got - expected[i]);
        if (!(off <= worst)) worst = off;  // NaN too
      }
    }
    EXPECT_LE(worst, tolerance);
    for (std::size_t i = 0; i < golden.ids.size(); ++i) {
      const auto row = logits->begin() + static_cast<std::ptrdiff_t>(i * width);
      const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(width)) - row;
      if (golden.gap[i] > 2 * tolerance) {
        EXPECT_EQ(best, golden.argmax[i]) << "position " << i;
      }
    }
    for (int chunk : {1, 7}) {
      const auto again = Logits(**model, golden.ids, chunk);
      ASSERT_TRUE(again) << ToString(again.error());
      EXPECT_TRUE(*again == *logits) << "chunks of " << chunk;
    }
  }
};

// golden.json has five decimals; activations are kept as floats.
TEST_P(TinyGolden, Reference) { Check(BackendKind::kReference, 2e-4); }
TEST_P(TinyGolden, Cpu) { Check(BackendKind::kCpu, 5e-4); }

INSTANTIATE_TEST_SUITE_P(Models, TinyGolden, ::testing::ValuesIn(ReadGoldens()),
                         [](const auto& golden) {
                           std::string name = golden.param.file;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace adjudge
