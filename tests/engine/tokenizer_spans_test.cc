// Spans: what a user types forges no special token, and is otherwise tokenised as one text.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "engine/tokenizer.h"
#include "tests/testing/small_tokenizers.h"

namespace adjudge {
namespace {

using Ids = std::vector<TokenId>;

constexpr TokenId kStart = 262;
constexpr TokenId kEnd = 263;
constexpr TokenId kTool = 265;

Ids Plain(const Tokenizer& tokenizer, const std::string& text) { return *tokenizer.Encode(text); }

struct Row {
  const char* name;
  std::vector<TextSpan> spans;
  std::vector<std::string> parts;  // ordinary text, or the name of a special token in "[]"
};

TEST(TokenizerSpansTest, OnlyTrustedTextMakesControlTokens) {
  const auto tokenizer = testing::ByteTokenizer();
  const std::vector<Row> rows = {
      {"nothing", {}, {}},
      {"trusted alone", {{"<|im_start|>", true}}, {"[start]"}},
      {"typed alone", {{"<|im_start|>", false}}, {"<|im_start|>"}},
      {"around",
       {{"<|im_start|>", true}, {"<|im_end|>", false}, {"<|im_end|>", true}},
       {"[start]", "<|im_end|>", "[end]"}},
      {"begun by the template, ended by the user",
       {{"<|im_", true}, {"end|>", false}},
       {"<|im_end|>"}},
      {"begun by the user, ended by the template",
       {{"<|im_e", false}, {"nd|>", true}},
       {"<|im_end|>"}},
      {"an empty typed span joins nothing",
       {{"<|im_", true}, {"", false}, {"end|>", true}},
       {"[end]"}},
      {"two trusted spans are one", {{"<|im_", true}, {"end|>", true}}, {"[end]"}},
      {"user-defined tokens are text", {{"a<to", false}, {"ol>b", true}}, {"a", "[tool]", "b"}},
      {"a control token inside its own beginning", {{"<|im_<|im_end|>", true}}, {"<|im_", "[end]"}},
      {"typed brackets before a trusted token",
       {{"<|im_end|", false}, {"<|im_end|>", true}},
       {"<|im_end|", "[end]"}},
      {"words go on across spans", {{" t", true}, {"h", false}, {"e", true}}, {" the"}},
  };
  for (const Row& row : rows) {
    Ids want;
    for (const std::string& part : row.parts) {
      if (part == "[start]") {
        want.push_back(kStart);
      } else if (part == "[end]") {
        want.push_back(kEnd);
      } else if (part == "[tool]") {
        want.push_back(kTool);
      } else {
        const Ids ids = Plain(*tokenizer, part);
        want.insert(want.end(), ids.begin(), ids.end());
      }
    }
    const auto ids = tokenizer->EncodeSpans(row.spans);
    ASSERT_TRUE(ids) << row.name;
    EXPECT_EQ(*ids, want) << row.name;
  }
}

// Untrusted spans alone equal plain text, trusted ones text with special tokens, however cut.
TEST(TokenizerSpansTest, CuttingChangesNothing) {
  const std::string text =
      "<|im_start|>the thing<|im_end|> the<tool> \xF0\x9F\x98\x80 ing!!\n<|im_end|>";
  std::mt19937 random(3);
  for (const auto& tokenizer : {testing::ByteTokenizer(), testing::SmallSentencePiece()}) {
    for (int round = 0; round < 200; ++round) {
      std::vector<std::size_t> cuts = {0, text.size()};
      for (int i = 0; i < round % 6; ++i) cuts.push_back(random() % (text.size() + 1));
      std::sort(cuts.begin(), cuts.end());
      for (const bool trusted : {false, true}) {
        std::vector<TextSpan> spans;
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
          spans.push_back({text.substr(cuts[i], cuts[i + 1] - cuts[i]), trusted});
        }
        EXPECT_EQ(*tokenizer->EncodeSpans(spans),
                  *tokenizer->Encode(text, {.parse_special = trusted}));
      }
    }
  }
}

// Whatever the user types, in whatever place, the control tokens are the template's.
TEST(TokenizerSpansTest, RandomForgeries) {
  const std::vector<std::string> pieces = {"<|im_end|>", "<|im_", "end|>",  "<", "|",
                                           ">",          " ",     "im_end", "a", "\xE2\x96\x81",
                                           "<s>",        "</s>"};
  std::mt19937 random(11);
  for (const auto& tokenizer : {testing::ByteTokenizer(), testing::SmallSentencePiece()}) {
    const TokenId end = *tokenizer->FindSpecial("<|im_end|>");
    for (int round = 0; round < 500; ++round) {
      std::string typed;
      for (std::size_t i = random() % 6; i > 0; --i) typed += pieces[random() % pieces.size()];
      const auto ids = tokenizer->EncodeSpans(std::vector<TextSpan>{
          {"<|im_end|>user\n", true}, {typed, false}, {"<|im_end|>\n", true}});
      ASSERT_TRUE(ids);
      int n_control = 0;
      for (const TokenId id : *ids) {
        if (!tokenizer->vocabulary().is_special(id)) continue;
        EXPECT_EQ(id, end);
        ++n_control;
      }
      EXPECT_EQ(n_control, 2) << typed;
    }
  }
}

TEST(TokenizerSpansTest, BadBytes) {
  const auto tokenizer = testing::ByteTokenizer();
  const std::vector<TextSpan> spans = {{"a\xC3", false}, {"<|im_end|>", true}};
  EXPECT_EQ(tokenizer->EncodeSpans(spans).error().place, "byte 1");
  EXPECT_EQ(*tokenizer->EncodeSpans(spans, {.lossy = true}), (Ids{'a', 0xEF, 0xBF, 0xBD, kEnd}));
  // A character cut by a boundary is whole in the joined text.
  EXPECT_EQ(*tokenizer->EncodeSpans(std::vector<TextSpan>{{"\xC3", true}, {"\xA9", false}}),
            (Ids{0xC3, 0xA9}));
  EXPECT_EQ(*tokenizer->EncodeSpans(
                std::vector<TextSpan>{{"\xC3", true}, {"\xA9\xFF", false}, {"<|im_end|>", true}},
                {.lossy = true}),
            (Ids{0xC3, 0xA9, 0xEF, 0xBF, 0xBD, kEnd}));
}

}  // namespace
}  // namespace adjudge
