// What is enforced of JSON Schema: one row a keyword, each with a text that only the keyword keeps
// out. README.md's table is made of these rows, so it says what they show.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "constraints/json_schema.h"
#include "tests/testing/schema_texts.h"
#include "tests/testing/test_data.h"

namespace adjudge::testing {
namespace {

struct Row {
  const char* keyword;
  const char* support;  // "exact", "exact within a limit", "refused" or "annotation"
  const char* note;
  const char* schema;
  const char* accepted;  // empty where the schema is refused
  const char* rejected;  // empty where nothing is enforced
};

const Row kRows[] = {
    {"type", "exact", "1.0 and 1e2 are integers", R"({"type":"integer"})", "1e2", "1.5"},
    {"enum, const", "exact", "by value, of any type", R"({"const":{"a":[1.0]}})", R"({"a":[1]})",
     R"({"a":[2]})"},
    {"minimum, maximum, exclusiveMinimum, exclusiveMaximum", "exact", "decimals, every spelling",
     R"({"minimum":-0.25,"exclusiveMaximum":1e3})", "999.9", "1000"},
    {"multipleOf", "exact", "decimals", R"({"multipleOf":0.01})", "0.07", "0.075"},
    {"minLength, maxLength", "exact", "code points of the decoded text", R"({"maxLength":1})",
     R"("\ud83d\ude00")", R"("ab")"},
    {"pattern", "exact within a limit",
     "4,000 states; lookaround, backreferences and \\b are refused", R"({"pattern":"^a+$"})",
     R"("aa")", R"("ab")"},
    {"pattern with lookaround", "refused", "", R"j({"pattern":"^(?!a)"})j", "", ""},
    {"format: date, date-time, time", "exact within a limit",
     "a leap second only as 23:59:60 of Z or +-00:00", R"({"format":"date"})", R"("2024-02-29")",
     R"("2023-02-29")"},
    {"format: hostname", "exact within a limit", "no label with -- in its third and fourth place",
     R"({"format":"hostname"})", R"("a.example")", R"("-a")"},
    {"format: duration, email, ipv4, ipv6, uuid, uri, uri-reference, iri, iri-reference, "
     "uri-template, json-pointer, relative-json-pointer",
     "exact", "", R"({"format":"ipv4"})", R"("1.2.3.4")", R"("1.2.3.04")"},
    {"format: idn-hostname, idn-email, regex", "refused", "", R"({"format":"regex"})", "", ""},
    {"format of another name", "annotation", "listed; refused with strict formats",
     R"({"format":"colour"})", R"("x")", ""},
    {"properties, required, additionalProperties, patternProperties, propertyNames", "exact", "",
     R"({"patternProperties":{"^x":{"type":"null"}},"propertyNames":{"maxLength":2}})",
     R"({"xa":null})", R"({"xa":1})"},
    {"minProperties, maxProperties", "exact", "", R"({"maxProperties":1})", R"({"a":1})",
     R"({"a":1,"b":2})"},
    {"a key given twice", "exact", "refused however it is spelt", "true", R"({"a":1,"b":2})",
     R"({"a":1,"\u0061":2})"},
    {"items, prefixItems, additionalItems, minItems, maxItems", "exact", "",
     R"({"prefixItems":[{"type":"null"}],"items":false})", "[null]", "[null,1]"},
    {"contains, minContains, maxContains", "exact within a limit", "8 counted at once",
     R"({"contains":{"const":1},"maxContains":1})", "[1,2]", "[1,1]"},
    {"uniqueItems", "exact within a limit",
     "beside minItems over 64 it needs endlessly many values; its negation beside prefixItems or "
     "contains is refused",
     R"({"uniqueItems":true})", "[1,2]", "[1,1.0]"},
    {"allOf, anyOf, oneOf, not, if, then, else", "exact within a limit", "2,000 cases",
     R"({"oneOf":[{"multipleOf":2},{"multipleOf":3}]})", "4", "6"},
    {"dependentRequired, dependentSchemas, dependencies", "exact", "",
     R"({"dependentRequired":{"a":["b"]}})", R"({"a":1,"b":1})", R"({"a":1})"},
    {"unevaluatedProperties, unevaluatedItems", "exact within a limit", "256 alternatives",
     R"({"anyOf":[{"properties":{"a":true}}],"unevaluatedProperties":false})", R"({"a":1})",
     R"({"b":1})"},
    {"$ref, $id, $anchor, $defs, $dynamicRef, $recursiveRef", "exact",
     "recursive too; other documents as supplied",
     R"({"properties":{"a":{"$ref":"#"}},"additionalProperties":false})", R"({"a":{"a":{}}})",
     R"({"a":{"b":{}}})"},
    {"content*, title, default, examples, unknown keywords", "annotation", "",
     R"({"contentEncoding":"base64"})", R"("%")", ""},
};

TEST(SchemaSupportTest, RowsShowWhatTheySay) {
  for (const Row& row : kRows) {
    auto compiled = CompileJsonSchema(row.schema);
    if (std::string(row.support) == "refused") {
      EXPECT_FALSE(compiled.has_value()) << row.keyword;
      EXPECT_EQ(compiled.error().code, ErrorCode::kUnsupported) << ToString(compiled.error());
      continue;
    }
    ASSERT_TRUE(compiled.has_value()) << row.keyword << ToString(compiled.error());
    EXPECT_TRUE(AcceptsText(**compiled, row.accepted).value()) << row.keyword;
    if (*row.rejected != '\0') {
      EXPECT_FALSE(AcceptsText(**compiled, row.rejected).value()) << row.keyword;
    }
  }
}

TEST(SchemaSupportTest, ReadmeHasTheTable) {
  std::string table = "| keyword | support | |\n|---|---|---|\n";
  for (const Row& row : kRows) {
    table += std::string("| ") + row.keyword + " | " + row.support + " | " + row.note + " |\n";
  }
  const auto path = SourceFolder() / "README.md";
  const std::string readme = ReadFile(path);
  const std::string begin =
      "<!-- JSON Schema: what is enforced (made by schema_support_test) -->\n";
  const std::string end = "<!-- end -->";
  const std::size_t from = readme.find(begin);
  ASSERT_NE(from, std::string::npos);
  const std::size_t to = readme.find(end, from);
  ASSERT_NE(to, std::string::npos);
  const std::size_t start = from + begin.size();
  if (std::getenv("ADJUDGE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << readme.substr(0, start) + table + readme.substr(to);
    return;
  }
  EXPECT_EQ(readme.substr(start, to - start), table);
}

// Schemas that are known to take other engines' time, and texts that are no schemas.
struct Refusal {
  const char* schema;
  ErrorCode code;
  const char* place;
};

TEST(SchemaErrorsTest, NameTheirPlace) {
  const Refusal rows[] = {
      {"{", ErrorCode::kMalformed, "byte 1"},
      {"\xff", ErrorCode::kMalformed, "byte 0"},
      {R"({"a":{"b":1,"b":2}})", ErrorCode::kMalformed, "/a/b"},
      {R"({"properties":{"x":{"type":"strin"}}})", ErrorCode::kMalformed, "/properties/x/type"},
      {R"({"properties":{"x":{"required":true}}})", ErrorCode::kMalformed,
       "/properties/x/required"},
      {R"({"$schema":"http://example.com/s"})", ErrorCode::kUnsupported, "/$schema"},
      {R"({"items":{"$ref":"http://example.com/s"}})", ErrorCode::kNotFound, "/items/$ref"},
      {R"({"items":{"$ref":"#/nowhere"}})", ErrorCode::kNotFound, "/items/$ref"},
      {R"j({"properties":{"p":{"pattern":"a(?=b)"}}})j", ErrorCode::kUnsupported,
       "/properties/p/pattern"},
      {R"({"properties":{"p":{"pattern":"a**"}}})", ErrorCode::kMalformed, "/properties/p/pattern"},
      {R"({"type":"integer","minimum":5,"maximum":4})", ErrorCode::kInvalidArgument, "/"},
      {R"({"enum":[]})", ErrorCode::kInvalidArgument, "/"},
      {R"({"properties":{"a":{"$ref":"#"}},"required":["a"],"type":"object"})",
       ErrorCode::kInvalidArgument, "/"},
      {R"({"$ref":"#"})", ErrorCode::kMalformed, "/"},
      {R"({"allOf":[{"$ref":"#"}]})", ErrorCode::kMalformed, "/allOf/0"},
  };
  for (const Refusal& row : rows) {
    const auto compiled = CompileJsonSchema(row.schema);
    ASSERT_FALSE(compiled.has_value()) << row.schema;
    EXPECT_EQ(compiled.error().code, row.code) << row.schema << ToString(compiled.error());
    EXPECT_EQ(compiled.error().place, row.place) << row.schema << ToString(compiled.error());
  }
  const std::string deep = std::string(10'000, '[') + std::string(10'000, ']');
  EXPECT_EQ(CompileJsonSchema(deep).error().code, ErrorCode::kLimit);
  JsonSchemaOptions options;
  options.max_bytes = 10;
  EXPECT_TRUE(CompileJsonSchema("{        }", options).has_value());
  EXPECT_EQ(CompileJsonSchema("{         }", options).error().code, ErrorCode::kLimit);
  options = {};
  options.max_depth = 2;
  EXPECT_TRUE(CompileJsonSchema(R"({"const":[1]})", options).has_value());
  EXPECT_EQ(CompileJsonSchema(R"({"const":[[1]]})", options).error().code, ErrorCode::kLimit);
}

}  // namespace
}  // namespace adjudge::testing
