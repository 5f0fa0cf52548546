// Fast paths against slow twins, and round trips over all of Unicode.
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/base/utf8.h"
#include "engine/text/bpe_merger.h"
#include "engine/text/charsmap.h"
#include "engine/text/nfc.h"
#include "engine/text/sentencepiece_tokenizer.h"
#include "engine/tokenizer.h"
#include "tests/testing/small_tokenizers.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using Ids = std::vector<TokenId>;

// Joins the leftmost pair of the lowest rank until none is left.
Ids MergeSlowly(Ids word, const std::vector<BpeRule>& rules) {
  for (;;) {
    std::size_t best = rules.size();
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < word.size(); ++i) {
      for (std::size_t rank = 0; rank < best; ++rank) {
        if (rules[rank].left == word[i] && rules[rank].right == word[i + 1]) {
          best = rank;
          at = i;
        }
      }
    }
    if (best == rules.size()) return word;
    word[at] = rules[best].merged;
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

TEST(BpeMergerTest, EqualsTheSlowTwin) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::map<std::pair<TokenId, TokenId>, int> seen;
    std::vector<BpeRule> rules;
    TokenId next = 4;
    for (std::size_t i = random() % 12; i > 0; --i) {
      const auto left = static_cast<TokenId>(random() % static_cast<unsigned>(next));
      const auto right = static_cast<TokenId>(random() % static_cast<unsigned>(next));
      if (seen[{left, right}]++ == 0) rules.push_back({left, right, next++});
    }
    std::shuffle(rules.begin(), rules.end(), random);
    const BpeMerger merger(rules);
    // Lengths on both sides of where the heap takes over, and behind a prefix that stays.
    Ids word(random() % 80);
    for (TokenId& id : word) id = static_cast<TokenId>(random() % 4);
    Ids merged = {7, 7};
    merged.insert(merged.end(), word.begin(), word.end());
    merger.Merge(merged, 2);
    Ids want = {7, 7};
    const Ids slow = MergeSlowly(word, rules);
    want.insert(want.end(), slow.begin(), slow.end());
    EXPECT_EQ(merged, want);
  }
}

// Every code point on its own and between letters, planes sampled.
std::vector<std::string> UnicodeSamples() {
  std::vector<std::string> samples;
  std::mt19937 random(2);
  for (char32_t plane = 0; plane < 17; ++plane) {
    for (int i = 0; i < 300; ++i) {
      const char32_t code =
          plane << 16 | (plane == 0 && i < 256 ? static_cast<char32_t>(i) : random() & 0xFFFF);
      if (code >= 0xD800 && code < 0xE000) continue;
      std::string text;
      AppendUtf8(code, text);
      samples.push_back(text);
      samples.push_back("a " + text + text + "b");
    }
  }
  return samples;
}

void ExpectRoundTrips(const Tokenizer& tokenizer, bool nfc) {
  for (const std::string& text : UnicodeSamples()) {
    const auto ids = tokenizer.Encode(text);
    if (!ids) {  // a vocabulary without some bytes says so, and can do with U+FFFD
      EXPECT_EQ(ids.error().code, ErrorCode::kUnsupported) << ToString(ids.error());
      EXPECT_TRUE(tokenizer.Encode(text, {.lossy = true}));
      continue;
    }
    EXPECT_EQ(tokenizer.Decode(*ids), nfc ? *ToNfc(text) : text);
  }
}

TEST(TokenizerRoundTripTest, SmallVocabularies) {
  ExpectRoundTrips(*testing::ByteTokenizer(), false);
  ExpectRoundTrips(*testing::SmallSentencePiece(), false);
  for (const char* pre : {"smollm", "llama-bpe"}) {
    ExpectRoundTrips(*testing::LoadGguf(testing::ByteTokenizerGguf(pre)), false);
  }
  ExpectRoundTrips(*testing::LoadGguf(testing::ByteTokenizerGguf("qwen2")), true);
}

struct ModelRow {
  const char* file;
  bool nfc;
};

TEST(TokenizerRoundTripTest, RealVocabularies) {
  int tried = 0;
  for (const ModelRow& row :
       {ModelRow{"default", false}, ModelRow{"q05.gguf", true}, ModelRow{"g3.gguf", false}}) {
    const auto path = testing::ModelPath(row.file);
    if (!path) continue;
    SCOPED_TRACE(row.file);
    ExpectRoundTrips(**Tokenizer::Load(*path), row.nfc);
    ++tried;
  }
  if (tried == 0) GTEST_SKIP() << "no model: default, q05.gguf, g3.gguf";
}

