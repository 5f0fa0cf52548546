// Vocabularies inside GGUF: what they give, and what is refused by key.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "engine/tokenizer.h"
#include "tests/testing/small_tokenizers.h"

namespace adjudge {
namespace {

using testing::ByteTokenizerGguf;
using testing::GgufBuilder;
using testing::SentencePieceGguf;
using Ids = std::vector<TokenId>;

constexpr TokenId kThe = 258;      // " the" of ByteTokenizerGguf
constexpr TokenId kImEnd = 263;    // <|im_end|>
constexpr TokenId kEndText = 264;  // <|endoftext|>

TEST(TokenizerGgufTest, ByteLevel) {
  GgufBuilder builder = ByteTokenizerGguf();
  builder.U32("llama.vocab_size", 300).Text("tokenizer.chat_template", "{{ x }}");
  const auto tokenizer = testing::LoadGguf(builder);
  EXPECT_EQ(*tokenizer->Encode("a the"), (Ids{'a', kThe}));
  EXPECT_EQ(tokenizer->vocabulary().width(), 300);
  EXPECT_EQ(tokenizer->vocabulary().stop_ids(), (Ids{kImEnd, kEndText}));
  EXPECT_EQ(tokenizer->kind(), "bpe gpt-2");
  EXPECT_EQ(tokenizer->chat_template(), "{{ x }}");
  EXPECT_FALSE(tokenizer->bos());
  EXPECT_FALSE(tokenizer->wants_bos());
  EXPECT_FALSE(tokenizer->adds_dummy_prefix());
  EXPECT_EQ(tokenizer->FindSpecial("<|im_end|>"), kImEnd);
  EXPECT_FALSE(tokenizer->FindSpecial("the"));
}

struct BosRow {
  const char* pre;
  int add_bos;  // -1 = no such key
  bool has_bos;
  bool wants;
};

TEST(TokenizerGgufTest, WantsBosAsTheFileSays) {
  for (const BosRow& row : std::vector<BosRow>{{"gpt-2", -1, true, false},
                                               {"gpt-2", 1, true, true},
                                               {"gpt-2", 1, false, false},
                                               {"llama-bpe", -1, true, true},
                                               {"llama-bpe", 0, true, false}}) {
    GgufBuilder builder = ByteTokenizerGguf(row.pre);
    if (row.has_bos) builder.U32("tokenizer.ggml.bos_token_id", 262);
    if (row.add_bos >= 0) builder.Bool("tokenizer.ggml.add_bos_token", row.add_bos != 0);
    EXPECT_EQ(testing::LoadGguf(builder)->wants_bos(), row.wants) << row.pre << row.add_bos;
  }
  EXPECT_TRUE(testing::SmallSentencePiece()->wants_bos());
}

TEST(TokenizerGgufTest, StopIdsFromEveryKey) {
  GgufBuilder builder = ByteTokenizerGguf();
  builder.U32("tokenizer.ggml.eos_token_id", 10)
      .U32("tokenizer.ggml.eot_token_id", 20)
      .U32("tokenizer.ggml.eom_token_id", 30);
  const auto tokenizer = testing::LoadGguf(builder);
  EXPECT_EQ(tokenizer->vocabulary().stop_ids(), (Ids{10, 20, 30, kImEnd, kEndText}));
  EXPECT_EQ(tokenizer->eos(), 10);
}

TEST(TokenizerGgufTest, SentencePieceWithTheFilesSettings) {
  const auto plain = testing::SmallSentencePiece();
  EXPECT_EQ(plain->Decode(*plain->Encode(" the  hen\n\n")), " the  hen\n\n");
  EXPECT_TRUE(plain->adds_dummy_prefix());
  EXPECT_EQ(plain->kind(), "sentencepiece bpe");
  EXPECT_EQ(plain->Encode("the")->size(), 1U);
  EXPECT_GT(plain->Encode("the", {.starts_text = false})->size(), 1U);

  GgufBuilder no_prefix = SentencePieceGguf();
  no_prefix.Bool("tokenizer.ggml.add_space_prefix", false);
  const auto without = testing::LoadGguf(no_prefix);
  EXPECT_EQ(*without->Encode("the"), *plain->Encode("the", {.starts_text = false}));
  EXPECT_EQ(without->Decode(*without->Encode(" the")), " the");

  GgufBuilder trimmed = SentencePieceGguf();
  trimmed.Bool("tokenizer.ggml.remove_extra_whitespaces", true);
  EXPECT_EQ(*testing::LoadGguf(trimmed)->Encode("  the   hen "), *plain->Encode("the hen"));
}

// Text that spells a control token or a byte piece is text.
TEST(TokenizerGgufTest, OrdinaryTextMakesNoSpecialToken) {
  const auto tokenizer = testing::SmallSentencePiece();
  for (const char* text : {"<s>", "</s>", "<unk>", "<|im_end|>", "<0x41>", "\xE2\x96\x81<s>"}) {
    const auto ids = tokenizer->Encode(text);
    ASSERT_TRUE(ids);
    for (const TokenId id : *ids) {
      EXPECT_FALSE(tokenizer->vocabulary().is_special(id)) << text;
    }
  }
  EXPECT_EQ(*tokenizer->Encode("<|im_end|>", {.parse_special = true}),
            (Ids{*tokenizer->FindSpecial("<|im_end|>")}));
}

// The prefix stands once, before the first ordinary text.
TEST(TokenizerGgufTest, DummyPrefixAroundControlTokens) {
  const auto tokenizer = testing::SmallSentencePiece();
  const TokenId end = *tokenizer->FindSpecial("<|im_end|>");
  const Ids first = *tokenizer->Encode("the");
  const Ids later = *tokenizer->Encode("the", {.starts_text = false});
  Ids want = {end};
  want.insert(want.end(), first.begin(), first.end());
  want.push_back(end);
  want.insert(want.end(), later.begin(), later.end());
  const std::string text = "<|im_end|>the<|im_end|>the";
  EXPECT_EQ(*tokenizer->Encode(text, {.parse_special = true}), want);
  EXPECT_EQ(tokenizer->Decode(want, /*special=*/true), text);
  EXPECT_EQ(tokenizer->Decode(want), "thethe");
}

struct BadRow {
  const char* name;
  const char* key;  // taken out first
  std::function<void(GgufBuilder&)> spoil;
  ErrorCode code;
  std::vector<std::string> says;  // all of these stand in the error
};

std::vector<float> Zeros(std::size_t n) { return std::vector<float>(n, 0.0F); }

TEST(TokenizerGgufTest, MalformedByteLevelKeysAreNamed) {
  const std::vector<BadRow> rows = {
      {"no model", "tokenizer.ggml.model", nullptr, ErrorCode::kNotFound, {"tokenizer.ggml.model"}},
      {"unknown model",
       "tokenizer.ggml.model",
       [](auto& b) { b.Text("tokenizer.ggml.model", "rwkv"); },
       ErrorCode::kUnsupported,
       {"tokenizer.ggml.model", "rwkv"}},
      {"no tokens",
       "tokenizer.ggml.tokens",
       nullptr,
       ErrorCode::kNotFound,
       {"tokenizer.ggml.tokens"}},
      {"tokens of numbers",
       "tokenizer.ggml.tokens",
       [](auto& b) {
         b.Ints("tokenizer.ggml.tokens", {1, 2});
       },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.tokens", "int32"}},
      {"no pre-tokenizer",
       "tokenizer.ggml.pre",
       nullptr,
       ErrorCode::kNotFound,
       {"tokenizer.ggml.pre"}},
      {"unknown pre-tokenizer",
       "tokenizer.ggml.pre",
       [](auto& b) { b.Text("tokenizer.ggml.pre", "viking"); },
       ErrorCode::kUnsupported,
       {"tokenizer.ggml.pre", "viking"}},
      {"pre-tokenizer of a number",
       "tokenizer.ggml.pre",
       [](auto& b) { b.U32("tokenizer.ggml.pre", 1); },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.pre", "uint32"}},
      {"too few types",
       "tokenizer.ggml.token_type",
       [](auto& b) { b.Ints("tokenizer.ggml.token_type", {1}); },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.token_type", "266", "1"}},
      {"types of text",
       "tokenizer.ggml.token_type",
       [](auto& b) { b.Texts("tokenizer.ggml.token_type", {"1"}); },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.token_type", "string"}},
      {"a type of 7",
       "tokenizer.ggml.token_type",
       [](auto& b) { b.Ints("tokenizer.ggml.token_type", std::vector<std::int32_t>(266, 7)); },
       ErrorCode::kUnsupported,
       {"tokenizer.ggml.token_type[0]", "7"}},
      {"no merges",
       "tokenizer.ggml.merges",
       nullptr,
       ErrorCode::kNotFound,
       {"tokenizer.ggml.merges"}},
      {"a merge of one",
       "tokenizer.ggml.merges",
       [](auto& b) {
         b.Texts("tokenizer.ggml.merges", {"t h", "th"});
       },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.merges[1]", "th"}},
      {"a merge of three",
       "tokenizer.ggml.merges",
       [](auto& b) { b.Texts("tokenizer.ggml.merges", {"t h e"}); },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.merges[0]"}},
      {"an unknown part",
       "tokenizer.ggml.merges",
       [](auto& b) {
         b.Texts("tokenizer.ggml.merges", {"t h", "th zz"});
       },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.merges[1]", "zz"}},
      {"an unknown whole",
       "tokenizer.ggml.merges",
       [](auto& b) { b.Texts("tokenizer.ggml.merges", {"z z"}); },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.merges[0]", "zz"}},
      {"a merge twice",
       "tokenizer.ggml.merges",
       [](auto& b) {
         b.Texts("tokenizer.ggml.merges", {"t h", "t h"});
       },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.merges[1]", "merge 0"}},
      {"an id too large",
       "tokenizer.ggml.bos_token_id",
       [](auto& b) { b.U32("tokenizer.ggml.bos_token_id", 999999); },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.bos_token_id", "999999"}},
      {"an id below zero",
       "tokenizer.ggml.eos_token_id",
       [](auto& b) { b.I32("tokenizer.ggml.eos_token_id", -1); },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.eos_token_id", "-1"}},
      {"an id of text",
       "tokenizer.ggml.eot_token_id",
       [](auto& b) { b.Text("tokenizer.ggml.eot_token_id", "7"); },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.eot_token_id", "string"}},
      {"a width of zero",
       "llama.vocab_size",
       [](auto& b) { b.I32("llama.vocab_size", -3); },
       ErrorCode::kMalformed,
       {"llama.vocab_size", "-3"}},
  };
  for (const BadRow& row : rows) {
    GgufBuilder builder = ByteTokenizerGguf();
    builder.Remove(row.key);
    if (row.spoil) row.spoil(builder);
    const Error error = testing::GgufError(builder);
    EXPECT_EQ(error.code, row.code) << row.name << ": " << ToString(error);
    for (const std::string& word : row.says) {
      EXPECT_NE(ToString(error).find(word), std::string::npos)
          << row.name << ": " << ToString(error) << " does not say " << word;
    }
  }
}

TEST(TokenizerGgufTest, RepeatedAndControlTokensInMerges) {
  GgufBuilder repeated;
  repeated.Text("tokenizer.ggml.model", "gpt2")
      .Text("tokenizer.ggml.pre", "gpt-2")
      .Texts("tokenizer.ggml.tokens", {"a", "b", "a"})
      .Texts("tokenizer.ggml.merges", {});
  EXPECT_EQ(ToString(testing::GgufError(repeated)),
            "tokenizer.ggml.tokens[2]: token \"a\" was already token 0");
  GgufBuilder control;
  control.Text("tokenizer.ggml.model", "gpt2")
      .Text("tokenizer.ggml.pre", "gpt-2")
      .Texts("tokenizer.ggml.tokens", {"a", "b", "ab"})
      .Ints("tokenizer.ggml.token_type", {1, 1, 3})
      .Texts("tokenizer.ggml.merges", {"a b"});
  EXPECT_NE(ToString(testing::GgufError(control)).find("control token \"ab\""), std::string::npos);
}

TEST(TokenizerGgufTest, MalformedSentencePieceKeysAreNamed) {
  const std::size_t n = 273;
  const std::vector<BadRow> rows = {
      {"no scores",
       "tokenizer.ggml.scores",
       nullptr,
       ErrorCode::kNotFound,
       {"tokenizer.ggml.scores"}},
      {"too few scores",
       "tokenizer.ggml.scores",
       [](auto& b) { b.Floats("tokenizer.ggml.scores", Zeros(10)); },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.scores", "10", std::to_string(n)}},
      {"scores of integers",
       "tokenizer.ggml.scores",
       [](auto& b) { b.Ints("tokenizer.ggml.scores", {1}); },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.scores", "int32"}},
      {"a score that is no number",
       "tokenizer.ggml.scores",
       [](auto& b) {
         std::vector<float> scores = Zeros(n);
         scores[7] = std::numeric_limits<float>::quiet_NaN();
         b.Floats("tokenizer.ggml.scores", scores);
       },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.tokens[7]"}},
      {"no types",
       "tokenizer.ggml.token_type",
       nullptr,
       ErrorCode::kNotFound,
       {"tokenizer.ggml.token_type"}},
      {"bytes that are none",
       "tokenizer.ggml.token_type",
       [](auto& b) { b.Ints("tokenizer.ggml.token_type", std::vector<std::int32_t>(n, 6)); },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.tokens", "<0xHH>"}},
      {"a charsmap of text",
       "tokenizer.ggml.precompiled_charsmap",
       [](auto& b) { b.Texts("tokenizer.ggml.precompiled_charsmap", {"x"}); },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.precompiled_charsmap", "string"}},
      {"an unknown id too large",
       "tokenizer.ggml.unknown_token_id",
       [](auto& b) { b.U32("tokenizer.ggml.unknown_token_id", 273); },
       ErrorCode::kMalformed,
       {"tokenizer.ggml.unknown_token_id", "273"}},
  };
  for (const BadRow& row : rows) {
    GgufBuilder builder = SentencePieceGguf();
    builder.Remove(row.key);
    if (row.spoil) row.spoil(builder);
    const Error error = testing::GgufError(builder);
    EXPECT_EQ(error.code, row.code) << row.name << ": " << ToString(error);
    for (const std::string& word : row.says) {
      EXPECT_NE(ToString(error).find(word), std::string::npos)
          << row.name << ": " << ToString(error) << " does not say " << word;
    }
  }
}

// Without byte pieces and without an unknown token a strange character is refused, not dropped.
TEST(TokenizerGgufTest, WhatCannotBeSpelledIsRefused) {
  GgufBuilder builder;
  builder.Text("tokenizer.ggml.model", "llama")
      .Texts("tokenizer.ggml.tokens", {"a", "b", "\xE2\x96\x81"})
      .Ints("tokenizer.ggml.token_type", {1, 1, 1})
      .Floats("tokenizer.ggml.scores", {0, 0, 0});
  const auto tokenizer = testing::LoadGguf(builder);
  EXPECT_EQ(*tokenizer->Encode("ab a"), (Ids{2, 0, 1, 2, 0}));
  EXPECT_FALSE(tokenizer->Encode("abc"));
  EXPECT_FALSE(tokenizer->wants_bos());
  EXPECT_FALSE(tokenizer->Encode("a", {.add_bos = true}));
}

}  // namespace
}  // namespace adjudge
