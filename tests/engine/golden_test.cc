// The forward pass against independent float64 implementations: tiny random files of every
// architecture (always), cases from public bug reports, and real models where they are here.
//
// Of the real models the reference backend checks everything but 6 of the 10 decisions and the 586
// tokens of Gemma's long text; those too with ADJUDGE_LONG_TESTS=1. The cpu backend checks all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "engine/batch.h"
#include "engine/kv_cache.h"
#include "engine/log_softmax.h"
#include "engine/model.h"
#include "tests/testing/engine_cases.h"
#include "tests/testing/engine_recipe.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

bool LongTests() {
  const char* value = std::getenv("ADJUDGE_LONG_TESTS");
  return value != nullptr && std::string(value) == "1";
}

constexpr double kTolerance = 1e-3;  // of the real models' logits

constexpr BackendKind kBackends[] = {BackendKind::kReference, BackendKind::kCpu};

std::string NameOf(const ::testing::TestParamInfo<BackendKind>& row) {
  return std::string(ToString(row.param));
}

std::shared_ptr<const Model> LoadOrFail(const fs::path& path, BackendKind backend) {
  auto model = Model::Load(path, {.backend = backend, .precision = Precision::kExact});
  if (!model) {
    ADD_FAILURE() << path << ": " << ToString(model.error());
    return nullptr;
  }
  return *model;
}

EntryOutput RunOn(const Model& model, Sequence& sequence, const std::vector<TokenId>& tokens,
                  const Wants& wants) {
  Batch batch;
  const auto added = batch.Add(sequence, tokens, wants);
  if (!added) {
    ADD_FAILURE() << ToString(added.error());
    return {};
  }
  auto output = model.Forward(batch);
  if (!output) {
    ADD_FAILURE() << ToString(output.error());
    return {};
  }
  return std::move(output->entries[0]);
}

EntryOutput RunAlone(const Model& model, const std::vector<TokenId>& tokens, const Wants& wants) {
  const auto cache = *model.NewCache();
  Sequence sequence = cache->NewSequence();
  return RunOn(model, sequence, tokens, wants);
}

// Rows [begin, n).
Wants Rows(int begin, int n, Wants wants) {
  wants.rows.resize(static_cast<std::size_t>(n - begin));
  std::iota(wants.rows.begin(), wants.rows.end(), begin);
  return wants;
}

std::span<const float> Row(const std::vector<float>& rows, int row, int width) {
  return std::span(rows).subspan(static_cast<std::size_t>(row) * static_cast<std::size_t>(width),
                                 static_cast<std::size_t>(width));
}

int ArgMax(std::span<const float> row) {
  return static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin());
}

double Gap(std::span<const float> row) {
  const int best = ArgMax(row);
  double second = -INFINITY;
  for (int i = 0; i < static_cast<int>(row.size()); ++i) {
    if (i != best) second = std::max(second, static_cast<double>(row[static_cast<std::size_t>(i)]));
  }
  return static_cast<double>(row[static_cast<std::size_t>(best)]) - second;
}

double LargestDifference(std::span<const float> found, std::span<const float> expected) {
  if (found.size() != expected.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = static_cast<double>(found[i]) - static_cast<double>(expected[i]);
    largest = std::max(largest, std::isnan(difference) ? INFINITY : std::fabs(difference));
  }
  return largest;
}

