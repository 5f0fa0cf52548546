// Masks equal those of feeding every token, bit for bit.
#include <gtest/gtest.h>

#include <random>

#include "constraints/automaton/encoded_language.h"
#include "constraints/mask/mask_table.h"
#include "constraints/mask/recognized_constraint.h"
#include "tests/testing/mask_twin.h"
#include "tests/testing/vocab_file.h"

namespace adjudge {
namespace {

using testing::TwinMask;

// Every byte, and random texts of the letters given; a stop, a control and an unused token.
Vocabulary RandomVocabulary(std::mt19937& random, const std::string& letters) {
  std::vector<Vocabulary::Entry> entries;
  for (int byte = 0; byte < 256; ++byte)
    entries.push_back({std::string(1, static_cast<char>(byte))});
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (std::size_t n = 2 + random() % 6; n > 0; --n) text += letters[random() % letters.size()];
    entries.push_back({text});
  }
  for (const char* text :
       {"\xF0\x9F\x98\x80", "\xC3\xA9t", "\xE2\x82", "\x98\x80\"", "\"", "\"\"", "a\"b\"", "\\u00",
        "41", "\\ud83d\\ude00", "\\", "abc\\n", "\\\"", "    ", "aaaaaaaaaaaa"}) {
    entries.push_back({text});
  }
  entries.push_back({"", TokenKind::kNormal});
  entries.push_back({"<end>", TokenKind::kControl});
  entries.push_back({"<ctl>", TokenKind::kControl});
  entries.push_back({"<unused>", TokenKind::kUnused});
  std::shuffle(entries.begin(), entries.end(), random);
  TokenId stop = 0;
  while (entries[static_cast<std::size_t>(stop)].bytes != "<end>") ++stop;
  const int width = static_cast<int>(entries.size() + random() % 70);
  return Vocabulary(std::move(entries), width, {stop});
}

// Walks by mask, comparing every mask on the way.
void WalkAndCompare(Recognizer& recognizer, const Vocabulary& vocabulary,
                    const VocabularyIndex& index, std::mt19937& random, int steps) {
  MaskTable table(recognizer, index, std::size_t{1} << 20);
  TokenMask mask(vocabulary.width());
  for (int walk = 0; walk < 3; ++walk) {
    Recognizer::State state = recognizer.Start();
    ASSERT_NE(state, Recognizer::kDead);
    for (int step = 0; step < steps; ++step) {
      ASSERT_TRUE(table.Fill(state, mask).has_value());
      const TokenMask twin = TwinMask(recognizer, state, vocabulary);
      for (TokenId id = 0; id < vocabulary.size(); ++id) {
        ASSERT_EQ(mask.test(id), twin.test(id)) << id << " \"" << vocabulary.bytes(id) << "\"";
      }
      ASSERT_EQ(mask, twin);
      std::vector<TokenId> ids;
      for (TokenId id = 0; id < vocabulary.size(); ++id) {
        if (mask.test(id) && !vocabulary.is_stop(id)) ids.push_back(id);
      }
      if (ids.empty()) break;
      state = Walk(recognizer, state, vocabulary.bytes(ids[random() % ids.size()]));
    }
  }
}

const char* const kRegexes[] = {
    "[a-z]*",
    "[^\"]*",
    ".{0,5}",
    "[^]{3,20}",
    "[a-z ]{2,9}\"",
    "(a|b)*abb",
    "[ab]{1,3}(\"[ab]*\")*",
    "\\w+( \\w+){0,3}",
    "[^\\x00-\\x1f\"\\\\]*",
    "[\xC3\xA9-\xF0\x9F\x98\x80]+",
    "(\xF0\x9F\x98\x80|\xC3\xA9t)*",
    "[A-Za-z0-9_-]{4}",
    "-?(0|[1-9][0-9]*)(\\.[0-9]+)?",
    "(aa|b){2,40}",
    "[^a]*a[^a]*",
    "\xE2\x82\xAC.*",
};

TEST(Mask, EqualsTheTwinOnSmallVocabularies) {
  std::mt19937 random(3);
  for (const char* regex : kRegexes) {
    for (const auto match : {RegexMatch::kWhole, RegexMatch::kSearch}) {
      for (const auto encoding : {Encoding::kUtf8, Encoding::kJsonString}) {
        const Vocabulary vocabulary = RandomVocabulary(random, "ab\" \\u0Z");
        const VocabularyIndex index(vocabulary);
        EncodedLanguage recognizer(*CharLanguage::FromRegex(regex, match), encoding);
        WalkAndCompare(recognizer, vocabulary, index, random, 25);
        if (HasFatalFailure())
          FAIL() << regex << " " << static_cast<int>(match) << " " << static_cast<int>(encoding);
      }
    }
  }
}

TEST(Mask, EqualsTheTwinOnTheRealVocabulary) {
  ADJUDGE_DATA_OR_SKIP(path, "vocab/qwen3.vocab");
  const Vocabulary vocabulary = testing::ReadVocabFile(path, 267);
  const VocabularyIndex index(vocabulary);
  std::mt19937 random(4);
  for (const char* regex : kRegexes) {
    for (const auto encoding : {Encoding::kUtf8, Encoding::kJsonString}) {
      EncodedLanguage recognizer(*CharLanguage::FromRegex(regex, RegexMatch::kWhole), encoding);
      WalkAndCompare(recognizer, vocabulary, index, random, 2);
      if (HasFatalFailure()) FAIL() << regex << " " << static_cast<int>(encoding);
    }
  }
}

TEST(Mask, ClassMasksAgreeOnEveryInstructionSet) {
  std::mt19937 random(6);
  for (const std::size_t n_words : {1u, 2u, 3u, 7u, 64u}) {
    const std::size_t padded = (n_words + 1) / 2 * 64;
    std::vector<std::uint8_t> signatures(padded);
    std::vector<std::uint8_t> lengths(padded);
    for (auto& value : signatures) value = static_cast<std::uint8_t>(random());
    for (auto& value : lengths) value = static_cast<std::uint8_t>(random());
    for (int round = 0; round < 50; ++round) {
      const auto refused = static_cast<std::uint8_t>(random() & random());
      const auto room = static_cast<std::uint8_t>(random());
      std::vector<std::uint32_t> scalar(n_words);
      FillClassMask(MaskIsa::kScalar, signatures.data(), lengths.data(), refused, room, scalar);
      for (int isa = 0; isa <= static_cast<int>(BestMaskIsa()); ++isa) {
        std::vector<std::uint32_t> words(n_words);
        FillClassMask(static_cast<MaskIsa>(isa), signatures.data(), lengths.data(), refused, room,
                      words);
        EXPECT_EQ(words, scalar) << isa;
      }
      for (std::size_t i = 0; i < n_words * 32; ++i) {
        const bool in = (signatures[i] & refused) == 0 && lengths[i] <= room;
        ASSERT_EQ((scalar[i / 32] >> (i % 32)) & 1U, in ? 1u : 0u);
      }
    }
  }
}

}  // namespace
}  // namespace adjudge
