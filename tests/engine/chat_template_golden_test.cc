// Chat templates against Python's jinja2: the checked-in results, and random expressions where
// jinja2 is installed.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "engine/chat_template.h"
#include "tests/testing/python.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using json = nlohmann::ordered_json;  // dicts keep their order in Python

constexpr std::int64_t kNow = 1721995200;  // as in make_template_golden.py

const std::filesystem::path kFolder = testing::SourceFolder() / "tests/golden/templates";

Result<std::string> Render(const std::string& source, const json& context) {
  auto parsed = ChatTemplate::Parse(source);
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  return parsed->RenderJson(context.dump(), kNow);
}

// Python's words for errors that Jinja itself words, and those templates are most likely to show.
bool HasSameWords(const std::string& type) {
  return type == "UndefinedError" || type == "TemplateError" || type == "ZeroDivisionError" ||
         type == "SecurityError";
}

// What differs from Python's result, or nothing. Errors must be errors; where adjudge raises what
// Python raises, of the same type.
std::string Difference(const Result<std::string>& found, const json& row) {
  if (row.contains("text")) {
    if (found && *found == row.at("text")) return "";
    return "expected " + row.at("text").dump() + "\nfound    " +
           (found ? json(*found).dump() : "ERROR " + ToString(found.error()));
  }
  const std::string type = row.at("error");
  const std::string words = type + ": " + row.at("message").get<std::string>();
  if (found) return "expected " + words + "\nfound    " + json(*found).dump();
  const std::string& message = found.error().message;
  const bool refused = found.error().code == ErrorCode::kUnsupported;
  if (type == "RecursionError" && found.error().code == ErrorCode::kLimit) return "";
  if (message.starts_with(HasSameWords(type) ? words : type + ":") || refused) return "";
  return "expected " + words + "\nfound    " + ToString(found.error());
}

TEST(ChatTemplateGoldenTest, FamiliesRenderAsInPython) {
  std::map<std::string, json> conversations;
  for (const json& row : json::parse(testing::ReadFile(kFolder / "conversations.json"))) {
    conversations[row.at("name")] = row.at("context");
  }
  std::set<std::string> families;
  int texts = 0;
  for (const json& row : json::parse(testing::ReadFile(kFolder / "expected.json"))) {
    const std::string name = row.at("template");
    families.insert(name);
    if (row.contains("text")) ++texts;
    const auto found =
        Render(testing::ReadFile(kFolder / name), conversations.at(row.at("conversation")));
    EXPECT_EQ(Difference(found, row), "") << name << ", " << row.at("conversation");
  }
  EXPECT_GE(families.size(), 24U);
  EXPECT_GE(texts, 300);
}

TEST(ChatTemplateGoldenTest, ExpressionsEvaluateAsInPython) {
  int rows = 0;
  for (const json& row : json::parse(testing::ReadFile(kFolder / "expressions.json"))) {
    ++rows;
    const auto found = Render(row.at("template"), row.value("context", json::object()));
    EXPECT_EQ(Difference(found, row), "") << row.at("template").get<std::string>();
    if (!found && row.contains("text")) continue;
    // A row that Python renders must not be refused.
    EXPECT_EQ(found.has_value(), row.contains("text")) << row.at("template").get<std::string>();
  }
  EXPECT_GE(rows, 400);
}

// Values that Python writes with an address in memory.
bool HasAddress(const json& row) {
  return row.contains("text") &&
         row.at("text").get<std::string>().find(" at 0x") != std::string::npos;
}

TEST(ChatTemplateGoldenTest, RandomExpressionsEvaluateAsInPython) {
  const auto python = testing::PythonWith("jinja2");
  if (!python) GTEST_SKIP() << "no Python with jinja2";
  const std::string script =
      testing::SourceFolder().string() + "/tests/testing/make_template_golden.py";
  const auto output = testing::RunCommand(*python + " " + script + " --random 20240726 3000");
  ASSERT_TRUE(output);
  std::istringstream lines(*output);
  std::string line;
  std::getline(lines, line);
  const json context = json::parse(line).at("context");
  int refused = 0;
  int rows = 0;
  while (std::getline(lines, line)) {
    const json row = json::parse(line);
    if (HasAddress(row)) continue;
    ++rows;
    const auto found = Render(row.at("template"), context);
    if (!found && found.error().code == ErrorCode::kUnsupported) {
      ++refused;  // exact or refused
      continue;
    }
    EXPECT_EQ(Difference(found, row), "") << row.at("template").get<std::string>();
  }
  EXPECT_GE(rows, 2500);
  EXPECT_LE(refused, rows / 20);
}

}  // namespace
}  // namespace adjudge
