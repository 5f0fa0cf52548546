#include "grammars/ebnf.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/testing/grammar_twin.h"
#include "tests/testing/random_grammar.h"

namespace adjudge {
namespace {

using testing::GrammarTwin;

TEST(Ebnf, ErrorsNamePlacePieceAndExpectation) {
  struct Row {
    std::string text;
    ErrorCode code;
    std::string place;
    std::vector<std::string> words;
  };
  const auto kBad = ErrorCode::kMalformed;
  const std::vector<Row> rows = {
      {"", kBad, "line 1, column 1", {"expected a rule", "found none"}},
      {"root ::= \"a", kBad, "line 1, column 12", {"expected '\"'", "found the end"}},
      {"root ::= (\"a\"", kBad, "line 1, column 14", {"expected ')'", "found the end"}},
      {"root ::= \"a\" )", kBad, "line 1, column 14", {"found \")\""}},
      {"root := [a", kBad, "line 1, column 11", {"expected ']'"}},
      {"root ::= [z-a]", kBad, "line 1, column 11", {"low to high", "z-a"}},
      {"root ::= \"\\q\"", kBad, "line 1, column 11", {"no escape", "\\q"}},
      {"root ::= \"\\x4\"", kBad, "line 1, column 11", {"2 hex digits"}},
      {"root ::= \"\\uD800\"", kBad, "line 1, column 11", {"surrogate"}},
      {"root ::= a\nb ::= \"x\"", kBad, "line 1, column 10", {"\"a\" is not defined"}},
      {"root ::= \"a\"\nroot ::= \"b\"",
       kBad,
       "line 2, column 1",
       {"defined twice", "line 1, column 1"}},
      {"root ::= \"a\"{3,2}", kBad, "line 1, column 13", {"most below least"}},
      {"root ::= \"a\"{2", kBad, "line 1, column 15", {"expected '}'"}},
      {"root ::= \"a\"{200000000}", ErrorCode::kLimit, "line 1, column 13", {"max_repeat"}},
      {"root ::= <[12>", kBad, "line 1, column 14", {"expected ']'"}},
      {"root\n  \"a\"", kBad, "line 2, column 3", {"expected \"::=\"", "found \"\"a\""}},
      {"\xC3\xA9", kBad, "line 1, column 1", {"found \"\xC3\xA9\""}},
      {"root ::= \"\xFF\"", kBad, "line 1, column 11", {"not UTF-8"}},
      {"root ::= * \"a\"", kBad, "line 1, column 10", {"found \"* "}},
      {"root ::= " + std::string(201, '(') + std::string(201, ')'),
       ErrorCode::kLimit,
       "line 1, column 210",
       {"max_depth"}},
  };
  for (const Row& row : rows) {
    const auto made = ParseGrammar(row.text);
    ASSERT_FALSE(made.has_value()) << row.text;
    EXPECT_EQ(made.error().code, row.code) << ToString(made.error());
    EXPECT_EQ(made.error().place, row.place) << ToString(made.error());
    for (const auto& words : row.words) {
      EXPECT_NE(made.error().message.find(words), std::string::npos) << ToString(made.error());
    }
  }
  EXPECT_TRUE(
      ParseGrammar("root ::= " + std::string(200, '(') + std::string(200, ')')).has_value());
  EXPECT_EQ(ParseGrammar("root ::= \"a\"", {.max_bytes = 11}).error().code, ErrorCode::kLimit);
  EXPECT_EQ(ParseGrammar("a ::= \"a\" b ::= a", {.max_rules = 1}).error().code, ErrorCode::kLimit);
}

TEST(Ebnf, Spellings) {
  struct Row {
    std::string text;
    std::vector<std::string> accepted;
    std::vector<std::string> rejected;
  };
  const std::vector<Row> rows = {
      {"root ::= \"a\" | 'b'", {"a", "b"}, {"ab", ""}},
      {"# comment\nroot = \"a\", b ; # more\nb = [x-z]{2,3};", {"axy", "azzz"}, {"ax", "a"}},
      {"/* w3c */ expr ::= #x41 [#x42-#x44]* (* iso *) | { \"(\" }",
       {"A", "ABCD", "", "((("},
       {"E", "(A"}},
      {"root ::= x\n  | y\nx ::= \"1\"\ny ::=\n  \"2\"", {"1", "2"}, {"12"}},
      {"root ::= \"a\" root-2? root_3{,2}\nroot-2 ::= \"b\"\nroot_3 ::= \"c\"",
       {"a", "abcc", "ac"},
       {"accc"}},
      {"root ::= \"\\n\\t\\x41\\u00e9\\U0001F600\\\\\\\"\"",
       {"\n\tA\xC3\xA9\xF0\x9F\x98\x80\\\""},
       {"nA"}},
      {"root ::= [^\"\\\\\\]]+ \".\" . ", {"ab.x", "\n.\n"}, {"\".x", "].x", "a."}},
      {"other ::= \"o\"\nroot ::= other \"r\"", {"or"}, {"o"}},
      {"a ::= b\nb ::= \"first\"", {"first"}, {""}},
      {"root ::= \"a\"{0} \"b\"{1}", {"b"}, {"ab"}},
      {"root ::= \"\"", {""}, {"a"}},
      {"root ::= ", {""}, {"a"}},
      {"root ::= [-a] [a-] [a\\-z]", {"-a-", "a-z"}, {"b--"}},
  };
  for (const Row& row : rows) {
    const auto grammar = ParseGrammar(row.text);
    ASSERT_TRUE(grammar.has_value()) << row.text << ToString(grammar.error());
    GrammarTwin twin(*grammar);
    for (const auto& text : row.accepted)
      EXPECT_TRUE(twin.Accepts(text)) << row.text << ": " << text;
    for (const auto& text : row.rejected)
      EXPECT_FALSE(twin.Accepts(text)) << row.text << ": " << text;
  }
}

TEST(Ebnf, TokensAreKept) {
  const auto grammar = ParseGrammar("root ::= <think> !<[7]>* </think>");
  ASSERT_TRUE(grammar.has_value()) << ToString(grammar.error());
  EXPECT_EQ(PrintGrammar(*grammar), "root ::= <think> !<[7]>* </think>\n");
}

TEST(Ebnf, PrintedGrammarsParseToThemselves) {
  std::mt19937 random(9);
  for (int round = 0; round < 500; ++round) {
    const Grammar grammar =
        testing::RandomGrammar(random).Make(1 + static_cast<std::uint32_t>(random() % 4), false);
    const std::string text = PrintGrammar(grammar);
    const auto again = ParseGrammar(text);
    ASSERT_TRUE(again.has_value()) << text << ToString(again.error());
    ASSERT_EQ(PrintGrammar(*again), text);
    ASSERT_TRUE(*again == grammar) << text;
  }
}

TEST(Ebnf, TellsUnusedRules) {
  EXPECT_EQ(UnusedRules(*ParseGrammar("root ::= a a ::= \"x\" b ::= c c ::= b \"y\"")),
            (std::vector<std::string>{"b", "c"}));
}

}  // namespace
}  // namespace adjudge
