// Bits depend on what a token sees alone: random batches of forks, joins and continuations against
// each token's own history computed alone, on one thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/batch.h"
#include "engine/kv_cache.h"
#include "engine/model.h"
#include "tests/testing/fake_model_file.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using CellList = std::vector<int>;

// A token with all that its keys and values depend on.
struct Cell {
  TokenId token = 0;
  int position = 0;
  CellList past;  // what it sees before itself, in order
};

struct Expected {
  std::vector<float> logits;
  std::vector<float> hidden;
  double log_sum_exp = 0;
};

// Computes each cell in the plainest way: its own history alone, run by run, one run a batch.
class Oracle {
 public:
  explicit Oracle(std::shared_ptr<const Model> model)
      : model_(std::move(model)), cache_(*model_->NewCache({.max_tokens = 1 << 20})) {}

  int Id(TokenId token, int position, const CellList& past) {
    const auto [found, is_new] = ids_.try_emplace({token, position, past}, cells_.size());
    if (is_new) cells_.push_back({token, position, past});
    return static_cast<int>(found->second);
  }

  const Expected& Of(int id) {
    if (!expected_.contains(id)) {
      CellList list = cells_[static_cast<std::size_t>(id)].past;
      list.push_back(id);
      Build(list);
    }
    return expected_.at(id);
  }

 private:
  const Cell& cell(int id) const { return cells_[static_cast<std::size_t>(id)]; }

  // One past the last cell of the longest run from `begin` whose cells each see all before them.
  std::size_t RunEnd(const CellList& list, std::size_t begin) const {
    std::size_t end = begin + 1;
    CellList past = cell(list[begin]).past;
    while (end < list.size()) {
      past.push_back(list[end - 1]);
      if (cell(list[end]).past != past) break;
      ++end;
    }
    return end;
  }

  const Sequence& Build(const CellList& list) {
    if (const auto found = sequences_.find(list); found != sequences_.end()) return found->second;
    std::vector<SequenceRange> ranges;
    for (std::size_t begin = 0; begin < list.size();) {
      const std::size_t end = RunEnd(list, begin);
      const CellList run(list.begin() + static_cast<std::ptrdiff_t>(begin),
                         list.begin() + static_cast<std::ptrdiff_t>(end));
      const Sequence& computed = RunAlone(run);
      ranges.push_back(
          {&computed, computed.length() - static_cast<int>(run.size()), computed.length()});
      begin = end;
    }
    Sequence joined = ranges.empty() ? cache_->NewSequence() : *Sequence::Join(ranges);
    return sequences_.emplace(list, std::move(joined)).first->second;
  }

  // The past of the run's first cell, and the run in one batch of its own.
  const Sequence& RunAlone(const CellList& run) {
    const auto done = runs_.find(run);
    if (done != runs_.end()) return done->second;
    const Sequence& past = Build(cell(run.front()).past);
    Sequence sequence = *past.Fork(past.length());
    std::vector<TokenId> tokens;
    std::vector<int> positions, rows;
    for (const int id : run) {
      rows.push_back(static_cast<int>(tokens.size()));
      tokens.push_back(cell(id).token);
      positions.push_back(cell(id).position);
    }
    Batch batch;
    EXPECT_TRUE(batch.Add(sequence, tokens,
                          {.rows = rows, .logits = true, .log_sum_exp = true, .hidden = true},
                          positions));
    const ForwardOutput output = *model_->Forward(batch);
    const EntryOutput& entry = output.entries[0];
    const int vocab = model_->config().vocab_size, dim = model_->config().dim;
    for (std::size_t i = 0; i < run.size(); ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i);
      expected_[run[i]] = {
          {entry.logits.begin() + at * vocab, entry.logits.begin() + (at + 1) * vocab},
          {entry.hidden.begin() + at * dim, entry.hidden.begin() + (at + 1) * dim},
          entry.log_sum_exp[i]};
    }
    return runs_.emplace(run, std::move(sequence)).first->second;
  }

  std::shared_ptr<const Model> model_;
  std::shared_ptr<KvCache> cache_;
  std::map<std::tuple<TokenId, int, CellList>, std::size_t> ids_;
  std::vector<Cell> cells_;
  std::map<CellList, Sequence> sequences_;
  std::map<CellList, Sequence> runs_;
  std::map<int, Expected> expected_;
};

struct Live {
  Sequence sequence;
  CellList cells;
  bool staged = false;
};