std::vector<float> ReadFloats(const fs::path& path) {
  const std::string bytes = testing::ReadFile(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

json ReadJson(const fs::path& path) { return json::parse(testing::ReadFile(path)); }

// ---------------------------------------------------------------------------------- tiny files

class TinyGolden : public ::testing::TestWithParam<BackendKind> {};
INSTANTIATE_TEST_SUITE_P(Backends, TinyGolden, ::testing::ValuesIn(kBackends), NameOf);

TEST_P(TinyGolden, EveryArchitectureAndRopeScaling) {
  const fs::path folder = testing::SourceFolder() / "tests/golden/tiny";
  const double tolerance = GetParam() == BackendKind::kReference ? 2e-5 : 2e-4;
  double largest = 0;
  for (const json& golden : ReadJson(folder / "golden.json")) {
    const std::string file = golden["file"];
    SCOPED_TRACE(file);
    const auto model = LoadOrFail(folder / file, GetParam());
    if (model == nullptr) continue;
    const auto ids = golden["ids"].get<std::vector<TokenId>>();
    const int n = static_cast<int>(ids.size());
    const int vocab = model->config().vocab_size;
    const EntryOutput output = RunAlone(*model, ids, Rows(0, n, {.logits = true}));
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (golden["gap"][at].get<double>() < 10 * tolerance) continue;
      EXPECT_EQ(ArgMax(Row(output.logits, i, vocab)), golden["argmax"][at].get<int>()) << i;
    }
    for (const auto& [position, row] : golden["rows"].items()) {
      const auto expected = row.get<std::vector<float>>();
      const double difference =
          LargestDifference(Row(output.logits, std::stoi(position), vocab), expected);
      EXPECT_LT(difference, tolerance) << "position " << position;
      largest = std::max(largest, difference);
    }
  }
  RecordProperty("largest_difference", std::to_string(largest));
}

// ---------------------------------------------------------------------------- cases from reports

class CaseGolden : public ::testing::TestWithParam<BackendKind> {
 protected:
  // The pairs [[id, logit], ...] against a row.
  static void ExpectLogits(std::span<const float> row, const json& pairs) {
    for (const json& pair : pairs) {
      EXPECT_NEAR(row[pair[0].get<std::size_t>()], pair[1].get<double>(), 1e-3) << pair;
    }
    EXPECT_EQ(ArgMax(row), pairs[0][0].get<int>());
  }
  testing::TempFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Backends, CaseGolden, ::testing::ValuesIn(kBackends), NameOf);

TEST_P(CaseGolden, TiedOutput) {
  ADJUDGE_CASE_OR_SKIP(tied, "file-tied-output");
  ADJUDGE_RECIPE_OR_SKIP(path, tied["input"]["files"][0], folder_);
  const auto model = LoadOrFail(path, GetParam());
  ASSERT_NE(model, nullptr);
  EXPECT_TRUE(model->config().tied_output);
  const json& expected = tied["expected"];
  const auto ids = expected["ids"].get<std::vector<TokenId>>();
  const int n = static_cast<int>(ids.size());
  const EntryOutput output =
      RunAlone(*model, ids, Rows(0, n, {.logits = true, .log_sum_exp = true}));
  const int vocab = model->config().vocab_size;
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(ArgMax(Row(output.logits, i, vocab)), expected["argmax_each"][i].get<int>()) << i;
  }
  const auto last = Row(output.logits, n - 1, vocab);
  ExpectLogits(last, expected["last_logits_top5"]);
  EXPECT_NEAR(
      static_cast<double>(last[static_cast<std::size_t>(ArgMax(last))]) - output.log_sum_exp.back(),
      expected["last_logprob_top1"].get<double>(), 1e-3);
}

TEST_P(CaseGolden, HeadSizeOfTheFile) {
  ADJUDGE_CASE_OR_SKIP(wide, "file-head-dim");
  ADJUDGE_RECIPE_OR_SKIP(path, wide["input"]["files"][0], folder_);
  const auto model = LoadOrFail(path, GetParam());
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->config().head_dim, 16);
  const json& expected = wide["expected"];
  const auto ids = expected["ids"].get<std::vector<TokenId>>();
  const int n = static_cast<int>(ids.size());
  const EntryOutput output = RunAlone(*model, ids, Rows(0, n, {.logits = true}));
  const int vocab = model->config().vocab_size;
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(ArgMax(Row(output.logits, i, vocab)), expected["argmax_each"][i].get<int>()) << i;
  }
  ExpectLogits(Row(output.logits, n - 1, vocab), expected["last_logits_top5"]);
}

