// The official JSON-Schema-Test-Suite, as rows.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "constraints/schema/json_value.h"

namespace adjudge::testing {

struct SuiteTest {
  std::string id;  // "draft7/items.json: group: test"
  std::string text;
  bool valid = false;
};

struct SuiteGroup {
  std::string id;
  std::string schema;
  std::vector<SuiteTest> tests;
};

// Every group of the suite's `folder` (not of folders below it), files in the order of their names.
std::vector<SuiteGroup> ReadSuite(const std::filesystem::path& suite, const std::string& folder);
// The suite's remotes by the uri that its schemas use.
std::map<std::string, std::string> ReadSuiteRemotes(const std::filesystem::path& suite);

}  // namespace adjudge::testing
