// Random texts that a schema's recogniser lets through, judged by the oracle: no dead end, nothing
// invalid, and shortest ends that end.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <sstream>

#include "constraints/json_schema.h"
#include "constraints/schema/json_value.h"
#include "tests/testing/json_schema_oracle.h"
#include "tests/testing/schema_rows.h"
#include "tests/testing/test_data.h"

namespace adjudge::testing {
namespace {

// A text of about `soft` bytes: any byte that may follow, then a shortest end.
Result<std::string> RandomText(Recognizer& recognizer, std::mt19937& random, std::size_t soft) {
  std::string text;
  Recognizer::State state = recognizer.Start();
  while (text.size() < soft) {
    recognizer.Refuel(1'000'000'000);
    // Structure more often than the many letters; any byte that may follow, if need be.
    static constexpr std::string_view kLikely = "\"{}[],:0123456789.-eE\\tfnua";
    Recognizer::State next = Recognizer::kDead;
    std::uint8_t byte = 0;
    for (int k = 0; k < 12 && next == Recognizer::kDead; ++k) {
      const std::size_t pick = random();
      byte = static_cast<std::uint8_t>(k % 4 == 3 ? pick % 256 : kLikely[pick % kLikely.size()]);
      next = recognizer.Next(state, byte);
    }
    for (int k = 0; k < 256 && next == Recognizer::kDead; ++k) {
      next = recognizer.Next(state, ++byte);
    }
    ADJUDGE_RETURN_IF_ERROR(recognizer.status());
    if (next == Recognizer::kDead) {
      if (!recognizer.Accepts(state)) return Fail(ErrorCode::kInvalidArgument, "dead end", text);
      return text;
    }
    state = next;
    text.push_back(static_cast<char>(byte));
  }
  recognizer.Refuel(1'000'000'000);
  const auto rest = recognizer.ShortestEnd(state);
  ADJUDGE_RETURN_IF_ERROR(recognizer.status());
  if (!rest) return Fail(ErrorCode::kInvalidArgument, "no end", text);
  const auto end = Walk(recognizer, state, *rest);
  if (end == Recognizer::kDead || !recognizer.Accepts(end)) {
    return Fail(ErrorCode::kInvalidArgument, "the shortest end is none: " + *rest, text);
  }
  return text + *rest;
}

// A limit that is met on the way ends the schema's walks; `limited` counts those.
void WalkSchema(const std::string& id, const std::string& schema, const JsonSchemaOptions& options,
                int walks, int& walked, int& limited) {
  auto compiled = CompileJsonSchema(schema, options);
  if (!compiled) return;  // the suite's tests list what is refused
  JsonSchemaOracle oracle(schema, {});
  std::mt19937 random(12345);
  for (int i = 0; i < walks; ++i) {
    const std::size_t soft = i % 4 == 0 ? 0 : random() % 120;
    const auto text = RandomText(**compiled, random, soft);
    if (!text && text.error().code == ErrorCode::kLimit) {
      ++limited;
      return;
    }
    ASSERT_TRUE(text.has_value()) << id << ": " << ToString(text.error()) << "\n" << schema;
    ASSERT_TRUE(oracle.IsValidText(*text)) << id << ": " << *text << "\n" << schema;
    ++walked;
  }
}

bool LongTests() { return std::getenv("ADJUDGE_LONG_TESTS") != nullptr; }

TEST(SchemaWalkTest, RandomTextsOfRealSchemasAreValid) {
  ADJUDGE_DATA_OR_SKIP(path, "constraints/maskbench-sample.jsonl");
  std::istringstream lines(ReadFile(path));
  std::string line;
  int walked = 0;
  int limited = 0;
  for (int n = 0; std::getline(lines, line); ++n) {
    if (!LongTests() && n % 11 != 0) continue;
    const auto row = schema::ParseJson(line);
    WalkSchema(row->Find("id")->text, row->Find("schema")->ToText(), {}, LongTests() ? 1'000 : 20,
               walked, limited);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(walked, 1'000);
  EXPECT_LE(limited, LongTests() ? 7 : 1);
}

class SchemaWalkRowsTest : public ::testing::TestWithParam<SchemaRow> {};

TEST_P(SchemaWalkRowsTest, InEveryWhiteSpaceAndOrder) {
  int walked = 0;
  int limited = 0;
  for (const SchemaSpace space :
       {SchemaSpace::kFree, SchemaSpace::kCompact, SchemaSpace::kSpaced, SchemaSpace::kIndent}) {
    for (const bool plain : {false, true}) {
      JsonSchemaOptions options;
      options.space = space;
      options.declared_order = plain;
      options.plain_numbers = plain;
      options.plain_strings = plain;
      const auto compiled = CompileJsonSchema(GetParam().schema, options);
      ASSERT_TRUE(compiled.has_value()) << ToString(compiled.error());
      WalkSchema(GetParam().name, GetParam().schema, options, LongTests() ? 2'000 : 40, walked,
                 limited);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(walked, 300);
  EXPECT_EQ(limited, 0);
}

INSTANTIATE_TEST_SUITE_P(Rows, SchemaWalkRowsTest, ::testing::ValuesIn(kSchemaRows),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace adjudge::testing