TEST_P(CaseGolden, RowsPastTheVocabulary) {
  ADJUDGE_CASE_OR_SKIP(padded, "file-padded-vocab");
  ADJUDGE_RECIPE_OR_SKIP(path, padded["input"]["files"][0], folder_);
  const auto model = LoadOrFail(path, GetParam());
  ASSERT_NE(model, nullptr);
  const json& expected = padded["expected"]["if_loaded"];
  EXPECT_EQ(model->config().vocab_size, expected["logits_width"].get<int>());
  const auto ids = expected["ids"].get<std::vector<TokenId>>();
  const int n = static_cast<int>(ids.size());
  const EntryOutput output = RunAlone(*model, ids, Wants::LastLogits(n));
  EXPECT_EQ(ArgMax(output.logits), expected["last_argmax_all_rows"].get<int>());
  // The order of the best 20 among the tokens that the vocabulary has.
  std::vector<int> order(293);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return output.logits[a] > output.logits[b]; });
  order.resize(20);
  EXPECT_EQ(order, expected["top_k_20_over_tokens"].get<std::vector<int>>());
  for (const json& id : padded["expected"]["input_id_refused"]) {
    const auto cache = *model->NewCache();
    Sequence sequence = cache->NewSequence();
    Batch batch;
    EXPECT_FALSE(batch.Add(sequence, std::vector<TokenId>{id.get<TokenId>()})) << id;
  }
}

TEST_P(CaseGolden, Llama3RopeFactors) {
  ADJUDGE_CASE_OR_SKIP(rope, "fwd-llama3-rope");
  ADJUDGE_RECIPE_OR_SKIP(path, rope["input"]["file"], folder_);
  const auto model = LoadOrFail(path, GetParam());
  ASSERT_NE(model, nullptr);
  const json& expected = rope["expected"]["ff.gguf"];
  const auto ids = rope["input"]["ids"].get<std::vector<TokenId>>();
  const int n = static_cast<int>(ids.size());
  const EntryOutput output = RunAlone(*model, ids, Rows(0, n, {.logits = true}));
  const int vocab = model->config().vocab_size;
  for (int i = 0; i < n; ++i) {
    const auto row = Row(output.logits, i, vocab);
    if (i + 1 == n) continue;  // its best two lie 0.0001 apart
    EXPECT_EQ(ArgMax(row), expected["argmax_each"][i].get<int>()) << i;
  }
  for (const json& pair : expected["last_logits_top5"]) {
    EXPECT_NEAR(Row(output.logits, n - 1, vocab)[pair[0].get<std::size_t>()], pair[1].get<double>(),
                1e-3);
  }
}

TEST_P(CaseGolden, ForkAndCutBack) {
  ADJUDGE_CASE_OR_SKIP(fork_case, "fwd-fork-and-cut-back");
  ADJUDGE_RECIPE_OR_SKIP(path, fork_case["input"]["file"], folder_);
  const auto model = LoadOrFail(path, GetParam());
  ASSERT_NE(model, nullptr);
  const json& expected = fork_case["expected"];
  const auto prefix = fork_case["input"]["prefix"].get<std::vector<TokenId>>();
  const auto a = fork_case["input"]["A"].get<std::vector<TokenId>>();
  const auto b = fork_case["input"]["B"].get<std::vector<TokenId>>();
  const auto run = [&](Sequence& sequence, const std::vector<TokenId>& tokens) {
    return RunOn(*model, sequence, tokens, Wants::LastLogits(static_cast<int>(tokens.size())))
        .logits;
  };
  const auto cache = *model->NewCache();
  Sequence first = cache->NewSequence();
  ExpectLogits(run(first, prefix), expected["prefix"]);
  Sequence second = *first.Fork(first.length());
  ExpectLogits(run(first, a), expected["prefix_A"]);
  const std::vector<float> with_b = run(second, b);
  ExpectLogits(with_b, expected["prefix_B"]);
  ASSERT_TRUE(first.Truncate(4));
  EXPECT_EQ(run(first, b), with_b) << "cut back to the prefix, then B";
  ASSERT_TRUE(first.Truncate(2));
  std::vector<TokenId> rest(prefix.begin() + 2, prefix.end());
  rest.insert(rest.end(), a.begin(), a.end());
  ExpectLogits(run(first, rest), expected["prefix_A"]);
  Sequence one_by_one = cache->NewSequence();
  std::vector<float> last;
  for (const TokenId token : prefix) last = run(one_by_one, {token});
  for (const TokenId token : b) last = run(one_by_one, {token});
  EXPECT_EQ(last, with_b);
}

