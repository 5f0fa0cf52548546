// The oracle itself, against the official suite.
#include <gtest/gtest.h>

#include <stdexcept>

#include "constraints/schema/metaschemas.h"
#include "tests/testing/json_schema_oracle.h"
#include "tests/testing/schema_suite.h"
#include "tests/testing/test_data.h"

namespace adjudge::testing {
namespace {

struct Folder {
  const char* name;
  OracleDraft draft;
  bool formats;
};

class SchemaOracleSuiteTest : public ::testing::TestWithParam<Folder> {};

TEST_P(SchemaOracleSuiteTest, JudgesEveryTestAsTheSuiteSays) {
  ADJUDGE_DATA_OR_SKIP(suite, "constraints/json-schema-test-suite");
  auto documents = schema::MetaSchemas();
  for (const auto& [uri, text] : ReadSuiteRemotes(suite)) documents[uri] = text;
  int n = 0;
  for (const SuiteGroup& group : ReadSuite(suite, GetParam().name)) {
    JsonSchemaOracle::Options options;
    options.draft = GetParam().draft;
    options.assert_formats = GetParam().formats;
    options.documents = documents;
    try {
      const JsonSchemaOracle oracle(group.schema, options);
      for (const SuiteTest& test : group.tests) {
        try {
          EXPECT_EQ(oracle.IsValidText(test.text), test.valid) << test.id << "\n" << test.text;
        } catch (const std::exception& e) {
          ADD_FAILURE() << test.id << ": " << e.what();
        }
        ++n;
      }
    } catch (const std::exception& e) {
      ADD_FAILURE() << group.id << ": " << e.what();
    }
  }
  EXPECT_GT(n, 100);
}

INSTANTIATE_TEST_SUITE_P(Drafts, SchemaOracleSuiteTest,
                         ::testing::Values(Folder{"draft2020-12", OracleDraft::k2020, false},
                                           Folder{"draft7", OracleDraft::k7, false}),
                         [](const auto& row) {
                           return row.param.draft == OracleDraft::k2020 ? "v2020" : "v7";
                         });

}  // namespace
}  // namespace adjudge::testing
