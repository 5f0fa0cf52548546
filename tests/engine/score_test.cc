#include "engine/score.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/log_softmax.h"
#include "engine/model/transformer.h"
#include "engine/reference/reference_backend.h"
#include "tests/testing/engine_cases.h"
#include "tests/testing/engine_recipe.h"
#include "tests/testing/fake_model_file.h"
#include "tests/testing/listed_tokenizer.h"
#include "tests/testing/scripted_model.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using nlohmann::json;
using testing::ListedTokenizer;
using testing::ScriptedModel;
using Ids = std::vector<TokenId>;

constexpr int kVocab = 9;

// Logits that depend on every token seen and its place.
std::vector<float> Hash(std::span<const TokenId> seen) {
  std::uint64_t state = 7;
  for (const TokenId id : seen)
    state = (state + static_cast<std::uint64_t>(id)) * 0x9E3779B97F4A7C15;
  std::mt19937_64 random(state);
  std::vector<float> logits(kVocab);
  for (float& x : logits) x = static_cast<float>(random() % 4096) / 512;
  return logits;
}

Vocabulary PlainVocabulary(int size, int width) {
  std::vector<Vocabulary::Entry> entries;
  for (int i = 0; i < size; ++i) entries.push_back({std::string(1, static_cast<char>('a' + i))});
  return Vocabulary(std::move(entries), width, {});
}

// One request, one row at a time.
ScoreResult TwinScore(const ScoreTokens& request, const Vocabulary& vocabulary) {
  ScoreResult result;
  result.is_greedy = true;
  Ids seen = request.context_ids;
  for (const TokenId id : request.continuation_ids) {
    const std::vector<float> logits = Hash(seen);
    result.token_logprobs.push_back(LogProb(logits, id));
    result.logprob += result.token_logprobs.back();
    for (TokenId other = 0; other < vocabulary.size(); ++other) {
      const float x = logits[static_cast<std::size_t>(other)];
      const float y = logits[static_cast<std::size_t>(id)];
      if (x > y || (x == y && other < id)) result.is_greedy = false;
    }
    seen.push_back(id);
  }
  return result;
}

std::vector<ScoreTokens> RandomRequests(std::mt19937& random, int n) {
  const auto make = [&](std::size_t most) {
    Ids ids(1 + random() % most);
    for (TokenId& id : ids) id = static_cast<TokenId>(random() % 3);  // few ids: much is shared
    return ids;
  };
  std::vector<ScoreTokens> requests;
  for (int i = 0; i < n; ++i) {
    if (!requests.empty() && random() % 2 == 0) {
      requests.push_back({requests[random() % requests.size()].context_ids, make(5)});
    } else {
      requests.push_back({make(12), make(5)});
    }
  }
  return requests;
}

TEST(Score, EqualsOneRowAtATime) {
  const Vocabulary vocabulary = PlainVocabulary(7, kVocab);
  std::mt19937 random(9);
  int greedy = 0;
  for (int round = 0; round < 200; ++round) {
    const ScriptedModel model(kVocab, 64, Hash);
    const auto requests = RandomRequests(random, static_cast<int>(random() % 30));
    const int pass = 1 + static_cast<int>(random() % 40);
    const auto output = ScoreIds(model, vocabulary, requests, {.max_pass_tokens = pass});
    ASSERT_TRUE(output.has_value()) << ToString(output.error());
    ASSERT_EQ(output->results.size(), requests.size());
    int looked_at = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const ScoreResult& got = output->results[i];
      const ScoreResult want = TwinScore(requests[i], vocabulary);
      EXPECT_EQ(got.token_logprobs, want.token_logprobs);
      EXPECT_DOUBLE_EQ(got.logprob, want.logprob);
      EXPECT_EQ(got.is_greedy, want.is_greedy);
      EXPECT_EQ(got.token_ids, requests[i].continuation_ids);
      EXPECT_EQ(got.context_tokens, static_cast<int>(requests[i].context_ids.size()));
      greedy += got.is_greedy ? 1 : 0;
      looked_at += static_cast<int>(requests[i].context_ids.size() +
                                    requests[i].continuation_ids.size() - 1);
    }
    int computed = 0;
    for (const auto& p : model.passes()) {
      EXPECT_LE(p.n_tokens, pass);
      computed += p.n_tokens;
    }
    EXPECT_EQ(output->usage.prompt_tokens, looked_at);
    EXPECT_EQ(output->usage.cached_tokens, looked_at - computed);
    EXPECT_EQ(output->usage.forward_passes, static_cast<int>(model.passes().size()));
  }
  EXPECT_GT(greedy, 50);
}

