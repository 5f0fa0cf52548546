#include "engine/generate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "engine/log_softmax.h"
#include "tests/testing/engine_cases.h"
#include "tests/testing/listed_tokenizer.h"
#include "tests/testing/scripted_model.h"

namespace adjudge {
namespace {

using testing::ListedTokenizer;
using testing::ScriptedModel;
using Ids = std::vector<TokenId>;

enum Toy : TokenId { kBos, kEos, kA, kB, kC, kSpace, kHalf1, kHalf2, kUnused, kUnknown, kCtl, kX };
constexpr int kWidth = 14;  // two ids of padding

ListedTokenizer MakeTokenizer(bool dummy_prefix = false) {
  return ListedTokenizer({{"<s>", TokenKind::kControl},
                          {"</s>", TokenKind::kControl, true},
                          {"a"},
                          {"b"},
                          {"c"},
                          {" "},
                          {"\xF0\x9F"},
                          {"\x98\x80"},
                          {"<unused>", TokenKind::kUnused},
                          {"<unk>", TokenKind::kUnknown},
                          {"<ctl>", TokenKind::kControl},
                          {"x"}},
                         {.padding = 2, .bos = kBos, .eos = kEos, .dummy_prefix = dummy_prefix});
}

// Allows the token lists given, each of which may end where it is complete.
class ListMatcher final : public Matcher {
 public:
  ListMatcher(std::vector<Ids> lists, bool forces) : lists_(std::move(lists)), forces_(forces) {}

  Status FillMask(TokenMask& mask) override {
    mask.clear_all();
    for (TokenId id : Next(made_)) mask.set(id);
    if (CanStop()) mask.set(kEos);
    return {};
  }
  bool Accept(TokenId token) override {
    if (token == kEos && CanStop()) return stopped_ = true;
    const Ids next = Next(made_);
    if (std::find(next.begin(), next.end(), token) == next.end()) return false;
    made_.push_back(token);
    return true;
  }
  void Rollback(int n) override { made_.resize(made_.size() - static_cast<std::size_t>(n)); }
  std::unique_ptr<Matcher> Fork() const override { return std::make_unique<ListMatcher>(*this); }
  std::string ForcedBytes() override { return ""; }
  Ids ForcedTokens() override {
    Ids forced;
    for (Ids at = made_; forces_ && !Complete(at) && Next(at).size() == 1;) {
      forced.push_back(Next(at)[0]);
      at.push_back(forced.back());
    }
    return forced;
  }
  bool CanStop() const override { return !stopped_ && Complete(made_); }
  bool IsDone() const override { return stopped_ || (Complete(made_) && Next(made_).empty()); }

 private:
  Ids Next(const Ids& made) const {
    Ids next;
    for (const Ids& list : lists_) {
      const bool begins =
          list.size() > made.size() && std::equal(made.begin(), made.end(), list.begin());
      if (!begins || stopped_) continue;
      const TokenId id = list[made.size()];
      if (std::find(next.begin(), next.end(), id) == next.end()) next.push_back(id);
    }
    return next;
  }
  bool Complete(const Ids& made) const {
    return std::find(lists_.begin(), lists_.end(), made) != lists_.end();
  }

  std::vector<Ids> lists_;
  bool forces_;
  Ids made_;
  bool stopped_ = false;
};

// A model that writes `tokens`, then `after`, behind the prompt {a, b}.
struct Bench {
  explicit Bench(Ids tokens, TokenId after = kX, int window = 64, KvCacheOptions cache_options = {})
      : model(kWidth, window, ScriptedModel::Fixed(kWidth, 2, std::move(tokens), after)),
        tokenizer(MakeTokenizer()),
        cache(*model.NewCache(cache_options)),
        sequence(cache->NewSequence()) {}

  Result<GenerateResult> Run(const GenerateOptions& options, const Ids& prompt = {kA, kB}) {
    return Generate(model, tokenizer, sequence, prompt, options);
  }

