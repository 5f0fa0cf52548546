#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "engine/batch.h"
#include "engine/cpu/thread_pool.h"
#include "engine/kv_cache.h"
#include "engine/model.h"
#include "engine/model/create_backend.h"
#include "engine/model/transformer.h"
#include "tests/testing/fake_model_file.h"

namespace adjudge {
namespace {

using testing::FakeModelFile;
using testing::MakeFakeModel;
using testing::TinyConfig;

constexpr ModelOptions kReferenceOptions{.backend = BackendKind::kReference, .threads = 1};

std::vector<TokenId> Tokens(int n, unsigned seed = 5) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < n; ++i) {
    seed = seed * 1664525 + 1013904223;
    tokens.push_back(static_cast<TokenId>((seed >> 16) % 61));
  }
  return tokens;
}

Wants AllRows(int n, Wants wants) {
  wants.rows.resize(static_cast<std::size_t>(n));
  std::iota(wants.rows.begin(), wants.rows.end(), 0);
  return wants;
}

EntryOutput RunOn(const Model& model, Sequence& sequence, std::span<const TokenId> tokens,
                  const Wants& wants, std::span<const int> positions = {}) {
  Batch batch;
  const auto added = batch.Add(sequence, tokens, wants, positions);
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

EntryOutput RunAlone(const Model& model, std::span<const TokenId> tokens, const Wants& wants,
                     std::span<const int> positions = {}) {
  const auto cache = *model.NewCache();
  Sequence sequence = cache->NewSequence();
  return RunOn(model, sequence, tokens, wants, positions);
}

double LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

class ForwardOfEach : public ::testing::TestWithParam<const char*> {
 protected:
  ForwardOfEach() : config_(TinyConfig(GetParam())) {}
  ModelConfig config_;
};
INSTANTIATE_TEST_SUITE_P(Architectures, ForwardOfEach, ::testing::ValuesIn(testing::kArchitectures),
                         [](const auto& row) { return std::string(row.param); });

TEST_P(ForwardOfEach, EveryWantAgreesWithTheOthers) {
  config_.final_logit_softcap = 3.0;
  const auto model = MakeFakeModel(config_, kReferenceOptions);
  const auto tokens = Tokens(40);
  const int n = 40;
  const EntryOutput all = RunAlone(*model, tokens,
                                   AllRows(n, {.logits = true,
                                               .logit_ids = {5, 60, 5},
                                               .log_sum_exp = true,
                                               .hidden = true,
                                               .hidden_layers = {2, 0, 1}}));
  ASSERT_EQ(all.logits.size(), 40U * 61);
  ASSERT_EQ(all.hidden_layers.size(), 3U * 40 * 32);
  for (int r = 0; r < n; ++r) {
    const float* logits = all.logits.data() + r * 61;
    double sum = 0;
    for (int i = 0; i < 61; ++i) {
      EXPECT_LT(std::fabs(logits[i]), 3.0F) << "capped";
      sum += std::exp(static_cast<double>(logits[i]));
    }
    EXPECT_NEAR(all.log_sum_exp[static_cast<std::size_t>(r)], std::log(sum), 1e-9);
    for (int j = 0; j < 3; ++j) EXPECT_EQ(all.logit_ids[r * 3 + j], logits[j == 1 ? 60 : 5]);
  }

  // Some rows, and each want alone: the same bits.
  const std::vector<int> rows = {0, 3, 39};
  const auto picked = [&](const std::vector<float>& from, int width) {
    std::vector<float> out;
    for (const int r : rows)
      out.insert(out.end(), from.begin() + r * width, from.begin() + (r + 1) * width);
    return out;
  };
  EXPECT_EQ(RunAlone(*model, tokens, {.rows = rows, .logits = true}).logits,
            picked(all.logits, 61));
  EXPECT_EQ(RunAlone(*model, tokens, {.rows = rows, .logit_ids = {5, 60, 5}}).logit_ids,
            picked(all.logit_ids, 3));
  EXPECT_EQ(RunAlone(*model, tokens, {.rows = rows, .hidden = true}).hidden,
            picked(all.hidden, 32));
  const EntryOutput sums = RunAlone(*model, tokens, {.rows = rows, .log_sum_exp = true});
  EXPECT_TRUE(sums.logits.empty());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(sums.log_sum_exp[i], all.log_sum_exp[static_cast<std::size_t>(rows[i])]);
  }
  const EntryOutput none = RunAlone(*model, tokens, Wants::None());
  EXPECT_EQ(none.n_rows, 0);
  EXPECT_TRUE(none.logits.empty() && none.hidden.empty() && none.log_sum_exp.empty());
}