class Simulation {
 public:
  Simulation(std::shared_ptr<const Model> model, Oracle& oracle, unsigned seed)
      : model_(std::move(model)),
        cache_(*model_->NewCache({.max_tokens = 1 << 16})),
        oracle_(oracle),
        random_(seed) {}

  // One batch of random entries, and random cuts and drops behind it. Returns rows compared.
  int Round() {
    Batch batch;
    std::vector<std::pair<std::size_t, Wants>> entries;  // which live sequence, what is wanted
    const int n_entries = Below(6) + 1;
    for (int i = 0; i < n_entries; ++i) AddEntry(batch, entries);
    const auto output = model_->Forward(batch);
    EXPECT_TRUE(output) << ToString(output.error());
    if (!output) return 0;
    int compared = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      compared += Compare(live_[entries[i].first], entries[i].second, output->entries[i],
                          batch.n_entries());
    }
    for (Live& live : live_) live.staged = false;
    CutAndDrop();
    return compared;
  }

 private:
  int Below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool Chance(int percent) { return Below(100) < percent; }

  std::size_t PickSequence() {
    const int dice = live_.empty() ? 0 : Below(100);
    if (dice < 20) {
      live_.push_back({cache_->NewSequence(), {}});
    } else if (dice < 50) {
      const std::size_t i = static_cast<std::size_t>(Below(static_cast<int>(live_.size())));
      if (!live_[i].staged && live_[i].cells.size() < kLongest) return i;
      return PickSequence();
    } else if (dice < 80) {
      const Live& parent = live_[static_cast<std::size_t>(Below(static_cast<int>(live_.size())))];
      const int length = Below(std::min(parent.sequence.length(), static_cast<int>(kLongest)) + 1);
      Live fork{*parent.sequence.Fork(length), parent.cells};
      fork.cells.resize(static_cast<std::size_t>(length));
      live_.push_back(std::move(fork));
    } else {
      live_.push_back(JoinSome());
    }
    return live_.size() - 1;
  }

  Live JoinSome() {
    std::vector<SequenceRange> ranges;
    CellList cells;
    const int n = Below(3) + 1;
    for (int i = 0; i < n; ++i) {
      const Live& source = live_[static_cast<std::size_t>(Below(static_cast<int>(live_.size())))];
      const int begin = Below(source.sequence.length() + 1);
      const int end = begin + Below(std::min(source.sequence.length() - begin, 40) + 1);
      ranges.push_back({&source.sequence, begin, end});
      cells.insert(cells.end(), source.cells.begin() + begin, source.cells.begin() + end);
    }
    return {*Sequence::Join(ranges), cells};
  }

  void AddEntry(Batch& batch, std::vector<std::pair<std::size_t, Wants>>& entries) {
    const std::size_t at = PickSequence();
    Live& live = live_[at];
    constexpr int kSizes[] = {1, 1, 1, 2, 3, 7, 15, 16, 17, 33, 64};
    const int n = kSizes[Below(static_cast<int>(std::size(kSizes)))];
    std::vector<TokenId> tokens;
    std::vector<int> positions;
    const bool gaps = Chance(15), anywhere = Chance(5);
    int next = live.sequence.next_position();
    for (int i = 0; i < n; ++i) {
      tokens.push_back(Below(5) * 9);
      if (gaps) next += Below(4);
      positions.push_back(anywhere ? Below(200) : next++);
      live.cells.push_back(oracle_.Id(tokens.back(), positions.back(), live.cells));
    }
    Wants wants;
    for (int i = 0; i < n; ++i) {
      if (Chance(40) || i + 1 == n) wants.rows.push_back(i);
    }
    wants.logits = Chance(70);
    wants.log_sum_exp = Chance(40);
    wants.hidden = Chance(30);
    if (Chance(50)) wants.logit_ids = {3, 60, 3, 11};
    if (Chance(10)) wants = Wants::None();
    const std::span<const int> given =
        gaps || anywhere ? std::span<const int>(positions) : std::span<const int>();
    const auto added = batch.Add(live.sequence, tokens, wants, given);
    ASSERT_TRUE(added) << ToString(added.error());
    live.staged = true;
    entries.emplace_back(at, wants);
  }

  int Compare(const Live& live, const Wants& wants, const EntryOutput& output, int n_entries) {
    const auto vocab = static_cast<std::size_t>(model_->config().vocab_size);
    const auto dim = static_cast<std::size_t>(model_->config().dim);
    EXPECT_EQ(output.n_rows, static_cast<int>(wants.rows.size()));
    const std::size_t n_new = NewTokens(live, wants);
    for (std::size_t r = 0; r < wants.rows.size(); ++r) {
      const std::size_t index = live.cells.size() - n_new + static_cast<std::size_t>(wants.rows[r]);
      const Expected& expected = oracle_.Of(live.cells[index]);
      bool same = true;
      const auto check = [&](const float* found, const std::vector<float>& want, std::size_t n) {
        same = same && std::memcmp(found, want.data(), n * sizeof(float)) == 0;
      };
      if (wants.logits) check(output.logits.data() + r * vocab, expected.logits, vocab);
      if (wants.hidden) check(output.hidden.data() + r * dim, expected.hidden, dim);
      if (wants.log_sum_exp) same = same && output.log_sum_exp[r] == expected.log_sum_exp;
      for (std::size_t j = 0; j < wants.logit_ids.size(); ++j) {
        const float found = output.logit_ids[r * wants.logit_ids.size() + j];
        same = same && found == expected.logits[static_cast<std::size_t>(wants.logit_ids[j])];
      }
      EXPECT_TRUE(same) << "token " << index << " of " << live.cells.size() << ", " << n_new
                        << " of them new, in a batch of " << n_entries << " entries";
      if (!same) break;
    }
    return static_cast<int>(wants.rows.size());
  }

  // The last row is always wanted where any is.
  static std::size_t NewTokens(const Live&, const Wants& wants) {
    return wants.rows.empty() ? 0 : static_cast<std::size_t>(wants.rows.back()) + 1;
  }

  void CutAndDrop() {
    for (std::size_t i = live_.size(); i-- > 0;) {
      Live& live = live_[i];
      if (Chance(20)) {
        const int length = Below(live.sequence.length() + 1);
        ASSERT_TRUE(live.sequence.Truncate(length));
        live.cells.resize(static_cast<std::size_t>(length));
      } else if (Chance(30) || live.cells.size() > kLongest) {
        live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    if (live_.empty()) {
      EXPECT_EQ(cache_->used_blocks(), 0);
    }
  }

  static constexpr std::size_t kLongest = 100;

  std::shared_ptr<const Model> model_;
  std::shared_ptr<KvCache> cache_;
  Oracle& oracle_;
  std::mt19937 random_;
  std::vector<Live> live_;
};

const std::vector<ModelOptions> kSettings = {{.backend = BackendKind::kReference, .threads = 1},
                                             {.backend = BackendKind::kCpu, .threads = 1},
                                             {.backend = BackendKind::kCpu, .threads = 2},
                                             {.backend = BackendKind::kCpu, .threads = 3}};

// The oracle of a backend and precision runs on one thread.
void CheckInvariance(const std::function<std::shared_ptr<const Model>(const ModelOptions&)>& make,
                     int rounds, const std::vector<ModelOptions>& settings = kSettings) {
  std::map<std::pair<BackendKind, Precision>, std::unique_ptr<Oracle>> oracles;
  unsigned seed = 1;
  for (const ModelOptions& setting : settings) {
    auto& oracle = oracles[{setting.backend, setting.precision}];
    if (oracle == nullptr) {
      ModelOptions alone = setting;
      alone.threads = 1;
      oracle = std::make_unique<Oracle>(make(alone));
    }
    const auto model = make(setting);
    SCOPED_TRACE(std::string(model->backend_name()) + ", " + std::to_string(setting.threads) +
                 " threads, " + std::string(ToString(setting.precision)));
    Simulation simulation(model, *oracle, seed++);
    int compared = 0;
    for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
      SCOPED_TRACE("round " + std::to_string(round));
      compared += simulation.Round();
    }
    EXPECT_GT(compared, rounds) << "the batches were too empty to show anything";
  }
}