  ScriptedModel model;
  ListedTokenizer tokenizer;
  std::shared_ptr<KvCache> cache;
  Sequence sequence;
};

TEST(Generate, EndsForOneStatedReason) {
  struct Row {
    std::string name;
    Ids writes;  // then x for ever
    GenerateOptions options;
    Ids ids;
    std::string text;
    FinishReason reason;
    std::string stop_string;
    int passes;
  };
  const std::vector<Row> rows = {
      {"stop id", {kA, kC, kEos}, {}, {kA, kC, kEos}, "ac", FinishReason::kStop, "", 3},
      {"at once", {kEos}, {}, {kEos}, "", FinishReason::kStop, "", 1},
      {"length",
       {kA, kB},
       {.max_tokens = 4},
       {kA, kB, kX, kX},
       "abxx",
       FinishReason::kLength,
       "",
       4},
      {"stop id at max",
       {kA, kEos},
       {.max_tokens = 2},
       {kA, kEos},
       "a",
       FinishReason::kStop,
       "",
       2},
      {"stop string",
       {kA, kB, kC},
       {.stop_strings = {"bc"}},
       {kA, kB, kC},
       "a",
       FinishReason::kStop,
       "bc",
       3},
      {"stop string at max",
       {kA, kB},
       {.max_tokens = 2, .stop_strings = {"ab"}},
       {kA, kB},
       "",
       FinishReason::kStop,
       "ab",
       2},
      {"false start",
       {kB, kA, kEos},
       {.stop_strings = {"bc"}},
       {kB, kA, kEos},
       "ba",
       FinishReason::kStop,
       "",
       3},
      {"held tail",
       {kA, kB},
       {.max_tokens = 2, .stop_strings = {"bc"}},
       {kA, kB},
       "ab",
       FinishReason::kLength,
       "",
       2},
      {"control token in the text",
       {kA, kCtl, kB, kEos},
       {},
       {kA, kCtl, kB, kEos},
       "ab",
       FinishReason::kStop,
       "",
       4},
      {"stop string over a control token",
       {kA, kCtl, kB},
       {.stop_strings = {"ab"}},
       {kA, kCtl, kB},
       "",
       FinishReason::kStop,
       "ab",
       3},
      {"more stop ids",
       {kA, kC, kB},
       {.stop_ids = {kC}},
       {kA, kC},
       "a",
       FinishReason::kStop,
       "",
       2},
      {"character in two tokens",
       {kHalf1, kHalf2, kEos},
       {},
       {kHalf1, kHalf2, kEos},
       "\xF0\x9F\x98\x80",
       FinishReason::kStop,
       "",
       3},
      {"half a character at the end",
       {kA, kHalf1, kEos},
       {},
       {kA, kHalf1, kEos},
       "a\xEF\xBF\xBD",
       FinishReason::kStop,
       "",
       3},
      {"nothing asked for", {kA}, {.max_tokens = 0}, {}, "", FinishReason::kLength, "", 1},
  };
  for (const Row& row : rows) {
    Bench bench(row.writes);
    std::string streamed;
    GenerateOptions options = row.options;
    options.on_text = [&](std::string_view piece) {
      EXPECT_FALSE(piece.empty());
      streamed += piece;
      return true;
    };
    const auto result = bench.Run(options);
    ASSERT_TRUE(result.has_value()) << row.name << ToString(result.error());
    EXPECT_EQ(result->token_ids, row.ids) << row.name;
    EXPECT_EQ(result->text, row.text) << row.name;
    EXPECT_EQ(streamed, row.text) << row.name;
    EXPECT_EQ(result->finish_reason, row.reason) << row.name;
    EXPECT_EQ(result->stop_string, row.stop_string) << row.name;
    EXPECT_EQ(result->usage.forward_passes, row.passes) << row.name;
    EXPECT_EQ(static_cast<int>(bench.model.passes().size()), row.passes) << row.name;
    EXPECT_EQ(result->usage.generated_tokens, static_cast<int>(row.ids.size())) << row.name;
    EXPECT_EQ(result->usage.prompt_tokens, 2) << row.name;
    // The sequence holds all but the last token made.
    Ids held = {kA, kB};
    if (!row.ids.empty()) held.insert(held.end(), row.ids.begin(), row.ids.end() - 1);
    EXPECT_EQ(bench.sequence.tokens(), held) << row.name;
  }
}

TEST(Generate, ThirtyStepsAreThirtyPasses) {
  Bench bench({});
  const auto result = bench.Run({.max_tokens = 30});
  EXPECT_EQ(result->usage.forward_passes, 30);
  EXPECT_EQ(result->usage.generated_tokens, 30);
  EXPECT_EQ(result->token_ids.size(), 30u);
}

// engine-cases: fwd-context-full. A prompt of exactly the window gives one token.
TEST(Generate, FullContextIsSaid) {
  struct Row {
    int prompt;
    int made;  // -1 = refused
  };
  for (const Row& row : std::vector<Row>{{60, 5}, {63, 2}, {64, 1}, {65, -1}, {200, -1}}) {
    Bench bench({});
    const Ids prompt(static_cast<std::size_t>(row.prompt), kA);
    const auto result = bench.Run({.max_tokens = 10}, prompt);
    ASSERT_EQ(result.has_value(), row.made >= 0) << row.prompt;
    if (!result.has_value()) {
      EXPECT_EQ(result.error().code, ErrorCode::kLimit);
      EXPECT_NE(result.error().message.find(std::to_string(row.prompt)), std::string::npos);
      EXPECT_NE(result.error().message.find("64"), std::string::npos);
      continue;
    }
    EXPECT_EQ(static_cast<int>(result->token_ids.size()), row.made);
    EXPECT_EQ(result->finish_reason, FinishReason::kContext);
    EXPECT_EQ(result->usage.forward_passes, row.made);
  }
}

TEST(Generate, CacheWithoutRoomEndsTheTextToo) {
  Bench bench({}, kX, 64, {.max_tokens = 16});
  const auto result = bench.Run({.max_tokens = 40});
  ASSERT_TRUE(result.has_value()) << ToString(result.error());
  EXPECT_EQ(result->finish_reason, FinishReason::kContext);
  EXPECT_EQ(result->token_ids.size(), 15u);  // 2 + 14 run, the last not
  const auto refused = bench.Run({}, Ids(20, kA));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
}

TEST(Generate, ReusablePrefixLeavesOneTokenToRun) {
  ADJUDGE_CASE_OR_SKIP(found, "fwd-prefix-reuse-length");
  const auto to_ids = [](const nlohmann::json& letters) {
    Ids ids;
    for (const auto& letter : letters) ids.push_back(letter.get<std::string>()[0]);
    return ids;
  };
  const auto& rows = found["input"]["rows"];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(ReusablePrefix(to_ids(rows[i]["cached"]), to_ids(rows[i]["new"])),
              found["expected"]["reuse"][i].get<int>())
        << rows[i];
  }
  EXPECT_EQ(ReusablePrefix({}, {}), 0);
}

TEST(Generate, ReusesWhatTheSequenceHolds) {
  // The prompts grow, shrink and change; the text must be as on a fresh sequence.
  const std::vector<Ids> prompts = {{kA, kB}, {kA, kB}, {kA, kB, kA, kC, kB},
                                    {kA, kC}, {kB},     {kB, kA, kA, kB, kC, kC}};
  const auto script = [](std::span<const TokenId> seen) {
    std::vector<float> logits(kWidth, 0.0F);
    int sum = 0;
    for (TokenId id : seen) sum = sum * 3 + id;
    logits[static_cast<std::size_t>(kA + sum % 3)] = 5;
    return logits;
  };
  const ScriptedModel model(kWidth, 64, script);
  const ListedTokenizer tokenizer = MakeTokenizer();
  const auto cache = *model.NewCache();
  Sequence kept = cache->NewSequence();
  Ids held;
  int reused = 0;
  for (const Ids& prompt : prompts) {
    Sequence fresh = cache->NewSequence();
    const auto want = Generate(model, tokenizer, fresh, prompt, {.max_tokens = 4});
    const int reusable = ReusablePrefix(held, prompt);
    const auto got = Generate(model, tokenizer, kept, prompt, {.max_tokens = 4});
    EXPECT_EQ(got->token_ids, want->token_ids);
    EXPECT_EQ(got->usage.cached_tokens, reusable);
    reused += reusable;
    EXPECT_EQ(want->usage.cached_tokens, 0);
    EXPECT_EQ(kept.tokens(), fresh.tokens());
    held = kept.tokens();
  }
  EXPECT_GE(reused, 4);
  // A sequence whose tokens stand at other positions is not reused.
  Sequence moved = cache->NewSequence();
  Batch batch;
  const Ids prompt = {kA, kB, kC};
  ASSERT_TRUE(batch.Add(moved, prompt, {}, std::vector<int>{0, 5, 6}).has_value());
  ASSERT_TRUE(model.Forward(batch).has_value());
  EXPECT_EQ(Generate(model, tokenizer, moved, prompt, {.max_tokens = 1})->usage.cached_tokens, 1);
}

TEST(Generate, PromptMayRunInPieces) {
  for (const int chunk : {1, 2, 3, 4, 100}) {
    Bench bench({});
    std::vector<int> progress;
    GenerateOptions options = {.max_tokens = 2, .prefill_chunk = chunk};
    options.on_prefill = [&](int done, int total) {
      EXPECT_EQ(total, 7);
      progress.push_back(done);
    };
    const auto result = bench.Run(options, Ids(7, kA));
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->usage.forward_passes, (7 + chunk - 1) / chunk + 1);
    ASSERT_EQ(static_cast<int>(progress.size()), (7 + chunk - 1) / chunk);
    EXPECT_EQ(progress.back(), 7);
    for (std::size_t i = 0; i < bench.model.passes().size(); ++i) {
      EXPECT_LE(bench.model.passes()[i].n_tokens, chunk);
      const bool gives_token = i + 2 >= bench.model.passes().size();
      EXPECT_EQ(bench.model.passes()[i].n_rows, gives_token ? 1 : 0);
    }
  }
}