TEST(Score, OptionsOfOneContextGoInOnePass) {
  const ScriptedModel model(kVocab, 64, Hash);
  const Vocabulary vocabulary = PlainVocabulary(kVocab, kVocab);
  const Ids context(20, 1);
  const std::vector<ScoreTokens> requests = {
      {context, {1}}, {context, {2, 3}}, {context, {4, 5, 6}}, {context, {1}}};
  int told = 0;
  ScoreOptions options;
  options.on_progress = [&](int done, int total) {
    told = done;
    EXPECT_EQ(total, 4);
  };
  const auto output = ScoreIds(model, vocabulary, requests, options);
  ASSERT_EQ(model.passes().size(), 1u);
  EXPECT_EQ(model.passes()[0].n_tokens, 20 + 1 + 2);
  EXPECT_EQ(model.passes()[0].n_rows, 1 + 1 + 2);
  EXPECT_EQ(told, 4);
  EXPECT_EQ(output->usage.cached_tokens, 3 * 20);
}

// On a real forward pass: the bits of a request do not depend on its company.
TEST(Score, CompanyChangesNoBit) {
  const ModelConfig config = testing::TinyConfig("gemma3");
  const auto model = *BuildTransformer(testing::FakeModelFile(config), NewReferenceBackend(1));
  const Vocabulary vocabulary = PlainVocabulary(config.vocab_size, config.vocab_size);
  std::mt19937 random(4);
  const auto requests = RandomRequests(random, 25);
  const auto together = ScoreIds(*model, vocabulary, requests, {.max_pass_tokens = 37});
  ASSERT_TRUE(together.has_value()) << ToString(together.error());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto alone = ScoreIds(*model, vocabulary, std::span(requests).subspan(i, 1));
    EXPECT_EQ(alone->results[0].token_logprobs, together->results[i].token_logprobs) << i;
  }
}

TEST(Score, RefusesByIndex) {
  struct Row {
    ScoreTokens request;
    std::string words;  // empty = taken
  };
  const std::vector<Row> rows = {
      {{{1}, {2}}, ""},
      {{{}, {2}}, "context has no tokens"},
      {{{1}, {}}, "continuation has no tokens"},
      {{{1, kVocab}, {2}}, "token id 9 is outside the vocabulary of 9"},
      {{{1}, {-1}}, "token id -1 is outside"},
      {{Ids(60, 1), Ids(5, 2)}, ""},
      {{Ids(60, 1), Ids(6, 2)},
       "60 tokens and a continuation of 6 need 65 places, but the context "
       "window holds 64"},
      {{Ids(64, 1), Ids(1, 2)}, ""},
  };
  const Vocabulary vocabulary = PlainVocabulary(kVocab, kVocab);
  for (const Row& row : rows) {
    const ScriptedModel model(kVocab, 64, Hash);
    const std::vector<ScoreTokens> requests = {{{1}, {2}}, row.request};
    const auto output = ScoreIds(model, vocabulary, requests);
    ASSERT_EQ(output.has_value(), row.words.empty()) << row.words;
    if (output.has_value()) continue;
    EXPECT_EQ(output.error().place, "requests[1]");
    EXPECT_NE(output.error().message.find(row.words), std::string::npos) << output.error().message;
    EXPECT_EQ(model.passes().size(), 0u);
  }
  const ScriptedModel model(kVocab, 64, Hash);
  const std::vector<ScoreTokens> one = {{{1}, {2}}};
  EXPECT_FALSE(ScoreIds(model, vocabulary, one, {.max_pass_tokens = 0}).has_value());
  const std::atomic<bool> cancel = true;
  EXPECT_EQ(ScoreIds(model, vocabulary, one, {.cancel = &cancel}).error().code,
            ErrorCode::kCancelled);
}