class ForwardProperty : public ::testing::TestWithParam<const char*> {};

TEST_P(ForwardProperty, BitsDependOnWhatATokenSeesAlone) {
  ModelConfig config = testing::TinyConfig(GetParam());
  config.context_length = 4096;
  CheckInvariance(
      [&](const ModelOptions& options) { return testing::MakeFakeModel(config, options); }, 60);
}

INSTANTIATE_TEST_SUITE_P(Architectures, ForwardProperty,
                         ::testing::ValuesIn(testing::kArchitectures),
                         [](const auto& row) { return std::string(row.param); });

// Weights of block formats, under every precision.
class ForwardPropertyOfBlocks : public ::testing::TestWithParam<TensorType> {};

TEST_P(ForwardPropertyOfBlocks, BitsDependOnWhatATokenSeesAlone) {
  ModelConfig config = testing::TinyConfig("qwen2");
  config.context_length = 4096;
  config.hidden_dim = 96;
  testing::FakeModelFile file(config);
  file.StoreAsBlocks(GetParam());
  std::vector<ModelOptions> settings;
  for (const Precision precision : {Precision::kFast, Precision::kDefault, Precision::kExact}) {
    for (const int threads : {1, 3}) {
      settings.push_back(
          {.backend = BackendKind::kCpu, .threads = threads, .precision = precision});
    }
  }
  CheckInvariance(
      [&](const ModelOptions& options) { return testing::MakeFakeModel(file, options); }, 30,
      settings);
}

