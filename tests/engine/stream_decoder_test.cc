#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "engine/base/utf8.h"
#include "engine/tokenizer.h"
#include "tests/testing/small_tokenizers.h"

namespace adjudge {
namespace {

using Ids = std::vector<TokenId>;

// Ids of a byte-level tokenizer whose first 256 tokens are the bytes.
Ids BytesOf(std::string_view bytes) {
  Ids ids;
  for (const char c : bytes) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

struct Row {
  const char* bytes;
  std::vector<std::string> sent;  // by token, and at the end
};

TEST(StreamDecoderTest, SendsWholeCharactersAndReplacesBadParts) {
  const auto tokenizer = testing::ByteTokenizer();
  const std::string bad(kReplacementCharacter);
  const std::vector<Row> rows = {
      {"ab", {"a", "b", ""}},
      {"\xC3\xA9", {"", "\xC3\xA9", ""}},
      {"\xF0\x9F\x98\x80", {"", "", "", "\xF0\x9F\x98\x80", ""}},
      {"\xC3"
       "a",
       {"", bad + "a", ""}},
      {"\xE3\x81", {"", "", bad}},
      {"\xFF\xFE", {bad, bad, ""}},
      {"\xED\xA0\x80", {"", bad + bad, bad, ""}},    // a surrogate: three bad parts
      {"\xF0\x9F\xF0\x9F", {"", "", bad, "", bad}},  // cut, and cut again
      {"\xC0\xAF", {bad, bad, ""}},                  // overlong
      {"\xF4\x90", {"", bad + bad, ""}},             // past U+10FFFF
  };
  for (const Row& row : rows) {
    StreamDecoder decoder(*tokenizer);
    std::vector<std::string> sent;
    for (const TokenId id : BytesOf(row.bytes)) sent.push_back(decoder.Push(id));
    sent.push_back(decoder.Finish());
    EXPECT_EQ(sent, row.sent) << row.bytes;
  }
}

TEST(StreamDecoderTest, JoinedPiecesAreTheRepairedText) {
  const auto tokenizer = testing::ByteTokenizer();
  const std::string alphabet = "a\x80\xBF\xC3\xA9\xE3\x81\x82\xED\xA0\xF0\x9F\x98\xF4\x90\xFF";
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (std::size_t i = random() % 12; i > 0; --i) bytes += alphabet[random() % alphabet.size()];
    const Ids ids = BytesOf(bytes);
    StreamDecoder decoder(*tokenizer);
    std::string text;
    for (const TokenId id : ids) {
      const std::string piece = decoder.Push(id);
      EXPECT_FALSE(FirstInvalidUtf8(piece));
      text += piece;
    }
    text += decoder.Finish();
    EXPECT_EQ(text, RepairUtf8(tokenizer->Decode(ids)));
  }
}

TEST(StreamDecoderTest, ControlTokensSpellNothingUnlessAskedFor) {
  const auto tokenizer = testing::ByteTokenizer();
  const TokenId end = *tokenizer->FindSpecial("<|im_end|>");
  for (const bool special : {false, true}) {
    StreamDecoder decoder(*tokenizer, special);
    EXPECT_EQ(decoder.Push('a'), "a");
    EXPECT_EQ(decoder.Push(end), special ? "<|im_end|>" : "");
    EXPECT_EQ(decoder.Finish(), "");
  }
}

TEST(StreamDecoderTest, DropsTheDummySpaceOnceAfterControlTokens) {
  const auto tokenizer = testing::SmallSentencePiece();
  const auto ids = tokenizer->Encode(" the hen", {.add_bos = true});
  ASSERT_TRUE(ids);
  StreamDecoder decoder(*tokenizer);
  std::string text;
  for (const TokenId id : *ids) text += decoder.Push(id);
  EXPECT_EQ(text, " the hen");
}

}  // namespace
}  // namespace adjudge
