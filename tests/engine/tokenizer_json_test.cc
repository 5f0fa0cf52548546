// tokenizer.json and model folders: what they give, and what is refused by name.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/text/tokenizer_sources.h"
#include "engine/tokenizer.h"
#include "tests/testing/small_tokenizers.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using nlohmann::json;
using testing::ByteTokenizerJson;
using Ids = std::vector<TokenId>;

constexpr const char* kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

json Split(const std::string& pattern) {
  return {{"type", "Sequence"},
          {"pretokenizers",
           {{{"type", "Split"},
             {"pattern", {{"Regex", pattern}}},
             {"behavior", "Isolated"},
             {"invert", false}},
            {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
}

std::shared_ptr<const Tokenizer> Load(const json& root) {
  auto tokenizer = LoadJsonTokenizer(root.dump(), {});
  EXPECT_TRUE(tokenizer) << ToString(tokenizer.error());
  return tokenizer ? *tokenizer : nullptr;
}

struct KindRow {
  const char* kind;
  json pre_tokenizer;
};

TEST(TokenizerJsonTest, KnownPreTokenizers) {
  const std::vector<KindRow> rows = {
      {"bpe gpt-2", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
      {"bpe none", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}},
      {"bpe qwen2", Split(kQwen2)},
      {"bpe llama-bpe", Split(kLlama3)},
      {"bpe smollm",
       {{"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "Digits"}, {"individual_digits", true}},
          {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}}}}}};
  for (const KindRow& row : rows) {
    json root = ByteTokenizerJson();
    root["pre_tokenizer"] = row.pre_tokenizer;
    const auto tokenizer = Load(root);
    ASSERT_TRUE(tokenizer);
    EXPECT_EQ(tokenizer->kind(), row.kind);
    EXPECT_EQ(tokenizer->Decode(*tokenizer->Encode("the 12 things\n\n don't")),
              "the 12 things\n\n don't");
  }
}

TEST(TokenizerJsonTest, NfcWhereTheFileAsks) {
  json root = ByteTokenizerJson();
  const std::string apart = "e\xCC\x81";
  EXPECT_EQ(Load(root)->Decode(*Load(root)->Encode(apart)), apart);
  for (const json& nfc :
       {json{{"type", "NFC"}}, json{{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}}}}}) {
    root["normalizer"] = nfc;
    EXPECT_EQ(Load(root)->Decode(*Load(root)->Encode(apart)), "\xC3\xA9");
  }
}

TEST(TokenizerJsonTest, AddedTokens) {
  json root = ByteTokenizerJson();
  const TokenId tool = 265;
  root["added_tokens"].push_back(
      {{"id", 270}, {"content", "<mask>"}, {"special", true}, {"lstrip", true}, {"rstrip", true}});
  const auto tokenizer = Load(root);
  // User-defined always; control tokens when asked for, with the spaces that they take.
  EXPECT_EQ(*tokenizer->Encode("a<tool>b"), (Ids{'a', tool, 'b'}));
  EXPECT_EQ(*tokenizer->Encode("a \n<mask>  b", {.parse_special = true}), (Ids{'a', 270, 'b'}));
  EXPECT_GT(tokenizer->Encode("<mask>")->size(), 4U);
  EXPECT_EQ(tokenizer->vocabulary().size(), 271);
  EXPECT_EQ(tokenizer->vocabulary().kind(268), TokenKind::kUnused);
  EXPECT_FALSE(tokenizer->vocabulary().is_producible(268));
  EXPECT_EQ(tokenizer->Decode(Ids{'a', 268, 270, tool}), "a<tool>");
}

TEST(TokenizerJsonTest, TemplateSaysThatATextBeginsWithBos) {
  json root = ByteTokenizerJson();
  root["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single",
                             {{{"SpecialToken", {{"id", "<|endoftext|>"}, {"type_id", 0}}}},
                              {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}}};
  EXPECT_EQ(Load(root)->bos(), 264);
  EXPECT_TRUE(Load(root)->wants_bos());
}

TEST(TokenizerJsonTest, IgnoreMergesTakesWholeWords) {
  json root = ByteTokenizerJson();
  root["model"]["vocab"]["zebra"] = 266;  // no merge makes it
  EXPECT_EQ(Load(root)->Encode("zebra")->size(), 5U);
  root["model"]["ignore_merges"] = true;
  EXPECT_EQ(*Load(root)->Encode("zebra"), (Ids{266}));
}

struct BadRow {
  const char* pointer;  // where the value goes
  json value;
  ErrorCode code;
  std::vector<std::string> says;
};

TEST(TokenizerJsonTest, WhatIsNotKnownIsRefusedByName) {
  const std::vector<BadRow> rows = {
      {"/model", nullptr, ErrorCode::kMalformed, {"/model"}},
      {"/model/type", "WordPiece", ErrorCode::kUnsupported, {"/model/type", "WordPiece"}},
      {"/model/dropout", 0.1, ErrorCode::kUnsupported, {"dropout"}},
      {"/model/byte_fallback", true, ErrorCode::kUnsupported, {"byte_fallback"}},
      {"/model/end_of_word_suffix", "</w>", ErrorCode::kUnsupported, {"</w>"}},
      {"/model/ignore_merges", 1, ErrorCode::kMalformed, {"ignore_merges", "1"}},
      {"/model/vocab", json::array(), ErrorCode::kMalformed, {"/model/vocab"}},
      {"/model/vocab/zz", -1, ErrorCode::kMalformed, {"zz", "-1"}},
      {"/model/vocab/zz", 4, ErrorCode::kMalformed, {"zz", "id 4"}},
      {"/model/vocab/zz", 1 << 30, ErrorCode::kLimit, {"max_tokens"}},
      {"/model/merges", "t h", ErrorCode::kMalformed, {"/model/merges"}},
      {"/model/merges", {"t h", 3}, ErrorCode::kMalformed, {"/model/merges/1", "3"}},
      {"/model/merges", {"t h e"}, ErrorCode::kMalformed, {"/model/merges/0", "t h e"}},
      {"/model/merges",
       json::array({json::array({"t", "h", "e"})}),
       ErrorCode::kMalformed,
       {"/model/merges/0"}},
      {"/model/merges",
       json::array({json::array({"t", "zz"})}),
       ErrorCode::kMalformed,
       {"/model/merges[0]", "zz"}},
      {"/normalizer", {{"type", "Lowercase"}}, ErrorCode::kUnsupported, {"Lowercase"}},
      {"/pre_tokenizer", {{"type", "Metaspace"}}, ErrorCode::kUnsupported, {"Metaspace"}},
      {"/pre_tokenizer", Split("\\w+"), ErrorCode::kUnsupported, {"\\w+"}},
      {"/pre_tokenizer",
       {{"type", "ByteLevel"}, {"add_prefix_space", true}},
       ErrorCode::kUnsupported,
       {"add_prefix_space"}},
      {"/decoder", {{"type", "WordPiece"}}, ErrorCode::kUnsupported, {"/decoder", "WordPiece"}},
      {"/post_processor",
       {{"type", "BertProcessing"}},
       ErrorCode::kUnsupported,
       {"BertProcessing"}},
      {"/added_tokens", 3, ErrorCode::kMalformed, {"/added_tokens"}},
      {"/added_tokens/0/content", "", ErrorCode::kMalformed, {"/added_tokens/0/content"}},
      {"/added_tokens/0/content", "t", ErrorCode::kMalformed, {"was already token"}},
      {"/added_tokens/0/id", "x", ErrorCode::kMalformed, {"/added_tokens/0/id"}},
      {"/added_tokens/0/id", 7, ErrorCode::kMalformed, {"/added_tokens/0", "token 7"}},
      {"/added_tokens/0/single_word", true, ErrorCode::kUnsupported, {"single_word"}},
  };
  for (const BadRow& row : rows) {
    json root = ByteTokenizerJson();
    root[json::json_pointer(row.pointer)] = row.value;
    const auto tokenizer = LoadJsonTokenizer(root.dump(), {});
    ASSERT_FALSE(tokenizer) << row.pointer << " " << row.value;
    EXPECT_EQ(tokenizer.error().code, row.code) << ToString(tokenizer.error());
    for (const std::string& word : row.says) {
      EXPECT_NE(ToString(tokenizer.error()).find(word), std::string::npos)
          << ToString(tokenizer.error()) << " does not say " << word;
    }
  }
}

TEST(TokenizerJsonTest, TextThatIsNotJson) {
  const auto error = [](const std::string& text) { return LoadJsonTokenizer(text, {}).error(); };
  EXPECT_EQ(error("{\"model\": ]").place, "byte 10");
  EXPECT_EQ(error("{\"a\": \"\xFF\"}").code, ErrorCode::kMalformed);
  EXPECT_EQ(error(std::string(65, '[')).code, ErrorCode::kLimit);
  EXPECT_EQ(error(std::string(64, '[')).code, ErrorCode::kMalformed);
}

TEST(TokenizerJsonTest, LimitsHaveTwoSides) {
  const std::string text = ByteTokenizerJson().dump();
  struct Row {
    TokenizerLimits limits;
    const char* name;  // nullptr = loads
  };
  TokenizerLimits tokens_ok;
  tokens_ok.max_tokens = 266;
  TokenizerLimits tokens_few = tokens_ok;
  tokens_few.max_tokens = 265;
  TokenizerLimits bytes_ok;
  bytes_ok.max_token_bytes = 5;  // " the" is five bytes in the file's alphabet
  TokenizerLimits bytes_few = bytes_ok;
  bytes_few.max_token_bytes = 4;
  TokenizerLimits names_ok;
  names_ok.max_special_bytes = 13;  // <|endoftext|>
  TokenizerLimits names_few = names_ok;
  names_few.max_special_bytes = 12;
  for (const Row& row : std::vector<Row>{{tokens_ok, nullptr},
                                         {tokens_few, "max_tokens"},
                                         {bytes_ok, nullptr},
                                         {bytes_few, "max_token_bytes"},
                                         {names_ok, nullptr},
                                         {names_few, "max_special_bytes"}}) {
    const auto tokenizer = LoadJsonTokenizer(text, row.limits);
    ASSERT_EQ(tokenizer.has_value(), row.name == nullptr);
    if (row.name == nullptr) continue;
    EXPECT_EQ(tokenizer.error().code, ErrorCode::kLimit);
    EXPECT_NE(tokenizer.error().message.find(row.name), std::string::npos);
  }
  const auto tokenizer = testing::ByteTokenizer();
  EXPECT_TRUE(tokenizer->Encode("four", {.max_text_bytes = 4}));
  EXPECT_EQ(tokenizer->Encode("fifth", {.max_text_bytes = 4}).error().code, ErrorCode::kLimit);

  testing::TempFolder folder;
  const auto path = folder.Write("any.name", text);
  TokenizerLimits file_ok;
  file_ok.max_file_bytes = text.size();
  EXPECT_TRUE(Tokenizer::Load(path, file_ok));
  file_ok.max_file_bytes = text.size() - 1;
  EXPECT_EQ(Tokenizer::Load(path, file_ok).error().code, ErrorCode::kLimit);
}

TEST(TokenizerFolderTest, ReadsTheSmallFiles) {
  testing::TempFolder folder;
  folder.Write("tokenizer.json", ByteTokenizerJson().dump());
  folder.Write("tokenizer_config.json",
               R"({"bos_token": {"content": "<|im_start|>"}, "eos_token": "<|im_end|>",
                   "add_bos_token": true, "chat_template": "from config"})");
  folder.Write("config.json", R"({"eos_token_id": 10, "bos_token_id": 11, "vocab_size": 512})");
  folder.Write("generation_config.json", R"({"eos_token_id": [20, 21]})");
  auto tokenizer = Tokenizer::Load(folder.path());
  ASSERT_TRUE(tokenizer) << ToString(tokenizer.error());
  EXPECT_EQ((*tokenizer)->bos(), 262);
  EXPECT_EQ((*tokenizer)->eos(), 263);
  EXPECT_TRUE((*tokenizer)->wants_bos());
  EXPECT_EQ((*tokenizer)->vocabulary().width(), 512);
  EXPECT_EQ((*tokenizer)->vocabulary().stop_ids(), (Ids{10, 20, 21, 263, 264}));
  EXPECT_EQ((*tokenizer)->chat_template(), "from config");
  folder.Write("chat_template.jinja", "from jinja");
  EXPECT_EQ((*Tokenizer::Load(folder.path()))->chat_template(), "from jinja");
}

