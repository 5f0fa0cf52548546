// Regexes and grammars against the recogniser of whole texts, and masks against every token.
#include "constraints/automaton/grammar_recognizer.h"

#include <gtest/gtest.h>

#include <random>

#include "constraints/automaton/encoded_language.h"
#include "grammars/ebnf.h"
#include "tests/testing/grammar_twin.h"
#include "tests/testing/random_grammar.h"

namespace adjudge {
namespace {

using testing::GrammarTwin;
using testing::RandomGrammar;

// All texts of up to n letters.
std::vector<std::string> AllTexts(int n) {
  std::vector<std::string> texts = {""};
  for (std::size_t begin = 0; n > 0; --n) {
    const std::size_t end = texts.size();
    for (std::size_t i = begin; i < end; ++i) {
      for (const char* letter : {"a", "b", "\xC3\xA9"}) texts.push_back(texts[i] + letter);
    }
    begin = end;
  }
  return texts;
}

// Whole texts are accepted as the twin says; what is live has an end that the twin accepts, and
// what is dead begins no text of the list that it accepts.
void Compare(Recognizer& recognizer, const Grammar& grammar,
             const std::vector<std::string>& texts) {
  GrammarTwin twin(grammar);
  const Recognizer::State start = recognizer.Start();
  if (start == Recognizer::kDead) {
    ASSERT_FALSE(recognizer.status().has_value());
    for (const std::string& text : texts) ASSERT_FALSE(twin.Accepts(text)) << text;
    return;
  }
  std::vector<std::string> dead;
  for (const std::string& text : texts) {
    const auto state = Walk(recognizer, start, text);
    ASSERT_TRUE(recognizer.status().has_value());
    const bool accepts = state != Recognizer::kDead && recognizer.Accepts(state);
    ASSERT_EQ(accepts, twin.Accepts(text)) << "\"" << text << "\"";
    if (state == Recognizer::kDead || text.size() > 4) continue;
    const auto end = recognizer.ShortestEnd(state);
    ASSERT_TRUE(end.has_value()) << text;
    if (text.size() + end->size() <= 60) {
      ASSERT_TRUE(twin.Accepts(text + *end)) << text << "|" << *end;
    }
    // No accepted text of the list is a shorter end.
    for (const std::string& other : texts) {
      if (other.starts_with(text) && other.size() < text.size() + end->size()) {
        ASSERT_FALSE(twin.Accepts(other)) << text << "|" << *end << " " << other;
      }
    }
  }
}

TEST(GrammarRecognizer, EqualsTheTwinOnRandomGrammars) {
  std::mt19937 random(21);
  const auto texts = AllTexts(4);
  for (int round = 0; round < 400; ++round) {
    const Grammar grammar =
        RandomGrammar(random).Make(1 + static_cast<std::uint32_t>(random() % 3), false);
    GrammarRecognizer recognizer(*BuildNfa(grammar, NfaSymbols::kBytes), {});
    Compare(recognizer, grammar, texts);
    if (HasFatalFailure()) FAIL() << round << "\n" << PrintGrammar(grammar);
  }
}

TEST(CharLanguage, EqualsTheTwinOnRandomRegexes) {
  std::mt19937 random(22);
  const auto texts = AllTexts(4);
  for (int round = 0; round < 400; ++round) {
    const Grammar grammar = RandomGrammar(random).Make(1, true);
    EncodedLanguage recognizer(*CharLanguage::FromGrammar(grammar), Encoding::kUtf8);
    GrammarTwin twin(grammar);
    const auto start = recognizer.Start();
    for (const std::string& text : texts) {
      const auto state = start == Recognizer::kDead ? start : Walk(recognizer, start, text);
      const bool accepts = state != Recognizer::kDead && recognizer.Accepts(state);
      ASSERT_EQ(accepts, twin.Accepts(text)) << round << " \"" << text << "\"";
      if (state == Recognizer::kDead) continue;
      const auto end = recognizer.ShortestEnd(state);
      ASSERT_TRUE(end.has_value());
      if (text.size() + end->size() <= 60) {
        ASSERT_TRUE(twin.Accepts(text + *end)) << round << " " << text << "|" << *end;
      }
    }
  }
}

TEST(GrammarRecognizer, RightRecursionAndListsTakeNoRoom) {
  for (const char* text : {"root ::= \"a\" root | \"b\"", "root ::= root \"a\" | \"a\"",
                           "root ::= \"[\" item (\",\" item)* \"]\"\nitem ::= [0-9]+ | root"}) {
    GrammarRecognizer recognizer(*BuildNfa(*ParseGrammar(text), NfaSymbols::kBytes), {});
    std::string piece = text[10] == '[' ? "" : "aaaa";
    auto state = recognizer.Start();
    if (piece.empty()) {
      state = Walk(recognizer, state, "[");
      piece = "12,";
    }
    state = Walk(recognizer, state, piece);
    const auto later = Walk(recognizer, state, piece + piece);
    EXPECT_EQ(state, later) << text;
  }
}

TEST(GrammarRecognizer, DeepNestingAndAmbiguityAreBounded) {
  const auto grammar = ParseGrammar("root ::= root root | \"(\" root \")\" | \"\" | root");
  ASSERT_TRUE(grammar.has_value());
  GrammarRecognizer recognizer(*BuildNfa(*grammar, NfaSymbols::kBytes), {});
  recognizer.Refuel(100'000'000);
  auto state = Walk(recognizer, recognizer.Start(), std::string(300, '('));
  EXPECT_TRUE(recognizer.status().has_value());
  ASSERT_NE(state, Recognizer::kDead);
  EXPECT_EQ(recognizer.ShortestEnd(state), std::string(300, ')'));
  state = Walk(recognizer, state, std::string(300, ')'));
  ASSERT_NE(state, Recognizer::kDead);
  EXPECT_TRUE(recognizer.Accepts(state));
  EXPECT_EQ(recognizer.Next(state, ')'), Recognizer::kDead);
}

}  // namespace
}  // namespace adjudge