INSTANTIATE_TEST_SUITE_P(Types, ForwardPropertyOfBlocks,
                         ::testing::Values(TensorType::kQ4_1, TensorType::kQ8_0),
                         [](const auto& row) {
                           return row.param == TensorType::kQ8_0 ? "Q8_0" : "Q4_1";
                         });

// A text of 2,000 tokens and 64 forks of it in one pass, against forks computed alone behind chunks
// of the text.
TEST(ForwardPropertyOfLongTexts, ForksOfALongTextHaveTheBitsOfEachAlone) {
  constexpr int kText = 1990;
  constexpr int kForks = 64;
  constexpr int kTail = 10;
  ModelConfig config = testing::TinyConfig("llama");
  config.context_length = 4096;
  config.hidden_dim = 96;
  testing::FakeModelFile file(config);
  file.StoreAsBlocks(TensorType::kQ4_1);
  std::mt19937 random(5);
  const auto tokens = [&](int n) {
    std::vector<TokenId> ids;
    for (int i = 0; i < n; ++i) ids.push_back(static_cast<TokenId>(random() % 61));
    return ids;
  };
  const auto text = tokens(kText);
  std::vector<std::vector<TokenId>> tails;
  for (int i = 0; i < kForks; ++i) tails.push_back(tokens(1 + i % kTail));
  for (const Precision precision : {Precision::kFast, Precision::kDefault, Precision::kExact}) {
    const auto model = testing::MakeFakeModel(file, {.threads = 2, .precision = precision});
    const auto cache = *model->NewCache();
    Sequence state = cache->NewSequence();
    Batch packed;
    ASSERT_TRUE(packed.Add(state, text, Wants::None()));
    std::vector<Sequence> forks;
    for (const auto& tail : tails) {
      forks.push_back(*state.Fork(kText));
      ASSERT_TRUE(packed.Add(forks.back(), tail, Wants::LastLogits(static_cast<int>(tail.size()))));
    }
    const ForwardOutput all = *model->Forward(packed);
    const auto alone_model = testing::MakeFakeModel(file, {.threads = 1, .precision = precision});
    const auto alone_cache = *alone_model->NewCache();
    Sequence alone_state = alone_cache->NewSequence();
    for (int begin = 0; begin < kText; begin += 301) {
      Batch chunk;
      const auto part = std::span(text).subspan(
          static_cast<std::size_t>(begin), static_cast<std::size_t>(std::min(301, kText - begin)));
      ASSERT_TRUE(chunk.Add(alone_state, part, Wants::None()));
      ASSERT_TRUE(alone_model->Forward(chunk));
    }
    for (std::size_t i = 0; i < tails.size(); ++i) {
      Sequence fork = *alone_state.Fork(kText);
      std::vector<float> logits;
      for (const TokenId token : tails[i]) {  // one by one
        Batch one;
        ASSERT_TRUE(one.Add(fork, std::span(&token, 1), Wants::LastLogits(1)));
        logits = (*alone_model->Forward(one)).entries[0].logits;
      }
      ASSERT_EQ(std::memcmp(logits.data(), all.entries[i + 1].logits.data(),
                            logits.size() * sizeof(float)),
                0)
          << "fork " << i << ", " << ToString(precision);
    }
  }
}