TEST_P(CaseGolden, PromptsLongerThanTheWindow) {
  ADJUDGE_CASE_OR_SKIP(full, "fwd-context-full");
  ADJUDGE_RECIPE_OR_SKIP(path, full["input"]["file"], folder_);
  const auto model = LoadOrFail(path, GetParam());
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->config().context_length, 64);
  const auto cache = *model->NewCache();
  for (const int n : full["input"]["prompts"]) {
    Sequence sequence = cache->NewSequence();
    Batch batch;
    const auto added = batch.Add(sequence, std::vector<TokenId>(static_cast<std::size_t>(n), 260));
    EXPECT_EQ(added.has_value(), n <= 64) << n;
    if (added) continue;
    for (const json& name : full["expected"][std::to_string(n)]["names"]) {
      EXPECT_NE(added.error().message.find(name.get<std::string>()), std::string::npos)
          << added.error().message;
    }
  }
}

// -------------------------------------------------------------------------------- real models

struct RealModel {
  const char* file;    // as ModelPath knows it
  const char* golden;  // its folder
  // What the reference backend checks in the default run.
  int logits;
  int greedy;
  int decisions;
};
const RealModel kDefaultModel = {"default", "golden/smollm2", 4, 5, 4};
const RealModel kQwen = {"q05.gguf", "golden/qwen2.5-coder-0.5b", 2, 2, 0};
const RealModel kGemma = {"g3.gguf", "golden/gemma3-270m", 1, 2, 0};

class RealGolden : public ::testing::TestWithParam<BackendKind> {
 protected:
  std::size_t HowMany(int in_default_run, std::size_t all) const {
    if (GetParam() != BackendKind::kReference || LongTests()) return all;
    return std::min(static_cast<std::size_t>(in_default_run), all);
  }

  void CheckLogits(const Model& model, const json& row, const fs::path& folder);
  void CheckGreedy(const Model& model, const json& row);
  void CheckModel(const Model& model, const fs::path& folder, const RealModel& real);
};
INSTANTIATE_TEST_SUITE_P(Backends, RealGolden, ::testing::ValuesIn(kBackends), NameOf);

void RealGolden::CheckLogits(const Model& model, const json& row, const fs::path& folder) {
  SCOPED_TRACE(row["name"]);
  const auto ids = row["ids"].get<std::vector<TokenId>>();
  const int n = static_cast<int>(ids.size());
  const EntryOutput output =
      RunAlone(model, ids, Rows(0, n, {.logits = true, .log_sum_exp = true, .hidden = true}));
  ASSERT_EQ(output.n_rows, n);
  const int vocab = model.config().vocab_size;
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto logits = Row(output.logits, i, vocab);
    EXPECT_NEAR(output.log_sum_exp[at], row["logsumexp_each_position"][at].get<double>(),
                kTolerance)
        << i;
    if (Gap(logits) >= 0.02) {
      EXPECT_EQ(ArgMax(logits), row["argmax_each_position"][at].get<int>()) << i;
    }
  }
  const auto last = Row(output.logits, n - 1, vocab);
  for (const json& pair : row["last_top20"]) {
    EXPECT_NEAR(last[pair[0].get<std::size_t>()], pair[1].get<double>(), kTolerance);
  }
  if (row.contains("last_logits_file")) {
    const double difference =
        LargestDifference(last, ReadFloats(folder / row["last_logits_file"].get<std::string>()));
    EXPECT_LT(difference, kTolerance);
    std::cout << row["name"] << ": largest difference of a logit " << difference << "\n";
  }
  if (row.contains("last_hidden_file")) {
    EXPECT_LT(LargestDifference(Row(output.hidden, n - 1, model.config().dim),
                                ReadFloats(folder / row["last_hidden_file"].get<std::string>())),
              kTolerance);
  }
}

// The text's own tokens are given, so that one pass shows what each greedy step would choose.
void RealGolden::CheckGreedy(const Model& model, const json& row) {
  auto ids = row["prompt_ids"].get<std::vector<TokenId>>();
  const int prompt = static_cast<int>(ids.size());
  const auto text = row["ids"].get<std::vector<TokenId>>();
  ids.insert(ids.end(), text.begin(), text.end() - 1);
  const int n = static_cast<int>(ids.size());
  const EntryOutput output = RunAlone(model, ids, Rows(prompt - 1, n, {.logits = true}));
  for (std::size_t step = 0; step < text.size(); ++step) {
    if (row["gap"][step].get<double>() < 0.02) break;
    EXPECT_EQ(ArgMax(Row(output.logits, static_cast<int>(step), model.config().vocab_size)),
              text[step])
        << "step " << step << " of " << row["text"];
  }
}