TEST(Generate, NeverSamplesWhatIsNoToken) {
  // Padding, unused and unknown ids lead; then the stop id, then a.
  const auto script = [](std::span<const TokenId>) {
    std::vector<float> logits(kWidth, 0.0F);
    for (TokenId id : {kWidth - 1, kWidth - 2, +kUnused, +kUnknown}) {
      logits[static_cast<std::size_t>(id)] = 9;
    }
    logits[kEos] = 8;
    logits[kA] = 7;
    return logits;
  };
  const ScriptedModel model(kWidth, 64, script);
  const ListedTokenizer tokenizer = MakeTokenizer();
  const auto cache = *model.NewCache();
  Sequence sequence = cache->NewSequence();
  const Ids prompt = {kB};
  const auto stop = Generate(model, tokenizer, sequence, prompt, {.n_alternatives = 3});
  EXPECT_EQ(stop->token_ids, (Ids{kEos}));
  const auto on =
      Generate(model, tokenizer, sequence, prompt, {.max_tokens = 3, .ignore_stop_ids = true});
  EXPECT_EQ(on->token_ids, (Ids{kA, kA, kA}));
  EXPECT_EQ(on->finish_reason, FinishReason::kLength);
  const auto both = Generate(model, tokenizer, sequence, prompt,
                             {.max_tokens = 1, .stop_ids = {kA}, .ignore_stop_ids = true});
  EXPECT_NE(both->token_ids[0], kA);
}