TEST_P(ForwardOfEach, PassesThatStopGiveTheSameLayers) {
  const auto model = MakeFakeModel(config_, kReferenceOptions);
  const auto tokens = Tokens(30);
  const std::vector<int> rows = {4, 29};
  const EntryOutput whole =
      RunAlone(*model, tokens, {.rows = rows, .hidden = true, .hidden_layers = {0, 1, 2}});
  for (int stop = 1; stop <= 3; ++stop) {
    const auto cache = *model->NewCache();
    Sequence sequence = cache->NewSequence();
    Batch batch;
    std::vector<int> layers(static_cast<std::size_t>(stop));
    std::iota(layers.begin(), layers.end(), 0);
    ASSERT_TRUE(batch.Add(sequence, tokens, {.rows = rows, .hidden_layers = layers}));
    batch.StopAfterLayers(stop);
    const auto output = model->Forward(batch);
    ASSERT_TRUE(output);
    const std::vector<float>& found = output->entries[0].hidden_layers;
    ASSERT_EQ(found.size(), static_cast<std::size_t>(stop) * 2 * 32);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), whole.hidden_layers.begin())) << stop;
  }
  // The hidden state is the last layer's, normalised: the same direction up to the gains' spread.
  EXPECT_NE(whole.hidden, std::vector<float>(whole.hidden_layers.begin() + 2 * 2 * 32,
                                             whole.hidden_layers.end()));
}

TEST_P(ForwardOfEach, AnyChunkingOfAPromptGivesTheSameBits) {
  config_.context_length = 700;
  const auto tokens = Tokens(600);  // more than one internal chunk
  for (const ModelOptions& options :
       {kReferenceOptions, ModelOptions{.backend = BackendKind::kCpu, .threads = 2}}) {
    const auto model = MakeFakeModel(config_, options);
    const EntryOutput all = RunAlone(*model, tokens, Wants::LastLogits(600));
    for (const int chunk : {1, 7, 64, 599}) {
      const auto cache = *model->NewCache();
      Sequence sequence = cache->NewSequence();
      EntryOutput last;
      for (int begin = 0; begin < 600; begin += chunk) {
        const int n = std::min(chunk, 600 - begin);
        last = RunOn(*model, sequence, std::span(tokens).subspan(begin, n), Wants::LastLogits(n));
      }
      EXPECT_EQ(last.logits, all.logits) << model->backend_name() << ", chunks of " << chunk;
    }
  }
}

TEST_P(ForwardOfEach, ForksSeeTheirParentInTheSamePassAndNothingOfTheirSiblings) {
  const auto model = MakeFakeModel(config_, kReferenceOptions);
  const auto state = Tokens(33), first = Tokens(5, 77), second = Tokens(9, 78);
  const auto alone = [&](const std::vector<TokenId>& own) {
    std::vector<TokenId> tokens = state;
    tokens.insert(tokens.end(), own.begin(), own.end());
    return RunAlone(*model, tokens, Wants::LastLogits(static_cast<int>(tokens.size()))).logits;
  };
  for (const bool swapped : {false, true}) {
    const auto cache = *model->NewCache();
    Sequence parent = cache->NewSequence();
    Batch batch;
    ASSERT_TRUE(batch.Add(parent, state));
    Sequence a = *parent.Fork(33), b = *parent.Fork(33);
    const auto& tokens_a = swapped ? second : first;
    const auto& tokens_b = swapped ? first : second;
    ASSERT_TRUE(batch.Add(a, tokens_a, Wants::LastLogits(static_cast<int>(tokens_a.size()))));
    ASSERT_TRUE(batch.Add(b, tokens_b, Wants::LastLogits(static_cast<int>(tokens_b.size()))));
    const auto output = model->Forward(batch);
    ASSERT_TRUE(output);
    EXPECT_EQ(output->entries[1].logits, alone(tokens_a));
    EXPECT_EQ(output->entries[2].logits, alone(tokens_b));
  }
}