void RealGolden::CheckModel(const Model& model, const fs::path& folder, const RealModel& real) {
  const json golden = ReadJson(folder / "golden.json");
  for (std::size_t i = 0; i < HowMany(real.logits, golden["logits"].size()); ++i) {
    CheckLogits(model, golden["logits"][i], folder);
  }
  for (std::size_t i = 0; i < HowMany(real.greedy, golden["greedy"].size()); ++i) {
    CheckGreedy(model, golden["greedy"][i]);
  }
}

TEST_P(RealGolden, DefaultModel) {
  ADJUDGE_DATA_OR_SKIP(folder, kDefaultModel.golden);
  ADJUDGE_MODEL_OR_SKIP(path, kDefaultModel.file);
  const auto model = LoadOrFail(path, GetParam());
  ASSERT_NE(model, nullptr);
  CheckModel(*model, folder, kDefaultModel);
}

TEST_P(RealGolden, Qwen2) {
  ADJUDGE_DATA_OR_SKIP(folder, kQwen.golden);
  ADJUDGE_MODEL_OR_SKIP(path, kQwen.file);
  const auto model = LoadOrFail(path, GetParam());
  ASSERT_NE(model, nullptr);
  CheckModel(*model, folder, kQwen);
}

TEST_P(RealGolden, Gemma3) {
  ADJUDGE_DATA_OR_SKIP(folder, kGemma.golden);
  ADJUDGE_MODEL_OR_SKIP(path, kGemma.file);
  const auto model = LoadOrFail(path, GetParam());
  ASSERT_NE(model, nullptr);
  CheckModel(*model, folder, kGemma);
}

// Log-probabilities of the label tokens after a prompt, from their rows and the log-sum-exp alone.
std::vector<double> LabelLogProbs(const Model& model, const json& decision) {
  const auto prompt = decision["label_prompt_ids"].get<std::vector<TokenId>>();
  const auto labels = decision["label_ids"].get<std::vector<TokenId>>();
  const int n = static_cast<int>(prompt.size());
  const EntryOutput output =
      RunAlone(model, prompt, {.rows = {n - 1}, .logit_ids = labels, .log_sum_exp = true});
  std::vector<double> log_probs;
  for (const float logit : output.logit_ids) {
    log_probs.push_back(static_cast<double>(logit) - output.log_sum_exp[0]);
  }
  return log_probs;
}

// Log-likelihood of each option's tokens after the prompt: forks of it in the same pass.
std::vector<double> OptionLogLikelihoods(const Model& model, const json& decision) {
  const auto prompt = decision["likelihood_prompt_ids"].get<std::vector<TokenId>>();
  const int n = static_cast<int>(prompt.size());
  std::vector<std::vector<TokenId>> options;
  Wants first{.rows = {n - 1}, .log_sum_exp = true};
  for (const json& option : decision["options"]) {
    options.push_back(option["ids"].get<std::vector<TokenId>>());
    first.logit_ids.push_back(options.back()[0]);
  }
  const auto cache = *model.NewCache();
  Sequence state = cache->NewSequence();
  Batch batch;
  EXPECT_TRUE(batch.Add(state, prompt, first));
  std::vector<Sequence> forks;
  std::vector<int> entries;
  for (const auto& ids : options) {
    forks.push_back(*state.Fork(n));
    entries.push_back(-1);
    if (ids.size() == 1) continue;
    const std::span<const TokenId> fed = std::span(ids).first(ids.size() - 1);
    entries.back() =
        *batch.Add(forks.back(), fed,
                   Rows(0, static_cast<int>(fed.size()), {.logits = true, .log_sum_exp = true}));
  }
  const auto output = model.Forward(batch);
  EXPECT_TRUE(output);
  std::vector<double> sums;
  for (std::size_t o = 0; o < options.size(); ++o) {
    double sum =
        static_cast<double>(output->entries[0].logit_ids[o]) - output->entries[0].log_sum_exp[0];
    for (std::size_t i = 1; i < options[o].size(); ++i) {
      const EntryOutput& entry = output->entries[static_cast<std::size_t>(entries[o])];
      const auto row = Row(entry.logits, static_cast<int>(i) - 1, model.config().vocab_size);
      sum += static_cast<double>(row[static_cast<std::size_t>(options[o][i])]) -
             entry.log_sum_exp[i - 1];
    }
    sums.push_back(sum);
  }
  return sums;
}

