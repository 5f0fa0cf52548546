// Masks of schemas equal those of feeding every token, bit for bit.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <sstream>

#include "constraints/compiler.h"
#include "constraints/json_schema.h"
#include "constraints/mask/mask_table.h"
#include "constraints/mask/vocabulary_index.h"
#include "constraints/schema/json_value.h"
#include "tests/testing/mask_twin.h"
#include "tests/testing/schema_rows.h"
#include "tests/testing/vocab_file.h"

namespace adjudge::testing {
namespace {

// Every byte, and pieces as tokenizers have them, with quotes in all places.
Vocabulary JsonVocabulary() {
  std::vector<Vocabulary::Entry> entries;
  for (int byte = 0; byte < 256; ++byte) {
    entries.push_back({std::string(1, static_cast<char>(byte))});
  }
  for (const char* text : {"\":",
                           "\",",
                           "\"}",
                           "\"]",
                           "\":\"",
                           "\",\"",
                           "{\"",
                           "[\"",
                           "\"}}",
                           "\"},{\"",
                           "\"],",
                           "],",
                           "},",
                           "}}",
                           "]]",
                           ": ",
                           ", ",
                           "\": ",
                           "\", \"",
                           "a\":",
                           "b\":1",
                           "a\":\"b\",\"",
                           "\"a\":1",
                           "\"\"",
                           "a",
                           "ab",
                           "abc",
                           "aa",
                           "tr",
                           "true",
                           "false",
                           "null",
                           "nul",
                           "10",
                           "100",
                           "25",
                           "2.5",
                           ".5",
                           "0.",
                           "1e",
                           "e2",
                           "-1",
                           "-2",
                           "\n",
                           "\n  ",
                           "    ",
                           "\\u",
                           "\\u00",
                           "0061",
                           "\\n",
                           "\\\"",
                           "\\ud83d\\ude00",
                           "\xC3\xA9",
                           "\xC3",
                           "\xA9\"",
                           "x1",
                           "y\"",
                           "\"t\":\"n\"",
                           "\"t\":\"s\",\"v\":",
                           "[1,",
                           "1,2",
                           "3]",
                           "[]",
                           "{}",
                           "{\"c\":[{\"v\":1}"}) {
    entries.push_back({text});
  }
  entries.push_back({"<end>", TokenKind::kControl});
  const auto stop = static_cast<TokenId>(entries.size() - 1);
  const int width = static_cast<int>(entries.size()) + 5;
  return Vocabulary(std::move(entries), width, {stop});
}

void WalkAndCompare(Recognizer& recognizer, const Vocabulary& vocabulary,
                    const VocabularyIndex& index, std::mt19937& random, int walks, int steps) {
  MaskTable table(recognizer, index, std::size_t{1} << 20);
  TokenMask mask(vocabulary.width());
  for (int walk = 0; walk < walks; ++walk) {
    recognizer.Refuel(std::int64_t{1} << 40);
    Recognizer::State state = recognizer.Start();
    ASSERT_NE(state, Recognizer::kDead);
    std::string text;
    for (int step = 0; step < steps; ++step) {
      const auto filled = table.Fill(state, mask);
      ASSERT_TRUE(filled.has_value()) << ToString(filled.error());
      const TokenMask twin = TwinMask(recognizer, state, vocabulary);
      for (TokenId id = 0; id < vocabulary.size(); ++id) {
        ASSERT_EQ(mask.test(id), twin.test(id))
            << "after " << text << ": \"" << vocabulary.bytes(id) << "\"";
      }
      ASSERT_FALSE(mask.none()) << text;
      std::vector<TokenId> ids;
      for (TokenId id = 0; id < vocabulary.size(); ++id) {
        // Longer tokens are rarer, and lead further.
        if (!mask.test(id) || vocabulary.is_stop(id)) continue;
        for (std::size_t k = 0; k < vocabulary.bytes(id).size(); ++k) ids.push_back(id);
      }
      if (ids.empty()) break;
      const std::string_view bytes = vocabulary.bytes(ids[random() % ids.size()]);
      state = Walk(recognizer, state, bytes);
      text += bytes;
    }
  }
}

class SchemaMaskTest : public ::testing::TestWithParam<SchemaRow> {};

TEST_P(SchemaMaskTest, EqualsTheTwin) {
  const Vocabulary vocabulary = JsonVocabulary();
  const VocabularyIndex index(vocabulary);
  std::mt19937 random(7);
  for (const SchemaSpace space :
       {SchemaSpace::kFree, SchemaSpace::kCompact, SchemaSpace::kSpaced, SchemaSpace::kIndent}) {
    JsonSchemaOptions options;
    options.space = space;
    options.declared_order = space == SchemaSpace::kSpaced;
    options.plain_numbers = space == SchemaSpace::kIndent;
    options.plain_strings = space == SchemaSpace::kIndent;
    const auto compiled = CompileJsonSchema(GetParam().schema, options);
    ASSERT_TRUE(compiled.has_value()) << ToString(compiled.error());
    WalkAndCompare(**compiled, vocabulary, index, random, 3, 25);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, SchemaMaskTest, ::testing::ValuesIn(kSchemaRows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(SchemaSpecTest, CompilesKeepsAndBudgets) {
  const ConstraintCompiler compiler(JsonVocabulary());
  const std::string schema =
      R"({"type":"object","properties":{"a":{"type":"integer","minimum":10},"c":{"format":"colour"}},"required":["a"]})";
  const auto free = compiler.Compile(ConstraintSpec::JsonSchema(schema));
  ASSERT_TRUE(free.has_value()) << ToString(free.error());
  EXPECT_EQ((*free)->notes().size(), 1U);
  EXPECT_EQ(compiler.Compile(ConstraintSpec::JsonSchema(schema)).value(), *free);
  EXPECT_EQ((*free)->Check(R"({ "a" : 12 })").value().verdict, Verdict::kAccepted);
  EXPECT_EQ((*free)->Check(R"({"a":9})").value().verdict, Verdict::kRefused);
  EXPECT_EQ((*free)->Check(R"({"c":1,)").value().verdict, Verdict::kIncomplete);
  EXPECT_EQ((*free)->Shortest().value(), R"({"a":10})");
  JsonSchemaOptions options;
  options.space = SchemaSpace::kCompact;
  const auto compact = compiler.Compile(ConstraintSpec::JsonSchema(schema, options));
  ASSERT_TRUE(compact.has_value());
  EXPECT_NE(*compact, *free);
  EXPECT_EQ((*compact)->Check(R"({ "a":12})").value().verdict, Verdict::kRefused);
  EXPECT_FALSE((*compact)->NewMatcher(1).has_value());
  EXPECT_TRUE((*compact)->NewMatcher(20).has_value());
  EXPECT_EQ(compiler.Compile(ConstraintSpec::JsonSchema(R"({"type":1})")).error().place, "/type");
}

TEST(SchemaVocabularyMaskTest, EqualsTheTwinOnARealVocabulary) {
  if (std::getenv("ADJUDGE_LONG_TESTS") == nullptr) GTEST_SKIP() << "ADJUDGE_LONG_TESTS is not set";
  ADJUDGE_DATA_OR_SKIP(vocab, "vocab/qwen3.vocab");
  ADJUDGE_DATA_OR_SKIP(path, "constraints/maskbench-sample.jsonl");
  const Vocabulary vocabulary = ReadVocabFile(vocab, 267);
  const VocabularyIndex index(vocabulary);
  std::mt19937 random(11);
  std::istringstream lines(ReadFile(path));
  std::string line;
  int n = 0;
  while (std::getline(lines, line)) {
    if (++n % 70 != 0) continue;
    const auto row = schema::ParseJson(line);
    const auto compiled = CompileJsonSchema(row->Find("schema")->ToText());
    if (!compiled) continue;
    WalkAndCompare(**compiled, vocabulary, index, random, 1, 3);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace adjudge::testing