// Rotary attention sees differences of positions alone, so a shifted text gives the same logits up
// to rounding, and a stretched one others.
TEST_P(ForwardOfEach, PositionsAreWhereTheRotaryEmbeddingPutsThem) {
  const auto model = MakeFakeModel(config_, kReferenceOptions);
  const auto tokens = Tokens(20);
  std::vector<int> same(20), shifted(20), stretched(20);
  for (int i = 0; i < 20; ++i) {
    same[i] = i;
    shifted[i] = i + 100;
    stretched[i] = 2 * i;
  }
  const Wants wants = Wants::LastLogits(20);
  const auto logits = RunAlone(*model, tokens, wants).logits;
  EXPECT_EQ(RunAlone(*model, tokens, wants, same).logits, logits);
  EXPECT_LT(LargestDifference(RunAlone(*model, tokens, wants, shifted).logits, logits), 1e-4);
  EXPECT_GT(LargestDifference(RunAlone(*model, tokens, wants, stretched).logits, logits), 1e-2);
}

// In a model of one layer a key depends on its own token and position alone. So a window of w must
// give the bits of full attention over a sequence that holds the tokens of the window alone.
TEST(SlidingWindow, IsFullAttentionOverTheTokensInsideIt) {
  ModelConfig config = TinyConfig("qwen2");
  config.n_layers = 1;
  config.layer_window = {0};
  config.rope_local = config.rope;
  const auto full = MakeFakeModel(config, kReferenceOptions);
  const auto tokens = Tokens(12);
  const struct {
    const char* name;
    std::vector<int> positions;
  } rows[] = {
      {"plain", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
      {"from far", {90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101}},
      {"gaps", {0, 3, 4, 5, 9, 20, 21, 22, 23, 30, 31, 36}},
      {"two parts at the same positions", {0, 1, 2, 3, 4, 5, 2, 3, 4, 5, 6, 7}},
      {"backwards", {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
      {"all at one position", {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}},
  };
  for (const auto& row : rows) {
    for (const int window : {1, 3, 4, 11, 12, 13, 1000}) {
      config.layer_window = {window};
      const auto windowed = MakeFakeModel(config, kReferenceOptions);
      const EntryOutput found =
          RunAlone(*windowed, tokens, AllRows(12, {.logits = true}), row.positions);
      for (int i = 0; i < 12; ++i) {
        std::vector<TokenId> seen;
        std::vector<int> seen_at;
        for (int j = 0; j <= i; ++j) {
          if (row.positions[j] < row.positions[i] - window + 1) continue;
          seen.push_back(tokens[j]);
          seen_at.push_back(row.positions[j]);
        }
        const auto expected =
            RunAlone(*full, seen, Wants::LastLogits(static_cast<int>(seen.size())), seen_at);
        const std::vector<float> row_found(found.logits.begin() + i * 61,
                                           found.logits.begin() + (i + 1) * 61);
        EXPECT_EQ(row_found, expected.logits)
            << row.name << ", window " << window << ", token " << i;
      }
    }
  }
}

TEST(Forward, PartsInOtherFormatsArePackedApartWithTheSameBits) {
  for (const char* architecture : {"llama", "qwen2"}) {
    FakeModelFile mixed(TinyConfig(architecture)), plain(TinyConfig(architecture));
    for (const char* name : {"blk.0.attn_v.weight", "blk.1.ffn_up.weight", "blk.2.ffn_gate.weight",
                             "blk.2.attn_q.weight"}) {
      mixed.StoreAsBFloat16(name);
      plain.values(name) = mixed.values(name);
    }
    const auto a = *BuildTransformer(mixed, *CreateBackend(BackendKind::kReference, 1));
    const auto b = *BuildTransformer(plain, *CreateBackend(BackendKind::kReference, 1));
    EXPECT_LT(a->weight_bytes(), b->weight_bytes());
    const auto tokens = Tokens(20);
    EXPECT_EQ(RunAlone(*a, tokens, Wants::LastLogits(20)).logits,
              RunAlone(*b, tokens, Wants::LastLogits(20)).logits)
        << architecture;
  }
}

TEST(Forward, TensorsThatAreMissingOrLeftOverAreNamed) {
  const struct {
    const char* architecture;
    const char* remove;
    const char* add;
    ErrorCode code;
  } rows[] = {
      {"llama", "blk.1.attn_k.weight", nullptr, ErrorCode::kNotFound},
      {"llama", "output.weight", nullptr, ErrorCode::kNotFound},
      {"llama", "output_norm.weight", nullptr, ErrorCode::kNotFound},
      {"qwen2", "blk.2.attn_v.bias", nullptr, ErrorCode::kNotFound},
      {"qwen3", "blk.0.attn_q_norm.weight", nullptr, ErrorCode::kNotFound},
      {"gemma3", "blk.0.post_ffw_norm.weight", nullptr, ErrorCode::kNotFound},
      {"llama", nullptr, "blk.0.attn_output.bias", ErrorCode::kUnsupported},
      {"llama", nullptr, "blk.2.attn_q_norm.weight", ErrorCode::kUnsupported},
      {"qwen3", nullptr, "blk.3.attn_norm.weight", ErrorCode::kUnsupported},
  };
  for (const auto& row : rows) {
    FakeModelFile file(TinyConfig(row.architecture));
    if (row.remove != nullptr) file.Remove(row.remove);
    if (row.add != nullptr) file.Add(row.add, {32}, 1, 0);
    const auto model = BuildTransformer(file, *CreateBackend(BackendKind::kReference, 1));
    const std::string name = row.remove != nullptr ? row.remove : row.add;
    ASSERT_FALSE(model) << name;
    EXPECT_EQ(model.error().code, row.code) << name;
    EXPECT_EQ(model.error().place, name);
  }
}

TEST(Forward, RopeFactorsOfAnotherLengthAreRefused) {
  for (const int n : {3, 5}) {
    ModelConfig config = TinyConfig("llama");
    config.rope.freq_factors.assign(static_cast<std::size_t>(n), 2.0F);
    const auto model =
        BuildTransformer(FakeModelFile(config), *CreateBackend(BackendKind::kReference, 1));
    ASSERT_FALSE(model);
    EXPECT_NE(model.error().message.find("expected 4"), std::string::npos) << model.error().message;
  }
}

TEST(Backends, AreChosenByName) {
  EXPECT_EQ(ParseBackendKind("reference").value(), BackendKind::kReference);
  EXPECT_EQ(ParseBackendKind("cpu").value(), BackendKind::kCpu);
  for (const char* unknown : {"", "CPU", "cuda", "ref"}) {
    const auto kind = ParseBackendKind(unknown);
    ASSERT_FALSE(kind) << unknown;
    EXPECT_NE(kind.error().message.find('"' + std::string(unknown) + '"'), std::string::npos);
  }
  for (const int threads : {-1, ThreadPool::kMaxThreads + 1}) {
    EXPECT_FALSE(CreateBackend(BackendKind::kReference, threads)) << threads;
    EXPECT_FALSE(CreateBackend(BackendKind::kCpu, threads)) << threads;
  }
  EXPECT_TRUE(CreateBackend(BackendKind::kReference, ThreadPool::kMaxThreads));
}

TEST(Forward, TwoCachesMayRunInTwoThreads) {
  for (const BackendKind backend : {BackendKind::kReference, BackendKind::kCpu}) {
    const auto model = MakeFakeModel(TinyConfig("gemma3"), {.backend = backend, .threads = 2});
    const auto tokens = Tokens(50);
    const auto expected = RunAlone(*model, tokens, Wants::LastLogits(50)).logits;
    const auto work = [&] {
      const auto cache = *model->NewCache();
      for (int i = 0; i < 20; ++i) {
        Sequence sequence = cache->NewSequence();
        RunOn(*model, sequence, std::span(tokens).first(30), {});
        const auto last =
            RunOn(*model, sequence, std::span(tokens).subspan(30), Wants::LastLogits(20));
        EXPECT_EQ(last.logits, expected);
      }
    };
    std::thread other(work);
    work();
    other.join();
  }
}

}  // namespace
}  // namespace adjudge