TEST(Score, TextBecomesTokens) {
  enum : TokenId { kBos, kEos, kA, kB, kC, kAB, kSpace, kSpaceA, kSpaceB, kLess, kSlash };
  const std::vector<testing::ListedToken> tokens = {{"<s>", TokenKind::kControl},
                                                    {"</s>", TokenKind::kControl},
                                                    {"a"},
                                                    {"b"},
                                                    {"c"},
                                                    {"ab"},
                                                    {" "},
                                                    {" a"},
                                                    {" b"},
                                                    {"<"},
                                                    {"/s>"}};
  struct Row {
    std::string name;
    testing::ListedSettings settings;
    ScoreRequest request;
    bool special;
    Ids context;
    Ids continuation;
    std::string place;  // of the error, if one is expected
  };
  const testing::ListedSettings plain = {.bos = kBos, .eos = kEos};
  const testing::ListedSettings with_bos = {.bos = kBos, .eos = kEos, .wants_bos = true};
  const testing::ListedSettings dummy = {.bos = kBos, .wants_bos = true, .dummy_prefix = true};
  const std::vector<Row> rows = {
      {"joined", plain, {"c", "ab"}, false, {kC}, {kAB}, ""},
      {"spans the join", plain, {"ca", "b"}, false, {kC, kA}, {kB}, ""},
      {"spans all of it", plain, {"a", "b"}, false, {kA}, {kB}, ""},
      {"spans, then more", plain, {"a", "bc"}, false, {kA}, {kB, kC}, ""},
      {"BOS once", with_bos, {"c", "a"}, false, {kBos, kC}, {kA}, ""},
      {"BOS given", with_bos, {"<s>c", "a"}, true, {kBos, kC}, {kA}, ""},
      {"BOS as text", with_bos, {"", "a"}, true, {kBos}, {kA}, ""},
      {"BOS alone given", with_bos, {"<s>", "a"}, true, {kBos}, {kA}, ""},
      {"BOS in the continuation is scored", with_bos, {"", "<s>a"}, true, {kBos}, {kBos, kA}, ""},
      {"empty context, no BOS", plain, {"", "a"}, false, {kEos}, {kA}, ""},
      {"empty context, nothing", {}, {"", "a"}, false, {}, {}, "context"},
      {"empty continuation", plain, {"a", ""}, false, {}, {}, "continuation"},
      {"dummy space at the start", dummy, {"", "a"}, false, {kBos}, {kSpaceA}, ""},
      {"no dummy space inside", dummy, {"c", "a"}, false, {kBos, kSpace, kC}, {kA}, ""},
      {"nor where a token spans", dummy, {"ca", "b"}, false, {kBos, kSpace, kC, kA}, {kB}, ""},
      {"special token over the join", plain, {"<", "/s>"}, true, {kLess}, {kSlash}, ""},
  };
  for (const Row& row : rows) {
    const ListedTokenizer tokenizer(tokens, row.settings);
    const auto got = TokenizeScore(tokenizer, row.request, {.parse_special = row.special});
    ASSERT_EQ(got.has_value(), row.place.empty()) << row.name;
    if (!got.has_value()) {
      EXPECT_EQ(got.error().place, row.place) << row.name;
      continue;
    }
    EXPECT_EQ(got->context_ids, row.context) << row.name;
    EXPECT_EQ(got->continuation_ids, row.continuation) << row.name;
  }
}

TEST(Score, TextErrorsNameTheRequest) {
  const ListedTokenizer tokenizer({{"a"}}, {.eos = 0});
  const ScriptedModel model(kVocab, 64, Hash);
  const std::vector<ScoreRequest> requests = {{"a", "a"}, {"a", ""}};
  const auto output = Score(model, tokenizer, requests);
  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().place, "requests[1]");
  EXPECT_EQ(output.error().message, "continuation: may not be empty");
}