TEST(ForwardPropertyOfLongTexts, ManySequencesOfOneTokenHaveTheBitsOfEachAlone) {
  ModelConfig config = testing::TinyConfig("llama");
  config.hidden_dim = 96;
  testing::FakeModelFile file(config);
  file.StoreAsBlocks(TensorType::kQ8_0);
  for (const Precision precision : {Precision::kFast, Precision::kDefault, Precision::kExact}) {
    const auto model = testing::MakeFakeModel(file, {.threads = 2, .precision = precision});
    const auto cache = *model->NewCache({.max_tokens = 1 << 16});
    std::vector<Sequence> sequences;
    Batch batch;
    for (TokenId i = 0; i < 512; ++i) {
      const TokenId token = i % 61;
      sequences.push_back(cache->NewSequence());
      ASSERT_TRUE(batch.Add(sequences.back(), std::span(&token, 1), Wants::LastLogits(1)));
    }
    const ForwardOutput all = *model->Forward(batch);
    for (TokenId token = 0; token < 61; ++token) {
      Sequence sequence = cache->NewSequence();
      Batch one;
      ASSERT_TRUE(one.Add(sequence, std::span(&token, 1), Wants::LastLogits(1)));
      const auto alone = (*model->Forward(one)).entries[0].logits;
      for (std::size_t i = static_cast<std::size_t>(token); i < 512; i += 61) {
        ASSERT_EQ(
            std::memcmp(alone.data(), all.entries[i].logits.data(), alone.size() * sizeof(float)),
            0)
            << "sequence " << i << ", " << ToString(precision);
      }
    }
  }
}

// A trained model, whose attention is sharper than random weights'.
TEST(ForwardPropertyOfStories260K, BitsDependOnWhatATokenSeesAlone) {
  ADJUDGE_DATA_OR_SKIP(path, "models/stories260K/stories260K.bin");
  CheckInvariance(
      [&](const ModelOptions& options) {
        auto model = Model::Load(path, options);
        EXPECT_TRUE(model) << ToString(model.error());
        return *model;
      },
      15);
}

// Real widths and block formats: a text alone and at once on one thread, against chunks of it
// beside a fork with a longer tail.
class RealModelInvariance : public ::testing::TestWithParam<std::pair<const char*, Precision>> {};

std::vector<float> LastLogits(const Model& model, std::span<const TokenId> tokens, int chunk,
                              std::span<const TokenId> sibling) {
  const auto cache = *model.NewCache();
  Sequence sequence = cache->NewSequence();
  std::vector<float> logits;
  for (std::size_t begin = 0; begin < tokens.size(); begin += static_cast<std::size_t>(chunk)) {
    const auto part =
        tokens.subspan(begin, std::min(static_cast<std::size_t>(chunk), tokens.size() - begin));
    Batch batch;
    Sequence fork = *sequence.Fork(sequence.length());
    if (!sibling.empty()) {
      EXPECT_TRUE(batch.Add(fork, sibling));
    }
    const auto entry = batch.Add(sequence, part, Wants::LastLogits(static_cast<int>(part.size())));
    EXPECT_TRUE(entry);
    auto output = model.Forward(batch);
    EXPECT_TRUE(output);
    logits = std::move(output->entries[static_cast<std::size_t>(*entry)].logits);
  }
  return logits;
}

TEST_P(RealModelInvariance, ChunksThreadsAndSiblingsChangeNoBit) {
  ADJUDGE_MODEL_OR_SKIP(path, GetParam().first);
  std::vector<TokenId> tokens, sibling;
  for (int i = 0; i < 65; ++i) tokens.push_back(100 + i * i % 7919);
  for (int i = 0; i < 13; ++i) sibling.push_back(300 + i);
  std::vector<float> expected;
  for (const int threads : {1, 2, 3}) {
    const auto model = *Model::Load(
        path, {.backend = BackendKind::kCpu, .threads = threads, .precision = GetParam().second});
    if (expected.empty()) expected = LastLogits(*model, tokens, 65, {});
    for (const int chunk : threads == 2 ? std::vector<int>{1, 7, 64, 65} : std::vector<int>{64}) {
      EXPECT_TRUE(LastLogits(*model, tokens, chunk, {}) == expected)
          << "chunks of " << chunk << ", " << threads << " threads";
    }
    EXPECT_TRUE(LastLogits(*model, tokens, 33, sibling) == expected)
        << "beside a sibling, " << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RealModelInvariance,
                         ::testing::Values(std::pair{"default", Precision::kFast},
                                           std::pair{"default", Precision::kDefault},
                                           std::pair{"default", Precision::kExact},
                                           std::pair{"q05.gguf", Precision::kDefault},
                                           std::pair{"q05.gguf", Precision::kExact},
                                           std::pair{"g3.gguf", Precision::kDefault},
                                           std::pair{"g3.gguf", Precision::kExact}),
                         [](const auto& row) {
                           const std::string file = row.param.first;
                           return file.substr(0, file.find('.')) + "_" +
                                  std::string(ToString(row.param.second));
                         });

}  // namespace
}  // namespace adjudge