TEST(TokenizerFolderTest, TemplateListsHaveADefault) {
  testing::TempFolder folder;
  folder.Write("tokenizer.json", ByteTokenizerJson().dump());
  folder.Write("tokenizer_config.json",
               R"({"chat_template": [{"name": "rag", "template": "a"},
                                     {"name": "default", "template": "b"}]})");
  EXPECT_EQ((*Tokenizer::Load(folder.path()))->chat_template(), "b");
}

struct FolderRow {
  const char* file;
  std::string_view text;
  const char* says;
};

TEST(TokenizerFolderTest, BadSmallFilesAreNamed) {
  for (const FolderRow& row : std::vector<FolderRow>{
           {"tokenizer_config.json", "{", "tokenizer_config.json: byte 1: not JSON"},
           {"tokenizer.json", "{", "tokenizer.json: byte 1: not JSON"},
           {"tokenizer.json", "{}", "tokenizer.json: /model"},
           {"tokenizer.json", R"({"a":1,"a":2})", "tokenizer.json: /a: this key comes twice"},
           {"tokenizer.json", std::string_view("{}\0", 3), "tokenizer.json: byte 2"},
           {"tokenizer.model", "\n\xff", "tokenizer.model: "},
           {"tokenizer_config.json", R"({"eos_token": "<nope>"})", "/eos_token"},
           {"tokenizer_config.json", R"({"bos_token": 7})", "/bos_token"},
           {"tokenizer_config.json", R"({"add_bos_token": "yes"})", "add_bos_token"},
           {"config.json", R"({"eos_token_id": 266})", "266"},
           {"config.json", R"({"vocab_size": "big"})", "/vocab_size"},
           {"generation_config.json", R"({"eos_token_id": [1, -2]})", "-2"}}) {
    testing::TempFolder folder;
    folder.Write("tokenizer.json", ByteTokenizerJson().dump());
    folder.Write(row.file, std::string(row.text));
    const auto tokenizer = Tokenizer::Load(folder.path());
    ASSERT_FALSE(tokenizer) << row.text;
    EXPECT_NE(ToString(tokenizer.error()).find(row.says), std::string::npos)
        << ToString(tokenizer.error());
  }
}