// Softmax over the options alone.
std::vector<double> Normalized(std::vector<double> log_probs) {
  double sum = 0;
  for (double& p : log_probs) sum += p = std::exp(p);
  for (double& p : log_probs) p /= sum;
  return log_probs;
}

TEST_P(RealGolden, Decisions) {
  ADJUDGE_DATA_OR_SKIP(folder, kDefaultModel.golden);
  ADJUDGE_MODEL_OR_SKIP(path, kDefaultModel.file);
  const auto model = LoadOrFail(path, GetParam());
  ASSERT_NE(model, nullptr);
  const json golden = ReadJson(folder / "golden.json");
  const std::size_t n = HowMany(kDefaultModel.decisions, golden["decisions"].size());
  double sum_of_largest = 0;
  for (std::size_t d = 0; d < n; ++d) {
    const json& decision = golden["decisions"][d];
    SCOPED_TRACE(decision["id"]);
    const auto labels = LabelLogProbs(*model, decision);
    const auto expected = decision["label_logprob"].get<std::vector<double>>();
    ASSERT_EQ(labels.size(), expected.size());
    const auto p = Normalized(labels), expected_p = Normalized(expected);
    double largest = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      EXPECT_NEAR(labels[i], expected[i], kTolerance) << "label " << i;
      largest = std::max(largest, std::fabs(p[i] - expected_p[i]));
    }
    sum_of_largest += largest;
    const auto likelihoods = OptionLogLikelihoods(*model, decision);
    for (std::size_t o = 0; o < likelihoods.size(); ++o) {
      const json& option = decision["options"][o];
      EXPECT_NEAR(likelihoods[o], option["logprob"].get<double>(),
                  kTolerance * static_cast<double>(option["ids"].size()))
          << "option " << o;
    }
  }
  EXPECT_LE(sum_of_largest / static_cast<double>(n), 0.001);
  std::cout << "mean of the largest difference of a label's probability: "
            << sum_of_largest / static_cast<double>(n) << "\n";
}

// ------------------------------------------------------------------------------- stories260K

// A piece's text: U+2581 stands for a space.
std::string WithSpaces(std::string_view piece) {
  constexpr std::string_view kMark = "\xE2\x96\x81";
  std::string text;
  for (std::size_t at = 0; at < piece.size();) {
    const bool is_mark = piece.substr(at, kMark.size()) == kMark;
    text += is_mark ? ' ' : piece[at];
    at += is_mark ? kMark.size() : 1;
  }
  return text;
}

TEST_P(RealGolden, Stories260KGivesItsKnownText) {
  ADJUDGE_DATA_OR_SKIP(folder, "models/stories260K");
  const auto model = LoadOrFail(folder / "stories260K.bin", GetParam());
  ASSERT_NE(model, nullptr);
  // tok512.vocab: one "piece <tab> score" a line.
  std::vector<std::string> pieces;
  std::istringstream lines(testing::ReadFile(folder / "tok512.vocab"));
  for (std::string line; std::getline(lines, line);)
    pieces.push_back(line.substr(0, line.find('\t')));
  ASSERT_EQ(pieces.size(), 512U);
  const auto cache = *model->NewCache();
  Sequence sequence = cache->NewSequence();
  std::string text;
  TokenId token = 1;  // the beginning of a sequence
  for (int i = 0; i < 257; ++i) {
    token = ArgMax(RunOn(*model, sequence, {token}, Wants::LastLogits(1)).logits);
    const std::string& piece = pieces[static_cast<std::size_t>(token)];
    text += piece == "<0x0A>" ? "\n" : WithSpaces(piece);
  }
  std::string expected = testing::ReadFile(folder / "greedy-t0-n257.txt");
  while (!expected.empty() && expected.back() == '\n') expected.pop_back();
  EXPECT_EQ(text.substr(text.find_first_not_of(' ')), expected);
}

}  // namespace
}  // namespace adjudge
