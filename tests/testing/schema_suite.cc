#include "tests/testing/schema_suite.h"

#include <algorithm>
#include <filesystem>

#include "engine/base/check.h"
#include "tests/testing/test_data.h"

namespace adjudge::testing {

namespace fs = std::filesystem;

std::vector<SuiteGroup> ReadSuite(const fs::path& suite, const std::string& folder) {
  const fs::path root = suite / folder;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<SuiteGroup> groups;
  for (const fs::path& file : files) {
    const auto json = schema::ParseJson(ReadFile(file));
    ADJUDGE_CHECK_MSG(json.has_value(), file.c_str());
    for (const schema::JsonValue& group : json->items) {
      SuiteGroup out;
      out.id = folder + "/" + file.filename().string() + ": " + group.Find("description")->text;
      out.schema = group.Find("schema")->ToText();
      for (const schema::JsonValue& test : group.Find("tests")->items) {
        out.tests.push_back({out.id + ": " + test.Find("description")->text,
                             test.Find("data")->ToText(), test.Find("valid")->boolean});
      }
      groups.push_back(std::move(out));
    }
  }
  return groups;
}

std::map<std::string, std::string> ReadSuiteRemotes(const fs::path& suite) {
  const fs::path root = suite / "remotes";
  std::map<std::string, std::string> remotes;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".json") continue;
    remotes["http://localhost:1234/" + fs::relative(entry.path(), root).string()] =
        ReadFile(entry.path());
  }
  return remotes;
}

}  // namespace adjudge::testing