TEST(Generate, StepsTellRawLogProbabilities) {
  const ScriptedModel::Script script = [](std::span<const TokenId> seen) {
    std::vector<float> logits(kWidth, 0.0F);
    for (int i = 0; i < kWidth; ++i) {
      logits[static_cast<std::size_t>(i)] =
          static_cast<float>((i * 5 + static_cast<int>(seen.size())) % 7);
    }
    return logits;
  };
  const ScriptedModel model(kWidth, 64, script);
  const ListedTokenizer tokenizer = MakeTokenizer();
  const auto cache = *model.NewCache();
  Sequence sequence = cache->NewSequence();
  const Ids prompt = {kB};
  GenerateOptions options = {.max_tokens = 6, .n_alternatives = 3, .record_steps = true};
  options.sampler = {.temperature = 0.4, .repetition_penalty = 1.5, .seed = 3};
  std::vector<TokenId> told;
  options.on_step = [&](const GenerateStep& step) { told.push_back(step.token); };
  const auto result = Generate(model, tokenizer, sequence, prompt, options);
  ASSERT_EQ(result->steps.size(), result->token_ids.size());
  EXPECT_EQ(told, result->token_ids);
  Ids seen = prompt;
  for (std::size_t i = 0; i < result->steps.size(); ++i) {
    const GenerateStep& step = result->steps[i];
    EXPECT_EQ(step.token, result->token_ids[i]);
    EXPECT_FALSE(step.forced);
    const std::vector<float> logits = script(seen);
    EXPECT_DOUBLE_EQ(step.logprob, LogProb(logits, step.token));
    ASSERT_EQ(step.alternatives.size(), 3u);
    for (const auto& [id, logprob] : step.alternatives) {
      EXPECT_TRUE(tokenizer.vocabulary().is_producible(id));
      EXPECT_DOUBLE_EQ(logprob, LogProb(logits, id));
    }
    seen.push_back(step.token);
  }
}