TEST(TokenizerFolderTest, NothingToLoad) {
  testing::TempFolder folder;
  EXPECT_EQ(Tokenizer::Load(folder.path()).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Tokenizer::Load(folder.path() / "absent").error().code, ErrorCode::kIo);
  for (const char* text : {"", "hello", "\x0A\xFF\xFF\xFF\xFF\x7F", "GGUF"}) {
    EXPECT_FALSE(Tokenizer::Load(folder.Write("bad", text))) << text;
  }
}

// A SentencePiece model in a folder: the config's special tokens are control tokens, and tokens
// past the model's own are added.
TEST(TokenizerFolderTest, SentencePieceModelWithAddedTokens) {
  ADJUDGE_DATA_OR_SKIP(model, "tokenizers/mistral-v1-tokenizer.model");
  testing::TempFolder folder;
  folder.Write("tokenizer.model", testing::ReadFile(model));
  folder.Write("tokenizer_config.json",
               R"({"bos_token": "<s>", "eos_token": "<|end|>", "added_tokens_decoder": {
                     "0": {"content": "<unk>", "special": true},
                     "32000": {"content": "<|end|>", "special": true},
                     "32002": {"content": "<plain>", "special": false}}})");
  const auto tokenizer = Tokenizer::Load(folder.path());
  ASSERT_TRUE(tokenizer) << ToString(tokenizer.error());
  EXPECT_EQ((*tokenizer)->vocabulary().size(), 32003);
  EXPECT_EQ((*tokenizer)->vocabulary().kind(32001), TokenKind::kUnused);
  EXPECT_EQ((*tokenizer)->eos(), 32000);
  EXPECT_EQ((*tokenizer)->vocabulary().stop_ids(), (Ids{32000}));
  EXPECT_EQ(*(*tokenizer)->Encode("Grape<plain><|end|>", {.parse_special = true}),
            (Ids{420, 1242, 28706, 32002, 32000}));
  EXPECT_GT((*tokenizer)->Encode("<|end|>")->size(), 2U);
}

}  // namespace
}  // namespace adjudge
