// The tokenizer cases of engine-cases: public bug reports of other engines with the right ids.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/tokenizer.h"
#include "tests/testing/engine_cases.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using nlohmann::json;
using Ids = std::vector<TokenId>;

// The tokenizer of a file named in a case; nullptr when the file is not here.
std::shared_ptr<const Tokenizer> Find(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const Tokenizer>> loaded;
  if (loaded.contains(name)) return loaded[name];
  auto path = testing::DataPath("tokenizers/" + name);
  if (!path) path = testing::DataPath("engine-cases/" + name);
  if (!path) path = testing::ModelPath(name.starts_with("SmolLM2") ? "default" : name);
  if (!path) return nullptr;
  auto tokenizer = Tokenizer::Load(*path);
  if (!tokenizer) {
    ADD_FAILURE() << name << ": " << ToString(tokenizer.error());
    return nullptr;
  }
  return loaded[name] = *tokenizer;
}

Ids Encode(const Tokenizer& tokenizer, const std::string& text, const EncodeOptions& options = {}) {
  auto ids = tokenizer.Encode(text, options);
  if (!ids) {
    ADD_FAILURE() << "\"" << text << "\": " << ToString(ids.error());
    return {};
  }
  return *ids;
}

void ExpectRows(const Tokenizer& tokenizer, const json& rows) {
  for (const json& row : rows) {
    const std::string text = row["text"];
    EXPECT_EQ(Encode(tokenizer, text), row["ids"].get<Ids>()) << "\"" << text << "\"";
  }
}

// Cases whose expectation is {model file: [{text, ids}]}.
class PerModelTest : public ::testing::TestWithParam<const char*> {};

TEST_P(PerModelTest, IdsAreTheExpected) {
  ADJUDGE_CASE_OR_SKIP(found, GetParam());
  int tried = 0;
  for (const auto& [model, rows] : found["expected"].items()) {
    if (!rows.is_array()) continue;
    const auto tokenizer = Find(model);
    if (!tokenizer) continue;
    SCOPED_TRACE(model);
    ExpectRows(*tokenizer, rows);
    ++tried;
  }
  if (tried == 0) GTEST_SKIP() << "no model of the case is here";
}

INSTANTIATE_TEST_SUITE_P(Cases, PerModelTest,
                         ::testing::Values("tok-spm-byte-fallback", "tok-byte-piece-as-text",
                                           "tok-bpe-merge-by-rank", "tok-digits-alone",
                                           "tok-contraction-case", "tok-newline-runs"));

TEST(TokenizerCasesTest, SpaceRuns) {
  ADJUDGE_CASE_OR_SKIP(found, "tok-spm-space-runs");
  const auto tokenizer = Find(found["input"]["model"]);
  ASSERT_TRUE(tokenizer);
  ExpectRows(*tokenizer, found["expected"]["rows"]);
}

TEST(TokenizerCasesTest, NoBytePieceFromText) {
  ADJUDGE_CASE_OR_SKIP(found, "tok-byte-piece-as-text");
  for (const std::string model : found["input"]["models"]) {
    const auto tokenizer = Find(model);
    if (!tokenizer) continue;
    for (const std::string text : found["input"]["texts"]) {
      for (const TokenId id : Encode(*tokenizer, text)) {
        EXPECT_NE(tokenizer->vocabulary().kind(id), TokenKind::kByte) << text;
      }
    }
  }
}

TEST(TokenizerCasesTest, NoSpaceAfterControl) {
  ADJUDGE_CASE_OR_SKIP(found, "tok-no-space-after-control");
  const auto tokenizer = Find(found["input"]["model"]);
  if (!tokenizer) GTEST_SKIP() << "no model: " << found["input"]["model"];
  EXPECT_EQ(Encode(*tokenizer, found["input"]["text"], {.parse_special = true}),
            found["expected"]["ids"].get<Ids>());
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// Both honest answers: a refusal with the offset, and on request U+FFFD for each maximal bad part.
TEST(TokenizerCasesTest, InvalidUtf8) {
  ADJUDGE_CASE_OR_SKIP(found, "tok-invalid-utf8");
  const json& expected = found["expected"];
  for (const auto& [model, rows] : expected["or_ids_of_replacement_text"].items()) {
    const auto tokenizer = Find(model);
    if (!tokenizer) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string text = FromHex(found["input"]["hex"][i]);
      const auto refused = tokenizer->Encode(text);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().place, "byte " + std::to_string(expected["offsets"][i].get<int>()));
      EXPECT_EQ(Encode(*tokenizer, text, {.lossy = true}), rows[i].get<Ids>()) << model << " " << i;
    }
  }
}