TEST(Score, RowBeforeATokenPredictsIt) {
  ADJUDGE_CASE_OR_SKIP(found, "scr-off-by-one");
  const testing::TempFolder folder;
  ADJUDGE_RECIPE_OR_SKIP(path, found["input"]["file"], folder);
  const auto model = Model::Load(path, {.backend = BackendKind::kReference});
  ASSERT_TRUE(model.has_value()) << ToString(model.error());
  const auto tokenizer = Tokenizer::Load(path);
  ASSERT_TRUE(tokenizer.has_value()) << ToString(tokenizer.error());
  const json& expected = found["expected"];
  const json& single = expected["single_token_context"];
  const std::vector<ScoreTokens> requests = {
      {found["input"]["context_ids"], found["input"]["continuation_ids"]},
      {single["context_ids"], single["continuation_ids"]}};
  const auto output = ScoreIds(**model, (*tokenizer)->vocabulary(), requests);
  ASSERT_TRUE(output.has_value()) << ToString(output.error());
  const double tolerance = expected["tolerance"];
  const ScoreResult& first = output->results[0];
  for (std::size_t i = 0; i < first.token_logprobs.size(); ++i) {
    EXPECT_NEAR(first.token_logprobs[i], expected["per_token"][i].get<double>(), tolerance);
  }
  EXPECT_NEAR(first.logprob, expected["sum"].get<double>(), tolerance);
  EXPECT_EQ(first.is_greedy, expected["is_greedy"].get<bool>());
  EXPECT_NEAR(output->results[1].logprob, single["sum"].get<double>(), tolerance);
}

TEST(Score, TokensThatSpanTheJoin) {
  ADJUDGE_CASE_OR_SKIP(found, "scr-boundary-merge");
  int tried = 0;
  for (const json& name : found["input"]["models"]) {
    const auto path = testing::ModelPath(name);
    if (!path) continue;
    ++tried;
    const auto tokenizer = Tokenizer::Load(*path);
    ASSERT_TRUE(tokenizer.has_value()) << ToString(tokenizer.error());
    for (const json& row : found["expected"]["rows"]) {
      const auto got = TokenizeScore(**tokenizer, {row["in"][0], row["in"][1]});
      ASSERT_TRUE(got.has_value());
      EXPECT_EQ(got->context_ids, row[name.get<std::string>()]["context_ids"].get<Ids>()) << row;
      EXPECT_EQ(got->continuation_ids, row[name.get<std::string>()]["continuation_ids"].get<Ids>());
    }
  }
  if (tried == 0) GTEST_SKIP() << "none of the models is here";
}

TEST(Score, BosOnceAndEmptyContext) {
  ADJUDGE_CASE_OR_SKIP(found, "scr-bos-and-empty-context");
  int tried = 0;
  if (const auto path = testing::ModelPath("g3.gguf")) {
    ++tried;
    const auto tokenizer = Tokenizer::Load(*path);
    ASSERT_TRUE(tokenizer.has_value()) << ToString(tokenizer.error());
    for (const json& row : found["expected"]["g3.gguf"]) {
      const auto got = TokenizeScore(**tokenizer, {row["context"], row["continuation"]},
                                     {.parse_special = true});
      EXPECT_EQ(got->context_ids, row["context_ids"].get<Ids>()) << row;
      EXPECT_EQ(got->continuation_ids, row["continuation_ids"].get<Ids>()) << row;
    }
  }
  if (const auto path = testing::ModelPath("default")) {
    ++tried;
    const auto tokenizer = Tokenizer::Load(*path);
    ASSERT_TRUE(tokenizer.has_value()) << ToString(tokenizer.error());
    const json& row = found["expected"]["SmolLM2-135M-Instruct.Q4_1.gguf"];
    const auto got = TokenizeScore(**tokenizer, {"", "Plum"});
    EXPECT_EQ(got->context_ids, Ids{2});  // the end of sequence stands in front
    EXPECT_EQ(got->continuation_ids, row["continuation_ids"].get<Ids>());
  }
  if (tried == 0) GTEST_SKIP() << "none of the models is here";
}

}  // namespace
}  // namespace adjudge
