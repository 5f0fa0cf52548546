// What each precision of the CPU backend costs on the float64 goldens of real models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/batch.h"
#include "engine/kv_cache.h"
#include "engine/model.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kDefaultModel = "default";
constexpr const char* kDefaultFolder = "golden/smollm2";

EntryOutput RunAlone(const Model& model, const std::vector<TokenId>& tokens, const Wants& wants) {
  const auto cache = *model.NewCache();
  Sequence sequence = cache->NewSequence();
  Batch batch;
  EXPECT_TRUE(batch.Add(sequence, tokens, wants));
  auto output = model.Forward(batch);
  EXPECT_TRUE(output);
  return output ? std::move(output->entries[0]) : EntryOutput{};
}

std::vector<double> Softmax(std::vector<double> logits) {
  const double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (double& x : logits) sum += x = std::exp(x - most);
  for (double& x : logits) x /= sum;
  return logits;
}

// The greatest difference of a label's probability among the item's labels.
double DecisionError(const Model& model, const json& decision) {
  const auto prompt = decision["label_prompt_ids"].get<std::vector<TokenId>>();
  const int n = static_cast<int>(prompt.size());
  const EntryOutput output =
      RunAlone(model, prompt,
               {.rows = {n - 1}, .logit_ids = decision["label_ids"].get<std::vector<TokenId>>()});
  const auto found = Softmax({output.logit_ids.begin(), output.logit_ids.end()});
  const auto expected = Softmax(decision["label_logprob"].get<std::vector<double>>());
  if (found.size() != expected.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = std::fabs(found[i] - expected[i]);
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest;
}

// Of the row's last logits, in nats.
double Divergence(const Model& model, const json& row, const fs::path& folder) {
  const std::string bytes = testing::ReadFile(folder / row["last_logits_file"].get<std::string>());
  std::vector<float> stored(bytes.size() / sizeof(float));
  std::memcpy(stored.data(), bytes.data(), stored.size() * sizeof(float));
  const auto ids = row["ids"].get<std::vector<TokenId>>();
  const EntryOutput output = RunAlone(model, ids, Wants::LastLogits(static_cast<int>(ids.size())));
  if (output.logits.size() != stored.size()) return INFINITY;
  const auto p = Softmax({stored.begin(), stored.end()});
  const auto q = Softmax({output.logits.begin(), output.logits.end()});
  double divergence = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0) divergence += p[i] * std::log(p[i] / q[i]);
  }
  return divergence;
}

// Where the best two lie at least 0.05 apart, the best is the golden's.
void ExpectSameBest(const Model& model, const json& row) {
  const auto ids = row["ids"].get<std::vector<TokenId>>();
  const int n = static_cast<int>(ids.size());
  Wants wants{.logits = true};
  for (int i = 0; i < n; ++i) wants.rows.push_back(i);
  const EntryOutput output = RunAlone(model, ids, wants);
  const auto vocab = static_cast<std::ptrdiff_t>(model.config().vocab_size);
  for (int i = 0; i < n; ++i) {
    std::vector<float> logits(output.logits.begin() + i * vocab,
                              output.logits.begin() + (i + 1) * vocab);
    const auto best = std::max_element(logits.begin(), logits.end());
    const auto at = static_cast<int>(best - logits.begin());
    const float most = *best;
    *best = -INFINITY;
    if (most - *std::max_element(logits.begin(), logits.end()) < 0.05f) continue;
    EXPECT_EQ(at, row["argmax_each_position"][static_cast<std::size_t>(i)].get<int>()) << i;
  }
}

struct Bounds {
  Precision precision;
  double mean;
  double worst;
  double divergence;
};

class PrecisionGolden : public ::testing::TestWithParam<Bounds> {};
INSTANTIATE_TEST_SUITE_P(Precisions, PrecisionGolden,
                         ::testing::Values(Bounds{Precision::kFast, 0.025, 0.05, 0.02},
                                           Bounds{Precision::kDefault, 0.006, 0.015, 0.001},
                                           Bounds{Precision::kExact, 0.001, 0.001, 0.00001}),
                         [](const auto& row) {
                           return std::string(ToString(row.param.precision));
                         });

TEST_P(PrecisionGolden, DecisionsOfTheDefaultModel) {
  ADJUDGE_DATA_OR_SKIP(folder, kDefaultFolder);
  ADJUDGE_MODEL_OR_SKIP(path, kDefaultModel);
  const auto model = *Model::Load(path, {.precision = GetParam().precision});
  const json golden = json::parse(testing::ReadFile(folder / "golden.json"));
  double sum = 0;
  double worst = 0;
  for (const json& decision : golden["decisions"]) {
    const double error = DecisionError(*model, decision);
    sum += error;
    worst = std::max(worst, error);
  }
  const double mean = sum / static_cast<double>(golden["decisions"].size());
  double divergence = 0;
  for (const json& row : golden["logits"]) {
    if (!row.contains("last_logits_file")) continue;
    divergence = std::max(divergence, Divergence(*model, row, folder));
  }
  EXPECT_LE(mean, GetParam().mean);
  EXPECT_LE(worst, GetParam().worst);
  EXPECT_LE(divergence, GetParam().divergence);
  std::cout << ToString(GetParam().precision) << ": difference of a label's probability, mean "
            << mean << ", worst " << worst << "; divergence of a row, worst " << divergence << "\n";
}

struct OtherModel {
  const char* file;
  const char* folder;
};

class DefaultPrecision : public ::testing::TestWithParam<OtherModel> {};
INSTANTIATE_TEST_SUITE_P(Models, DefaultPrecision,
                         ::testing::Values(OtherModel{"q05.gguf", "golden/qwen2.5-coder-0.5b"},
                                           OtherModel{"g3.gguf", "golden/gemma3-270m"}),
                         [](const auto& row) {
                           const std::string file = row.param.file;
                           return file.substr(0, file.find('.'));
                         });

TEST_P(DefaultPrecision, RowsOfOtherModels) {
  ADJUDGE_DATA_OR_SKIP(folder, GetParam().folder);
  ADJUDGE_MODEL_OR_SKIP(path, GetParam().file);
  const auto model = *Model::Load(path, {.precision = Precision::kDefault});
  const json golden = json::parse(testing::ReadFile(folder / "golden.json"));
  for (const json& row : golden["logits"]) {
    SCOPED_TRACE(row["name"]);
    ExpectSameBest(*model, row);
    if (!row.contains("last_logits_file")) continue;
    const double divergence = Divergence(*model, row, folder);
    EXPECT_LE(divergence, 0.002);
    std::cout << row["name"] << ": divergence " << divergence << "\n";
  }
}

}  // namespace
}  // namespace adjudge
