// Every id of the vocab-gguf files' expectations, and of the goldens of the real models.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "engine/tokenizer.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using nlohmann::json;
using Ids = std::vector<TokenId>;

std::shared_ptr<const Tokenizer> Load(const std::filesystem::path& path) {
  auto tokenizer = Tokenizer::Load(path);
  if (!tokenizer) {
    ADD_FAILURE() << ToString(tokenizer.error());
    return nullptr;
  }
  return *tokenizer;
}

// Records that end with a line "__ggml_vocab_test__".
std::vector<std::string> Records(const std::string& text) {
  const std::string mark = "\n__ggml_vocab_test__\n";
  std::vector<std::string> records;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(mark, at);
    if (end == text.npos) return records;
    records.push_back(text.substr(at, end - at));
    at = end + mark.size();
  }
}

class VocabGgufTest : public ::testing::TestWithParam<const char*> {};

TEST_P(VocabGgufTest, EveryIdIsTheExpected) {
  const std::string stem = "vocab-gguf/ggml-vocab-" + std::string(GetParam()) + ".gguf";
  ADJUDGE_DATA_OR_SKIP(model, stem);
  ADJUDGE_DATA_OR_SKIP(texts, stem + ".inp");
  ADJUDGE_DATA_OR_SKIP(expected, stem + ".out");
  const auto tokenizer = Load(model);
  ASSERT_TRUE(tokenizer);
  const std::vector<std::string> records = Records(testing::ReadFile(texts));
  ASSERT_GT(records.size(), 40U);
  std::istringstream lines(testing::ReadFile(expected));
  for (const std::string& text : records) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    std::istringstream numbers(line);
    Ids want;
    for (TokenId id = 0; numbers >> id;) want.push_back(id);
    const auto ids = tokenizer->Encode(text);
    ASSERT_TRUE(ids) << ToString(ids.error());
    EXPECT_EQ(*ids, want) << "\"" << text << "\"";
    EXPECT_EQ(tokenizer->Decode(*ids), text);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, VocabGgufTest, ::testing::Values("phi-3", "gpt-2"));

struct GoldenModel {
  const char* folder;
  const char* file;
};

class GoldenTest : public ::testing::TestWithParam<GoldenModel> {};

TEST_P(GoldenTest, TokenisationsAreEqual) {
  ADJUDGE_DATA_OR_SKIP(path, std::string("golden/") + GetParam().folder + "/golden.json");
  ADJUDGE_MODEL_OR_SKIP(model, GetParam().file);
  const auto tokenizer = Load(model);
  ASSERT_TRUE(tokenizer);
  const json golden = json::parse(testing::ReadFile(path));
  const auto expect = [&](const std::string& text, const EncodeOptions& options, const json& ids) {
    const auto found = tokenizer->Encode(text, options);
    ASSERT_TRUE(found) << ToString(found.error());
    EXPECT_EQ(*found, ids.get<Ids>()) << "\"" << text << "\"";
  };
  if (golden.contains("tokenize")) {
    for (const json& row : golden["tokenize"]) {
      expect(row["text"], {}, row["ids"]);
      expect(row["text"], {.parse_special = true}, row["ids_special"]);
    }
  }
  const EncodeOptions prompt{.parse_special = true, .add_bos = tokenizer->wants_bos()};
  for (const json& row : golden["logits"]) expect(row["text"], prompt, row["ids"]);
  for (const json& row : golden["greedy"]) expect(row["prompt"], prompt, row["prompt_ids"]);
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenTest,
                         ::testing::Values(GoldenModel{"smollm2", "default"},
                                           GoldenModel{"qwen2.5-coder-0.5b", "q05.gguf"},
                                           GoldenModel{"gemma3-270m", "g3.gguf"}));

}  // namespace
}  // namespace adjudge