// Long runs go through the paths that short text does not reach; a quadratic one would not end.
TEST(TokenizerRoundTripTest, LongRuns) {
  const auto byte_level = testing::ByteTokenizer();
  const auto qwen2 = testing::LoadGguf(testing::ByteTokenizerGguf("qwen2"));
  const auto pieces = testing::SmallSentencePiece();
  for (const std::string unit :
       {"!", " ", "\n", "7", "\xCC\x81", "th", " \n", "<", "\xE5\xAD\x97"}) {
    std::string text;
    while (text.size() < 300'000) text += unit;
    for (const auto& tokenizer : {byte_level, qwen2, pieces}) {
      const auto ids = tokenizer->Encode(text, {.parse_special = true});
      ASSERT_TRUE(ids) << ToString(ids.error());
      EXPECT_TRUE(tokenizer->Decode(*ids) == text) << unit;
    }
  }
}

// The unigram path of our own against the packaged library. The library tells equally likely
// segmentations apart by rounding, so where ids differ their scores must not.
TEST(UnigramSegmenterTest, AsLikelyAsTheLibrarys) {
  for (const char* name : {"sentencepiece-test_model.model", "sentencepiece-test_ja_model.model"}) {
    ADJUDGE_DATA_OR_SKIP(path, std::string("tokenizers/") + name);
    ADJUDGE_DATA_OR_SKIP(book, "tokenizers/botchan.txt");
    const auto tokenizer = Tokenizer::Load(path);
    ASSERT_TRUE(tokenizer) << ToString(tokenizer.error());
    sentencepiece::SentencePieceProcessor library;
    ASSERT_TRUE(library.Load(path.string()).ok());
    const std::string text = testing::ReadFile(book);
    std::vector<std::string> samples = UnicodeSamples();
    for (std::size_t at = 0; at + 200 < text.size(); at += 997) {
      samples.push_back(RepairUtf8(text.substr(at, 200)));
    }
    int n_different = 0;
    for (const std::string& sample : samples) {
      const Ids ids = *(*tokenizer)->Encode(sample);
      const std::vector<int> want = library.EncodeAsIds(sample);
      if (ids == want) continue;
      ++n_different;
      double ours = 0;
      double theirs = 0;
      for (const TokenId id : ids) ours += static_cast<double>(library.GetScore(id));
      for (const int id : want) theirs += static_cast<double>(library.GetScore(id));
      EXPECT_NEAR(ours, theirs, 1e-3) << sample;
    }
    EXPECT_LT(n_different, 20);
  }
}

TEST(TokenizerRoundTripTest, DecodesAsTheLibrary) {
  for (const char* name : {"mistral-v1-tokenizer.model", "openllama-3b-tokenizer.model",
                           "sentencepiece-test_model.model"}) {
    ADJUDGE_DATA_OR_SKIP(path, std::string("tokenizers/") + name);
    const auto tokenizer = Tokenizer::Load(path);
    ASSERT_TRUE(tokenizer) << ToString(tokenizer.error());
    sentencepiece::SentencePieceProcessor library;
    ASSERT_TRUE(library.Load(path.string()).ok());
    std::vector<std::string> samples = UnicodeSamples();
    for (const char* text :
         {"", " ", "  a", "\xE2\x96\x81", "\xE2\x96\x81\xE2\x96\x81 a", " \n a "}) {
      samples.emplace_back(text);
    }
    for (const std::string& sample : samples) {
      const Ids ids = *(*tokenizer)->Encode(sample);
      EXPECT_EQ((*tokenizer)->Decode(ids), library.DecodeIds({ids.begin(), ids.end()})) << sample;
    }
  }
}

TEST(Utf8Test, MaximalBadParts) {
  struct Row {
    const char* text;
    int first_bad;  // -1 = valid
    int n_replaced;
  };
  for (const Row& row : std::vector<Row>{{"", -1, 0},
                                         {"plain ASCII of more than eight bytes", -1, 0},
                                         {"\xF4\x8F\xBF\xBF", -1, 0},
                                         {"\xED\x9F\xBF\xEE\x80\x80", -1, 0},
                                         {"12345678\x80", 8, 1},
                                         {"\xE3\x81", 0, 1},
                                         {"ok \xFF\xFE end", 3, 2},
                                         {"\xED\xA0\x80", 0, 3},
                                         {"a\xF0\x9F\x98", 1, 1},
                                         {"\xC0\xAF", 0, 2},
                                         {"\xF4\x90\x80\x80", 0, 4},
                                         {"\xF0\x80\x80\x80", 0, 4},
                                         {"\xE0\x9F\xBF", 0, 3},
                                         {"\xF1\x80\x80z", 0, 1}}) {
    const auto bad = FirstInvalidUtf8(row.text);
    EXPECT_EQ(bad ? static_cast<int>(*bad) : -1, row.first_bad) << row.text;
    const std::string repaired = RepairUtf8(row.text);
    EXPECT_FALSE(FirstInvalidUtf8(repaired));
    int n = 0;
    for (std::size_t at = repaired.find(kReplacementCharacter); at != std::string::npos;
         at = repaired.find(kReplacementCharacter, at + 1)) {
      ++n;
    }
    EXPECT_EQ(n, row.n_replaced) << row.text;
  }
}

TEST(NfcTest, Forms) {
  struct Row {
    const char* text;
    const char* nfc;
  };
  for (const Row& row :
       std::vector<Row>{{"plain", "plain"},
                        {"e\xCC\x81", "\xC3\xA9"},
                        {"\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", "\xEA\xB0\x81"},  // Hangul
                        {"\xE2\x84\xAB", "\xC3\x85"},                              // Angstrom sign
                        {"a\xCC\x81\xCC\xA3", "\xE1\xBA\xA1\xCC\x81"},    // marks out of order
                        {"\xE0\xBD\xB3", "\xE0\xBD\xB1\xE0\xBD\xB2"}}) {  // excluded from composing
    EXPECT_EQ(*ToNfc(row.text), row.nfc);
    if (IsSurelyNfc(row.text)) {
      EXPECT_STREQ(row.text, row.nfc);
    }
  }
}

TEST(CharsmapTest, MalformedTablesAreRefused) {
  const auto word = [](std::uint32_t value) { return testing::LittleEndian(value); };
  const auto map = [&](std::vector<std::pair<std::size_t, std::uint32_t>> units,
                       const std::string& strings) {
    std::vector<std::uint32_t> trie(512);
    for (const auto& [at, bits] : units) trie[at] = bits;
    std::string bytes = word(512 * 4);
    for (const std::uint32_t unit : trie) bytes += word(unit);
    return bytes + strings;
  };
  const std::uint32_t leaf = 1U << 8;
  // 'A' -> "b": the root links to block 256, where 'A' has a leaf, whose value stands at its base.
  const std::uint32_t root = 256U << 10;
  const std::uint32_t node = 'A' | leaf | (512U - 256U) << 10;  // back to block 0
  const std::string nul(1, '\0');
  const auto good = Charsmap::Parse(map({{0, root}, {256 + 'A', node}}, "b" + nul));
  ASSERT_TRUE(good) << ToString(good.error());
  EXPECT_EQ(good->Find("AA").length, 1U);
  EXPECT_EQ(good->Find("AA").replacement, "b");
  EXPECT_EQ(good->Find("B").length, 0U);
  EXPECT_EQ(Charsmap::Parse("")->Find("A").length, 0U);

  const std::vector<std::string> bad = {
      "abc",
      word(100) + std::string(200, '\0'),
      word(1 << 30) + std::string(2000, '\0'),
      map({}, ""),
      map({}, "no end"),
      map({{0, (1U << 20) << 10}}, nul),                                 // link far away
      map({{0, root}, {256 + 'A', node}, {'A', 7}}, nul),                // value past
      map({{0, root}, {256 + 'A', node}}, std::string(257, 'x') + nul),  // too long
      map({{0, root}, {256 + 'A', 'A' | (('A' ^ 0U) << 10)}}, nul),      // a circle
  };
  for (std::size_t i = 0; i < bad.size(); ++i) EXPECT_FALSE(Charsmap::Parse(bad[i])) << i;
}

// A normaliser that writes half a character must not lead the segmenter past the end.
TEST(CharsmapTest, ReplacementsThatAreNotUtf8) {
  std::vector<std::uint32_t> trie(512);
  trie[0] = 256U << 10;
  trie[256 + 'A'] = 'A' | 1U << 8 | (512U - 256U) << 10;
  SentencePieceModel model;
  model.charsmap = testing::LittleEndian(std::uint32_t{2048});
  for (const std::uint32_t unit : trie) model.charsmap += testing::LittleEndian(unit);
  model.charsmap += std::string("\xF0\0", 2);
  model.pieces = {{"<unk>", 0, SentencePieceModel::PieceType::kUnknown}, {"b", -1}};
  const auto tokenizer = MakeSentencePieceTokenizer(model, {}, "pieces", {});
  ASSERT_TRUE(tokenizer) << ToString(tokenizer.error());
  EXPECT_EQ(*(*tokenizer)->Encode("bA", {.starts_text = false}), (Ids{1, 0}));
  model.pieces[1].text = "\x81";
  EXPECT_FALSE(MakeSentencePieceTokenizer(model, {}, "pieces", {}));
}

}  // namespace
}  // namespace adjudge
