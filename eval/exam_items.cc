#include "eval/exam_items.h"

#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "engine/json_check.h"

namespace adjudge {
namespace {

using Json = nlohmann::json;

std::string Line(std::size_t n) { return "line " + std::to_string(n); }

Status CheckSize(std::string_view text, const ExamLimits& limits) {
  if (text.size() <= limits.max_bytes) return {};
  return Fail(ErrorCode::kLimit, "the exam has " + std::to_string(text.size()) +
                                     " bytes; max_bytes is " + std::to_string(limits.max_bytes));
}

Status CheckItem(const ExamItem& item, const ExamLimits& limits, const std::string& place) {
  if (item.options.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "expected at least 1 option, found 0", place);
  }
  if (item.options.size() > limits.max_options) {
    return Fail(ErrorCode::kLimit,
                std::to_string(item.options.size()) + " options; max_options is " +
                    std::to_string(limits.max_options),
                place);
  }
  std::unordered_set<std::string_view> labels;
  for (const ExamOption& option : item.options) {
    if (!labels.insert(option.label).second) {
      return Fail(ErrorCode::kMalformed, "two options have the label \"" + option.label + "\"",
                  place);
    }
  }
  return {};
}

Status AddItem(ExamItem item, const ExamLimits& limits, const std::string& place,
               std::vector<ExamItem>& items) {
  ADJUDGE_RETURN_IF_ERROR(CheckItem(item, limits, place));
  if (items.size() == limits.max_items) {
    return Fail(ErrorCode::kLimit,
                "more than max_items = " + std::to_string(limits.max_items) + " items", place);
  }
  items.push_back(std::move(item));
  return {};
}

Result<int> FindKey(const ExamItem& item, std::string_view key, const std::string& place) {
  for (std::size_t i = 0; i < item.options.size(); ++i) {
    if (item.options[i].label == key) return static_cast<int>(i);
  }
  return Fail(ErrorCode::kMalformed,
              "the key \"" + std::string(key) + "\" is the label of no option", place);
}

// The string member of an object, or null.
const std::string* Text(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

Result<ExamItem> ReadItem(const Json& line, const std::string& place) {
  const auto missing = [&](const char* what) {
    return Fail(ErrorCode::kMalformed, std::string("expected ") + what, place);
  };
  if (!line.is_object()) return missing("a JSON object");
  ExamItem item;
  const std::string* id = Text(line, "id");
  if (id == nullptr) return missing("\"id\", a string");
  item.id = *id;
  const auto question = line.find("question");
  if (question == line.end() || !question->is_object()) return missing("\"question\", an object");
  const std::string* stem = Text(*question, "stem");
  if (stem == nullptr) return missing("\"stem\" in \"question\", a string");
  item.stem = *stem;
  const auto choices = question->find("choices");
  if (choices == question->end() || !choices->is_array()) {
    return missing("\"choices\" in \"question\", an array");
  }
  for (const Json& choice : *choices) {
    const std::string* text = Text(choice, "text");
    const std::string* label = Text(choice, "label");
    if (text == nullptr || label == nullptr) return missing("\"text\" and \"label\" in a choice");
    item.options.push_back({.label = *label, .text = *text});
  }
  if (line.contains("answerKey")) {
    const std::string* key = Text(line, "answerKey");
    if (key == nullptr) return missing("\"answerKey\", a string");
    ADJUDGE_ASSIGN_OR_RETURN(item.key, FindKey(item, *key, place));
  }
  return item;
}

// One record of a CSV text. `at` moves past it and `line` past its line breaks.
Result<std::vector<std::string>> ReadRecord(std::string_view text, std::size_t& at,
                                            std::size_t& line, const ExamLimits& limits) {
  const std::string place = Line(line);
  std::vector<std::string> fields(1);
  bool quoted = false;
  bool was_quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    std::string& field = fields.back();
    if (c == '\n') ++line;
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        field += '"';
        ++at;
      } else {
        quoted = false;
      }
    } else if (c == '"' && field.empty() && !was_quoted) {
      quoted = was_quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
      was_quoted = false;
    } else if (c == '\n') {
      ++at;
      break;
    } else if (c != '\r' || at + 1 >= text.size() || text[at + 1] != '\n') {
      field += c;
    }
    if (fields.back().size() > limits.max_field_bytes) {
      return Fail(
          ErrorCode::kLimit,
          "a field is longer than max_field_bytes = " + std::to_string(limits.max_field_bytes),
          place);
    }
  }
  if (quoted) return Fail(ErrorCode::kMalformed, "a quoted field does not end", place);
  return fields;
}

}  // namespace

Result<std::vector<ExamItem>> ReadExamJsonl(std::string_view text, const ExamLimits& limits) {
  ADJUDGE_RETURN_IF_ERROR(CheckSize(text, limits));
  std::vector<ExamItem> items;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (Status checked = CheckJson(line); !checked) {
      return Fail(checked.error().code, ToString(checked.error()), Line(number));
    }
    const Json parsed = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    ADJUDGE_ASSIGN_OR_RETURN(ExamItem item, ReadItem(parsed, Line(number)));
    ADJUDGE_RETURN_IF_ERROR(AddItem(std::move(item), limits, Line(number), items));
  }
  return items;
}

Result<std::vector<ExamItem>> ReadMmluCsv(std::string_view text, std::string_view id_prefix,
                                          const ExamLimits& limits) {
  ADJUDGE_RETURN_IF_ERROR(CheckSize(text, limits));
  std::vector<ExamItem> items;
  std::size_t at = 0;
  std::size_t line = 1;
  while (at < text.size()) {
    const std::string place = Line(line);
    ADJUDGE_ASSIGN_OR_RETURN(std::vector<std::string> fields, ReadRecord(text, at, line, limits));
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (fields.size() != 6) {
      return Fail(ErrorCode::kMalformed,
                  "expected 6 fields (question, A, B, C, D, letter), found " +
                      std::to_string(fields.size()),
                  place);
    }
    ExamItem item{.id = std::string(id_prefix) + std::to_string(items.size() + 1),
                  .stem = std::move(fields[0])};
    for (std::size_t i = 0; i < 4; ++i) {
      item.options.push_back(
          {.label = std::string(1, static_cast<char>('A' + i)), .text = std::move(fields[i + 1])});
    }
    ADJUDGE_ASSIGN_OR_RETURN(item.key, FindKey(item, fields[5], place));
    ADJUDGE_RETURN_IF_ERROR(AddItem(std::move(item), limits, place, items));
  }
  return items;
}

}  // namespace adjudge
