// SentencePiece files against what Python's sentencepiece makes of a whole book
// (tests/testing/make_tokenizer_golden.py).
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/tokenizer.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using nlohmann::json;
using Ids = std::vector<TokenId>;

std::string Fnv1a(const Ids& ids) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const TokenId id : ids) {
    for (int shift = 0; shift < 32; shift += 8) {
      value = (value ^ (static_cast<std::uint32_t>(id) >> shift & 0xFF)) * 0x100000001b3;
    }
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

class BotchanTest : public ::testing::TestWithParam<const char*> {};

TEST_P(BotchanTest, EqualsPythonsSentencePiece) {
  ADJUDGE_DATA_OR_SKIP(model, std::string("tokenizers/") + GetParam());
  ADJUDGE_DATA_OR_SKIP(book, "tokenizers/botchan.txt");
  const json golden = json::parse(testing::ReadFile(
      testing::SourceFolder() / "tests/golden/tokenizer/botchan.json"))[GetParam()];
  const auto tokenizer = Tokenizer::Load(model);
  ASSERT_TRUE(tokenizer) << ToString(tokenizer.error());
  const std::string text = testing::ReadFile(book);
  const auto whole = (*tokenizer)->Encode(text);
  ASSERT_TRUE(whole) << ToString(whole.error());
  EXPECT_EQ(whole->size(), golden["n"].get<std::size_t>());
  EXPECT_EQ(Fnv1a(*whole), golden["hash"]);

  Ids joined;
  std::size_t n_lines = 0;
  for (std::size_t at = 0; at <= text.size(); ++n_lines) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const auto ids = (*tokenizer)->Encode(text.substr(at, end - at));
    ASSERT_TRUE(ids) << ToString(ids.error());
    if (n_lines < golden["first_lines"].size()) {
      EXPECT_EQ(*ids, golden["first_lines"][n_lines].get<Ids>()) << "line " << n_lines;
    }
    joined.insert(joined.end(), ids->begin(), ids->end());
    at = end + 1;
  }
  EXPECT_EQ(joined.size(), golden["n_by_line"].get<std::size_t>());
  EXPECT_EQ(Fnv1a(joined), golden["hash_by_line"]);
}

INSTANTIATE_TEST_SUITE_P(Models, BotchanTest,
                         ::testing::Values("mistral-v1-tokenizer.model",
                                           "mistral-v3-tokenizer.model",
                                           "openllama-3b-tokenizer.model",
                                           "sentencepiece-test_model.model",
                                           "sentencepiece-test_ja_model.model"));

}  // namespace
}  // namespace adjudge
