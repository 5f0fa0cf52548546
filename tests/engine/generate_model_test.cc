// Generate and Score on real weights, on the CPU backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/generate.h"
#include "engine/score.h"
#include "tests/testing/engine_cases.h"
#include "tests/testing/engine_recipe.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using nlohmann::json;
using Ids = std::vector<TokenId>;

struct Loaded {
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;
};

Result<Loaded> Load(const std::filesystem::path& model, const std::filesystem::path& tokenizer,
                    BackendKind backend = BackendKind::kCpu) {
  Loaded loaded;
  ADJUDGE_ASSIGN_OR_RETURN(
      loaded.model,
      Model::Load(model, {.backend = backend, .threads = 2, .precision = Precision::kExact}));
  ADJUDGE_ASSIGN_OR_RETURN(loaded.tokenizer, Tokenizer::Load(tokenizer));
  return loaded;
}

TEST(GenerateModel, GreedyTextsOfTheDefaultModel) {
  ADJUDGE_DATA_OR_SKIP(golden, "golden/smollm2/golden.json");
  ADJUDGE_MODEL_OR_SKIP(path, "default");
  const auto loaded = Load(path, path);
  ASSERT_TRUE(loaded.has_value()) << ToString(loaded.error());
  const auto& [model, tokenizer] = *loaded;
  Sequence sequence = (*model->NewCache())->NewSequence();
  int whole = 0;
  const json rows = json::parse(testing::ReadFile(golden))["greedy"];
  for (const json& row : rows) {
    const Ids expected = row["ids"];
    const auto result = Generate(*model, *tokenizer, sequence, row["prompt_ids"].get<Ids>(),
                                 {.max_tokens = static_cast<int>(expected.size())});
    ASSERT_TRUE(result.has_value()) << ToString(result.error());
    // Where the best two logits are this close another rounding may choose the other.
    std::size_t n = 0;
    while (n < expected.size() && row["gap"][n].get<double>() >= 0.02) ++n;
    ASSERT_GE(result->token_ids.size(), n) << row["text"];
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(result->token_ids[i], expected[i]) << row["text"];
    if (result->token_ids == expected) {
      ++whole;
      EXPECT_EQ(result->text, row["text"].get<std::string>());
    }
    EXPECT_EQ(result->usage.forward_passes, result->usage.generated_tokens);
  }
  EXPECT_GT(whole, 0);
}

TEST(GenerateModel, StoriesTextIsExact) {
  ADJUDGE_DATA_OR_SKIP(folder, "models/stories260K");
  for (const BackendKind backend : {BackendKind::kReference, BackendKind::kCpu}) {
    const auto loaded = Load(folder / "stories260K.bin", folder / "tok512.model", backend);
    ASSERT_TRUE(loaded.has_value()) << ToString(loaded.error());
    const auto& [model, tokenizer] = *loaded;
    Sequence sequence = (*model->NewCache())->NewSequence();
    const Ids prompt = {*tokenizer->bos()};
    std::string streamed;
    GenerateOptions options = {.max_tokens = 257, .stop_ids = prompt};
    options.on_text = [&](std::string_view piece) {
      streamed += piece;
      return true;
    };
    const auto result = Generate(*model, *tokenizer, sequence, prompt, options);
    ASSERT_TRUE(result.has_value()) << ToString(result.error());
    std::string expected = testing::ReadFile(folder / "greedy-t0-n257.txt");
    expected.pop_back();  // the file ends its line
    EXPECT_EQ(result->text, expected);
    EXPECT_EQ(streamed, result->text);
  }
}

// engine-cases: str-utf8-across-tokens. Each sent piece is whole UTF-8.
TEST(GenerateModel, PiecesAreWholeCharacters) {
  ADJUDGE_CASE_OR_SKIP(found, "str-utf8-across-tokens");
  ADJUDGE_MODEL_OR_SKIP(path, "default");
  const auto tokenizer = Tokenizer::Load(path);
  ASSERT_TRUE(tokenizer.has_value()) << ToString(tokenizer.error());
  const auto& rows = found["expected"]["rows"];
  for (const json& row : rows) {
    StreamDecoder decoder(**tokenizer);
    std::string text;
    std::vector<std::string> sent;
    for (const TokenId id : row["ids"].get<Ids>()) sent.push_back(decoder.Push(id));
    for (const std::string& piece : sent) text += piece;
    text += decoder.Finish();
    EXPECT_EQ(text, row["text"].get<std::string>());
    if (row.contains("sent_per_token")) {
      EXPECT_EQ(sent, row["sent_per_token"].get<std::vector<std::string>>());
    }
  }
}

TEST(GenerateModel, LikelihoodsOfTheDefaultModel) {
  ADJUDGE_DATA_OR_SKIP(golden, "golden/smollm2/golden.json");
  ADJUDGE_MODEL_OR_SKIP(path, "default");
  const auto loaded = Load(path, path);
  ASSERT_TRUE(loaded.has_value()) << ToString(loaded.error());
  const json decisions = json::parse(testing::ReadFile(golden))["decisions"];
  std::vector<ScoreTokens> requests;
  std::vector<double> expected;
  for (const json& decision : decisions) {
    for (const json& option : decision["options"]) {
      requests.push_back({decision["likelihood_prompt_ids"], option["ids"]});
      expected.push_back(option["logprob"]);
    }
  }
  const auto output = ScoreIds(*loaded->model, loaded->tokenizer->vocabulary(), requests);
  ASSERT_TRUE(output.has_value()) << ToString(output.error());
  double largest = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const double difference = std::abs(output->results[i].logprob - expected[i]);
    largest =
        std::max(largest, difference / static_cast<double>(requests[i].continuation_ids.size()));
  }
  EXPECT_LT(largest, 1e-3);
  RecordProperty("largest_difference_a_token", std::to_string(largest));
  EXPECT_LT(output->usage.forward_passes, static_cast<int>(requests.size()));
}

// engine-cases: file-padded-vocab.
TEST(GenerateModel, PaddedRowsOfARealFileAreNeverSampled) {
  ADJUDGE_CASE_OR_SKIP(found, "file-padded-vocab");
  const testing::TempFolder folder;
  ADJUDGE_RECIPE_OR_SKIP(path, found["input"]["files"][0], folder);
  const auto model = Model::Load(path, {.backend = BackendKind::kReference});
  ASSERT_TRUE(model.has_value()) << ToString(model.error());
  const auto tokenizer = Tokenizer::Load(path);
  ASSERT_TRUE(tokenizer.has_value()) << ToString(tokenizer.error());
  const json& expected = found["expected"]["if_loaded"];
  const Ids prompt = expected["ids"];
  GenerateOptions options = {.max_tokens = 1, .n_alternatives = 20, .record_steps = true};
  const auto cache = *(*model)->NewCache();
  for (int round = 0; round < 60; ++round) {
    Sequence sequence = cache->NewSequence();
    const auto result = Generate(**model, **tokenizer, sequence, prompt, options);
    ASSERT_TRUE(result.has_value()) << ToString(result.error());
    EXPECT_LT(result->token_ids[0], expected["sampled_ids_all_below"].get<int>());
    Ids best;
    for (const auto& [id, logprob] : result->steps[0].alternatives) best.push_back(id);
    EXPECT_EQ(best, expected["top_k_20_over_tokens"].get<Ids>());
    if (round == 0) {
      EXPECT_EQ(result->token_ids[0], expected["last_argmax_with_token"].get<int>());
    }
    options.sampler = {.temperature = 50, .seed = static_cast<std::uint64_t>(round)};
  }
}

}  // namespace
}  // namespace adjudge