TEST(Generate, SeedGivesTheSameTextWithAndWithoutStreaming) {
  const auto script = [](std::span<const TokenId>) { return std::vector<float>(kWidth, 0.0F); };
  const ScriptedModel model(kWidth, 64, script);
  const ListedTokenizer tokenizer = MakeTokenizer();
  const auto cache = *model.NewCache();
  const auto run = [&](std::uint64_t seed, bool stream) {
    Sequence sequence = cache->NewSequence();
    GenerateOptions options = {.max_tokens = 40, .ignore_stop_ids = true};
    options.sampler = {.temperature = 1, .seed = seed};
    if (stream) options.on_text = [](std::string_view) { return true; };
    return Generate(model, tokenizer, sequence, Ids{kA}, options)->token_ids;
  };
  EXPECT_EQ(run(42, false), run(42, true));
  EXPECT_NE(run(42, false), run(43, false));
}

TEST(Generate, MatcherMasksForcesAndEnds) {
  struct Row {
    std::string name;
    std::vector<Ids> lists;
    bool forces;
    Ids writes;  // what the model prefers, then x
    GenerateOptions options;
    Ids ids;
    FinishReason reason;
    int forced;
    int passes;
  };
  const std::vector<Row> rows = {
      {"masked", {{kA}, {kB}}, false, {kB}, {}, {kB}, FinishReason::kConstraint, 0, 1},
      {"the model wants another",
       {{kA}, {kC}},
       false,
       {kX},
       {},
       {kA},
       FinishReason::kConstraint,
       0,
       1},
      {"stop where it may",
       {{kA}, {kA, kB}},
       false,
       {kA, kEos},
       {},
       {kA, kEos},
       FinishReason::kStop,
       0,
       2},
      {"or go on",
       {{kA}, {kA, kB}},
       false,
       {kA, kB},
       {},
       {kA, kB},
       FinishReason::kConstraint,
       0,
       2},
      {"not before",
       {{kA, kB}},
       false,
       {kEos, kEos},
       {},
       {kA, kB},
       FinishReason::kConstraint,
       0,
       2},
      {"no stop id, so go on",
       {{kA}, {kA, kB}},
       false,
       {kA, kEos},
       {.ignore_stop_ids = true},
       {kA, kB},
       FinishReason::kConstraint,
       0,
       2},
      {"other stop ids end it too",
       {{kA}, {kA, kB}},
       false,
       {kA, kX},
       {.stop_ids = {kX}},
       {kA, kX},
       FinishReason::kStop,
       0,
       2},
      {"but not before it may",
       {{kA, kB}},
       false,
       {kX, kX},
       {.stop_ids = {kX}},
       {kA, kB},
       FinishReason::kConstraint,
       0,
       2},
      {"forced in the middle",
       {{kA, kB, kC, kA}, {kA, kB, kC, kX}, {kB}},
       true,
       {kA, kX, kX, kX},
       {},
       {kA, kB, kC, kX},
       FinishReason::kConstraint,
       2,
       2},
      {"forced with the prompt",
       {{kA, kB, kA}, {kA, kB, kC}},
       true,
       {kX, kX, kC},
       {},
       {kA, kB, kC},
       FinishReason::kConstraint,
       2,
       1},
      {"all forced: nothing to run",
       {{kA, kB}},
       true,
       {},
       {},
       {kA, kB},
       FinishReason::kConstraint,
       2,
       0},
      {"all forced, recorded",
       {{kA, kB, kC}},
       true,
       {},
       {.record_steps = true},
       {kA, kB, kC},
       FinishReason::kConstraint,
       3,
       1},
      {"forced past the length",
       {{kA, kB, kC, kX}},
       true,
       {},
       {.max_tokens = 3},
       {kA, kB, kC},
       FinishReason::kLength,
       3,
       0},
      {"forced past a stop string",
       {{kA, kB, kC, kX}},
       true,
       {},
       {.stop_strings = {"b"}},
       {kA, kB},
       FinishReason::kStop,
       2,
       0},
      {"recorded in small passes",
       {{kA, kB, kC, kA}, {kA, kB, kC, kX}},
       true,
       {kX, kX, kX, kX},
       {.record_steps = true, .prefill_chunk = 2},
       {kA, kB, kC, kX},
       FinishReason::kConstraint,
       3,
       3},
  };
  for (const Row& row : rows) {
    Bench bench(row.writes);
    ListMatcher matcher(row.lists, row.forces);
    GenerateOptions options = row.options;
    options.matcher = &matcher;
    const auto result = bench.Run(options);
    ASSERT_TRUE(result.has_value()) << row.name << ToString(result.error());
    EXPECT_EQ(result->token_ids, row.ids) << row.name;
    EXPECT_EQ(result->finish_reason, row.reason) << row.name;
    EXPECT_EQ(result->usage.forced_tokens, row.forced) << row.name;
    EXPECT_EQ(result->usage.generated_tokens + row.forced, static_cast<int>(row.ids.size()));
    EXPECT_EQ(result->usage.forward_passes, row.passes) << row.name;
    if (!options.record_steps) continue;
    ASSERT_EQ(result->steps.size(), row.ids.size()) << row.name;
    for (std::size_t i = 0; i < row.ids.size(); ++i) {
      // The model gives the token it wants 10 against 0.
      const TokenId wants = i < row.writes.size() ? row.writes[i] : kX;
      const double log_sum = std::log(std::exp(10.0) + kWidth - 1);
      const double expected = (row.ids[i] == wants ? 10.0 : 0.0) - log_sum;
      EXPECT_EQ(result->steps[i].token, row.ids[i]) << row.name;
      EXPECT_EQ(result->steps[i].forced, i < static_cast<std::size_t>(row.forced)) << row.name;
      EXPECT_NEAR(result->steps[i].logprob, expected, 1e-9) << row.name << i;
    }
  }
}

