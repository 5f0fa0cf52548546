// Schemas as recognisers: the official suite, the cases of other engines' bug reports, and real
// schemas. What is not judged rightly is refused by name, and listed in a committed file.
#include "tests/testing/schema_suite.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "constraints/json_schema.h"
#include "constraints/schema/json_value.h"
#include "tests/testing/schema_texts.h"
#include "tests/testing/test_data.h"

namespace adjudge::testing {
namespace {

struct Folder {
  const char* name;
  SchemaDialect dialect;
  SchemaFormats formats;
  int least_right;  // tests
};

class SchemaSuiteTest : public ::testing::TestWithParam<Folder> {};

// "right", "refused: place: why", or what went wrong.
std::string Outcome(Result<std::unique_ptr<Recognizer>>& compiled, const std::string& text,
                    bool valid) {
  if (!compiled) return "refused: " + ToString(compiled.error());
  const auto accepted = AcceptsText(**compiled, text);
  if (!accepted) return "error: " + ToString(accepted.error());
  if (*accepted == valid) return "right";
  return valid ? "narrower" : "WIDER";
}

TEST_P(SchemaSuiteTest, EveryTestHasItsCommittedOutcome) {
  ADJUDGE_DATA_OR_SKIP(suite, "constraints/json-schema-test-suite");
  const Folder& folder = GetParam();
  JsonSchemaOptions options;
  options.dialect = folder.dialect;
  options.formats = folder.formats;
  options.documents = ReadSuiteRemotes(suite);
  std::ostringstream found;
  int right = 0;
  int n = 0;
  for (const SuiteGroup& group : ReadSuite(suite, folder.name)) {
    auto compiled = CompileJsonSchema(group.schema, options);
    for (const SuiteTest& test : group.tests) {
      // A schema that nothing satisfies is refused as such, which is right for every invalid text.
      const bool empty = !compiled && compiled.error().code == ErrorCode::kInvalidArgument;
      const std::string outcome =
          empty && !test.valid ? "right" : Outcome(compiled, test.text, test.valid);
      // content* are annotations, as the standard says; the suite has tests of enforcing them.
      const bool content = test.id.find("/content.json") != std::string::npos;
      EXPECT_TRUE(outcome != "WIDER" || content) << test.id << "\n"
                                                 << group.schema << "\n"
                                                 << test.text;
      ++n;
      right += outcome == "right" ? 1 : 0;
      if (outcome != "right") found << test.id << "\t" << outcome << "\n";
    }
  }
  std::string name = folder.name;
  std::replace(name.begin(), name.end(), '/', '-');
  const auto path = SourceFolder() / "tests/golden/schema_suite" / (name + ".txt");
  if (std::getenv("ADJUDGE_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << found.str();
  }
  EXPECT_EQ(found.str(), ReadFile(path)) << "ADJUDGE_UPDATE_GOLDEN=1 writes the new outcomes";
  EXPECT_GE(right, folder.least_right) << "of " << n;
  RecordProperty("right", right);
  std::printf("%s: %d right of %d\n", folder.name, right, n);
}

INSTANTIATE_TEST_SUITE_P(
    Drafts, SchemaSuiteTest,
    ::testing::Values(
        Folder{"draft2020-12", SchemaDialect::kDraft2020, SchemaFormats::kAnnotate, 1235},
        Folder{"draft7", SchemaDialect::kDraft7, SchemaFormats::kAnnotate, 1},
        Folder{"draft2020-12/optional", SchemaDialect::kDraft2020, SchemaFormats::kAnnotate, 1},
        Folder{"draft7/optional", SchemaDialect::kDraft7, SchemaFormats::kAnnotate, 1},
        Folder{"draft2020-12/optional/format", SchemaDialect::kDraft2020, SchemaFormats::kAssert,
               1},
        Folder{"draft7/optional/format", SchemaDialect::kDraft7, SchemaFormats::kAssert, 1}),
    [](const auto& row) {
      std::string name;
      for (const char c : std::string(row.param.name)) {
        name.push_back(std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_');
      }
      return name;
    });

TEST(SchemaCasesTest, CasesOfOtherEnginesBugReports) {
  ADJUDGE_DATA_OR_SKIP(path, "constraints/cases.json");
  const auto cases = schema::ParseJson(ReadFile(path));
  ASSERT_TRUE(cases.has_value());
  int n = 0;
  for (const auto& row : cases->items) {
    if (row.Find("kind")->text != "json_schema") continue;
    ++n;
    const std::string id = row.Find("id")->text;
    const std::string expect = row.Find("expect")->text;
    auto compiled = CompileJsonSchema(row.Find("spec")->ToText());
    if (!compiled) {
      EXPECT_NE(expect, "compile") << id << ": " << ToString(compiled.error());
      continue;
    }
    EXPECT_NE(expect, "refuse") << id;
    for (const bool accept : {true, false}) {
      for (const auto& text : row.Find(accept ? "accept" : "reject")->items) {
        EXPECT_EQ(Outcome(compiled, text.text, accept), "right") << id << ": " << text.text;
      }
    }
  }
  EXPECT_EQ(n, 52);
}

TEST(SchemaSampleTest, RealSchemasAreJudgedRightlyOrRefused) {
  ADJUDGE_DATA_OR_SKIP(path, "constraints/maskbench-sample.jsonl");
  std::istringstream lines(ReadFile(path));
  std::string line;
  int n = 0;
  int refused = 0;
  int wrong = 0;
  std::string refusals;
  std::vector<double> times;
  while (std::getline(lines, line)) {
    const auto row = schema::ParseJson(line);
    ASSERT_TRUE(row.has_value()) << ToString(row.error());
    ++n;
    const std::string id = row->Find("id")->text;
    const auto begin = std::chrono::steady_clock::now();
    auto compiled = CompileJsonSchema(row->Find("schema")->ToText());
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    times.push_back(time.count());
    if (time.count() > 50) std::printf("%s: %.1f ms\n", id.c_str(), time.count());
    if (!compiled) {
      ++refused;
      refusals += id + ": " + ToString(compiled.error()) + "\n";
      continue;
    }
    bool good = true;
    for (const auto& test : row->Find("tests")->items) {
      const bool valid = test.Find("valid")->boolean;
      const std::string outcome = Outcome(compiled, SpacedText(*test.Find("data")), valid);
      good = good && outcome == "right";
      EXPECT_EQ(outcome, "right") << id << " valid=" << valid << ": "
                                  << test.Find("data")->ToText().substr(0, 2000);
    }
    wrong += good ? 0 : 1;
  }
  std::sort(times.begin(), times.end());
  std::printf("%d schemas, %d refused, %d wrong; compile ms p50 %.2f p99 %.2f max %.2f\n%s", n,
              refused, wrong, times[times.size() / 2], times[times.size() * 99 / 100], times.back(),
              refusals.c_str());
  EXPECT_EQ(n, 692);
  EXPECT_LE(refused, 17);
}

}  // namespace
}  // namespace adjudge::testing