TEST(TokenizerCasesTest, MergesAsStringsAndPairs) {
  ADJUDGE_CASE_OR_SKIP(found, "tok-merges-with-space");
  ExpectRows(*Find("merges_with_space.json"), found["expected"]["first"]);
  for (const char* file : {"merges_as_strings.json", "merges_as_pairs.json"}) {
    SCOPED_TRACE(file);
    ExpectRows(*Find(file), found["expected"]["other_two_equal"]);
  }
}

TEST(TokenizerCasesTest, DecodeDropsTheDummySpaceAlone) {
  ADJUDGE_CASE_OR_SKIP(found, "tok-decode-leading-space");
  const auto tokenizer = Find(found["input"]["model"]);
  ASSERT_TRUE(tokenizer);
  for (const json& row : found["expected"]["rows"]) {
    EXPECT_EQ(tokenizer->Decode(row["ids"].get<Ids>()), row["text"]);
    EXPECT_EQ(tokenizer->Decode(row["after_bos_ids"].get<Ids>()), row["after_bos_text"]);
  }
}

TEST(TokenizerCasesTest, CharactersAcrossTokens) {
  ADJUDGE_CASE_OR_SKIP(found, "str-utf8-across-tokens");
  const auto tokenizer = Find(found["input"]["model"]);
  if (!tokenizer) GTEST_SKIP() << "no model: default";
  for (const json& row : found["expected"]["rows"]) {
    StreamDecoder decoder(*tokenizer);
    std::vector<std::string> sent;
    std::string text;
    for (const TokenId id : row["ids"].get<Ids>()) {
      sent.push_back(decoder.Push(id));
      text += sent.back();
    }
    if (row.contains("sent_per_token")) {
      EXPECT_EQ(sent, row["sent_per_token"].get<std::vector<std::string>>());
    }
    EXPECT_EQ(text + decoder.Finish(), row["text"]);
  }
}

// The pieces of scr-boundary-merge and scr-bos-and-empty-context that are the tokenizer's.
TEST(TokenizerCasesTest, ContextAndContinuation) {
  ADJUDGE_CASE_OR_SKIP(found, "scr-boundary-merge");
  for (const json& row : found["expected"]["rows"]) {
    for (const auto& [model, want] : row.items()) {
      if (!want.is_object()) continue;
      const auto tokenizer = Find(model);
      if (!tokenizer) continue;
      const std::string context = want["context"];
      const std::string continuation = want["continuation"];
      EXPECT_EQ(Encode(*tokenizer, context), want["context_ids"].get<Ids>());
      EXPECT_EQ(Encode(*tokenizer, context + continuation), want["whole_ids"].get<Ids>());
      EXPECT_EQ(Encode(*tokenizer, continuation, {.starts_text = false}),
                want["continuation_ids"].get<Ids>());
    }
  }
}

TEST(TokenizerCasesTest, BosStandsOnce) {
  ADJUDGE_CASE_OR_SKIP(found, "scr-bos-and-empty-context");
  const auto tokenizer = Find("g3.gguf");
  if (!tokenizer) GTEST_SKIP() << "no model: g3.gguf";
  for (const json& row : found["expected"]["g3.gguf"]) {
    EXPECT_EQ(Encode(*tokenizer, row["context"], {.parse_special = true, .add_bos = true}),
              row["context_ids"].get<Ids>());
    EXPECT_EQ(Encode(*tokenizer, row["continuation"], {.starts_text = false}),
              row["continuation_ids"].get<Ids>());
  }
}

// Malformed tokenizer keys of file-array-element-type are in tokenizer_gguf_test.

}  // namespace
}  // namespace adjudge
