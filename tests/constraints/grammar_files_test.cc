// The grammars that come with adjudge, each with texts that it accepts and refuses.
#include <gtest/gtest.h>

#include "constraints/compiler.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using Texts = std::vector<std::string>;

const Vocabulary& Bytes() {
  static const Vocabulary vocabulary = [] {
    std::vector<Vocabulary::Entry> entries;
    for (int byte = 0; byte < 256; ++byte)
      entries.push_back({std::string(1, static_cast<char>(byte))});
    return Vocabulary(std::move(entries), 256, {});
  }();
  return vocabulary;
}

TEST(GrammarFiles, AcceptAndRefuse) {
  struct Row {
    std::string file;
    Texts accepted;
    Texts rejected;
  };
  const std::vector<Row> rows = {
      {"json",
       {"{}", "[]", " [1, -2.5e+10, true,false , null ]",
        "{\"a\":{\"b\":[\"\\n\\u00e9\xC3\xA9\"]}}", "\"\\ud83d\\ude00\"", "0", "-0", "\"\x7F\""},
       {"", "{", "{a:1}", "[1,]", "01", "1.", "\"\n\"", "\"\\x\"", "\"\\ud83d\"", "\"\\ude00\"",
        "{} {}", "nul", "\"\xED\xA0\x80\""}},
      {"jsonl", {"{\"a\": 1}\n{\"a\":2}\n", "[1, 2]"}, {"", "1", "{\"a\":1}\n\n", "{\"a\":\n1}"}},
      {"csv",
       {"a,b\r\n1,\"x, \"\"y\"\"\"\n", "", ",", "\"two\nlines\""},
       {"a\"b", "\"open", "\"a\"b", "a\rb"}},
      {"arithmetic",
       {"1+2", "1 + 2 * (3 - x)", "2^3^4", "--1", "max(1, 2.5)", "f()"},
       {"", "1+", "(1", "1 2", "1++", "max(1,)"}},
      {"iso-date",
       {"2024-02-29", "2026-12-31T23:59:59Z", "1999-01-01T00:00:00.123+05:30"},
       {"2024-02-30", "2024-04-31", "2024-13-01", "2024-1-1", "2024-01-01T24:00:00Z",
        "2024-01-01T00:00:00"}},
      {"sql-select",
       {"SELECT * FROM t;",
        "SELECT a, COUNT(*) AS n FROM t AS x LEFT JOIN u ON x.id = u.id WHERE a > 3 AND b LIKE "
        "'%o''k%' "
        "GROUP BY a HAVING COUNT(*) > 1 ORDER BY n DESC LIMIT 10;",
        "SELECT DISTINCT (a + 1) * 2 FROM t WHERE (a = 1 OR b IS NOT NULL) AND c IN (1, 'x') AND d "
        "BETWEEN 1 AND 2;"},
       {"SELECT FROM t;", "SELECT * FROM t", "select * from t;", "SELECT * FROM t WHERE;",
        "DROP TABLE t;"}},
      {"chess",
       {"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6", "1. exd8=Q+ O-O-O# 1-0", "12. Nbd2!? R1xa3"},
       {"1. e9", "1.e4", "e4", "1. e4 e5 e6"}},
      {"c-expression",
       {"a = b ? c[1]->d.e(1, \"x\\n\") : -*p++", "x<<=0xFFu", "(a && b) || !c", "'\\''",
        "sizeof x + 1.5e3f"},
       {"", "a =", "a b", "1 +", "f(,)", "'ab'", "\"open"}},
  };
  const ConstraintCompiler compiler(Bytes());
  for (const Row& row : rows) {
    const std::string text =
        testing::ReadFile(testing::SourceFolder() / "grammars/files" / (row.file + ".ebnf"));
    const auto grammar = ParseGrammar(text);
    ASSERT_TRUE(grammar.has_value()) << row.file << ": " << ToString(grammar.error());
    EXPECT_TRUE(UnusedRules(*grammar).empty()) << row.file << " " << UnusedRules(*grammar)[0];
    const auto again = ParseGrammar(PrintGrammar(*grammar));
    ASSERT_TRUE(again.has_value())
        << row.file << ": " << ToString(again.error()) << PrintGrammar(*grammar);
    EXPECT_TRUE(*again == *grammar) << row.file;
    const auto constraint = compiler.Compile(ConstraintSpec::Grammar(text));
    ASSERT_TRUE(constraint.has_value()) << row.file << ": " << ToString(constraint.error());
    for (const auto& accepted : row.accepted) {
      const auto verdict = (*constraint)->Check(accepted);
      EXPECT_EQ(verdict->verdict, Verdict::kAccepted)
          << row.file << ": " << accepted << " at " << verdict->offset;
    }
    for (const auto& rejected : row.rejected) {
      EXPECT_NE((*constraint)->Check(rejected)->verdict, Verdict::kAccepted)
          << row.file << ": " << rejected;
    }
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto sample = (*constraint)->Sample(seed, 60);
      ASSERT_TRUE(sample.has_value()) << row.file;
      EXPECT_EQ((*constraint)->Check(*sample)->verdict, Verdict::kAccepted) << row.file << *sample;
    }
  }
}

}  // namespace
}  // namespace adjudge