TEST(Generate, ForcedTokensStopWhereTheWindowEnds) {
  Bench bench({}, kX, 8);
  ListMatcher matcher({Ids(20, kA)}, true);
  const auto result = bench.Run({.matcher = &matcher, .record_steps = true});
  ASSERT_TRUE(result.has_value()) << ToString(result.error());
  EXPECT_EQ(result->finish_reason, FinishReason::kContext);
  EXPECT_EQ(result->token_ids.size(), 7u);  // 2 + 6 run, the last not
  EXPECT_EQ(result->steps.size(), 7u);
}

TEST(Generate, DeadEndOfAMatcherIsAnError) {
  // The list ends in the unused id, which may not be sampled.
  Bench bench({});
  ListMatcher matcher({{kA, kUnused}}, false);
  const auto result = bench.Run({.matcher = &matcher});
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().message.find("allows no token"), std::string::npos);
  EXPECT_EQ(result.error().place, "token 1");
}

TEST(Generate, CancelsBetweenPasses) {
  std::atomic<bool> cancel = true;
  Bench bench({});
  const auto at_once = bench.Run({.cancel = &cancel});
  ASSERT_TRUE(at_once.has_value());
  EXPECT_EQ(at_once->finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(at_once->usage.forward_passes, 0);
  EXPECT_TRUE(at_once->token_ids.empty());

  cancel = false;
  GenerateOptions options = {.cancel = &cancel};
  options.on_step = [&](const GenerateStep&) {
    if (bench.model.passes().size() == 3) cancel = true;
  };
  const auto later = bench.Run(options);
  EXPECT_EQ(later->finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(later->text, "xxx");

  Bench other({kA, kB, kC});
  GenerateOptions refuses;
  refuses.on_text = [](std::string_view piece) { return piece != "b"; };
  const auto refused = other.Run(refuses);
  EXPECT_EQ(refused->finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(refused->text, "ab");
  EXPECT_EQ(ToString(refused->finish_reason), "cancelled");
}

TEST(Generate, LongPromptsTakeOnePass) {
  Bench bench({});
  const auto result = bench.Run({.max_tokens = 3}, Ids(50, kA));
  ASSERT_TRUE(result.has_value()) << ToString(result.error());
  EXPECT_EQ(result->usage.forward_passes, 3);
}

TEST(Generate, DummySpaceIsDroppedOnlyAtTheBeginningOfAText) {
  struct Row {
    Ids prompt;
    std::string text;
  };
  for (const Row& row : std::vector<Row>{{{kBos}, "a b"}, {{kBos, kX}, " a b"}, {{kX}, " a b"}}) {
    const int n = static_cast<int>(row.prompt.size());
    const ScriptedModel model(
        kWidth, 64, ScriptedModel::Fixed(kWidth, n, {kSpace, kA, kSpace, kB, kEos}, kEos));
    const ListedTokenizer tokenizer = MakeTokenizer(true);
    const auto cache = *model.NewCache();
    Sequence sequence = cache->NewSequence();
    EXPECT_EQ(Generate(model, tokenizer, sequence, row.prompt, {})->text, row.text);
  }
}

TEST(Generate, RefusesBadCalls) {
  struct Row {
    Ids prompt;
    GenerateOptions options;
    std::string words;
  };
  const std::vector<Row> rows = {
      {{}, {}, "prompt must have at least one token"},
      {{kA, 99}, {}, "token id 99 is outside the vocabulary of 14"},
      {{kA, -1}, {}, "token id -1 is outside"},
      {{kA}, {.max_tokens = -2}, "max_tokens must be at least 0, not -2"},
      {{kA}, {.prefill_chunk = -1}, "prefill_chunk must be at least 0, not -1"},
      {{kA}, {.n_alternatives = -1}, "n_alternatives must be at least 0, not -1"},
      {{kA}, {.sampler = {.top_p = 7}}, "top_p must be between 0 and 1, not 7"},
      {{kA}, {.stop_strings = {"x", ""}}, "a stop string may not be empty"},
      {{kA}, {.stop_ids = {12}}, "stop_ids names id 12, but there are 12 tokens"},
  };
  for (const Row& row : rows) {
    Bench bench({});
    const auto result = bench.Run(row.options, row.prompt);
    ASSERT_FALSE(result.has_value()) << row.words;
    EXPECT_NE(result.error().message.find(row.words), std::string::npos) << result.error().message;
    EXPECT_EQ(bench.model.passes().size(), 0u);
  }
  const ScriptedModel narrow(5, 64, ScriptedModel::Fixed(5, 1, {}, 0));
  const ListedTokenizer tokenizer = MakeTokenizer();
  Sequence sequence = (*narrow.NewCache())->NewSequence();
  const auto result = Generate(narrow, tokenizer, sequence, Ids{kA}, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().message.find("has 12 tokens, but the model gives 5"), std::string::npos);
}

}  // namespace
}  // namespace adjudge
