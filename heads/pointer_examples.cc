#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "engine/json_check.h"
#include "heads/json/json_value.h"
#include "heads/system_one.h"
#include "heads/train_pointer.h"

namespace adjudge {
namespace {

using Json = nlohmann::json;

// The index of the answer among the question's options.
Result<int> AnswerIndex(const Question& question, const Json& answer) {
  const std::string place = JsonPointer("/answers", question.id);
  if (question.type == QuestionType::kNoul && answer.is_boolean())
    return answer.get<bool>() ? 1 : 0;
  std::string name;
  if (question.type == QuestionType::kChoice && answer.is_string())
    name = answer.get<std::string>();
  if (question.type == QuestionType::kScore && answer.is_number_unsigned()) name = answer.dump();
  for (std::size_t i = 0; i < question.options.size() && !name.empty(); ++i) {
    if (question.options[i].name == name) return static_cast<int>(i);
  }
  return Fail(ErrorCode::kMalformed,
              "expected an option's name, a level's index, or true or false, found " +
                  answer.dump(-1, ' ', false, Json::error_handler_t::replace),
              place);
}

Status AddLine(std::string_view line, std::vector<PointerExample>& examples) {
  ADJUDGE_ASSIGN_OR_RETURN(const SystemOneRequest request, ParseSystemOneRequest(line));
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const Json answers = json.value("answers", Json());
  if (!answers.is_object()) {
    return Fail(ErrorCode::kMalformed, "expected an object from id to answer", "/answers");
  }
  for (const Question& question : request.questions) {
    const auto answer = answers.find(question.id);
    if (answer == answers.end()) {
      return Fail(ErrorCode::kNotFound, "no answer", JsonPointer("/answers", question.id));
    }
    ADJUDGE_ASSIGN_OR_RETURN(const int index, AnswerIndex(question, *answer));
    examples.push_back({.state = request.state, .question = question, .answer = index});
  }
  return {};
}

bool IsRequestLine(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  return json.is_object() && json.contains("questions");
}

}  // namespace

Result<std::vector<PointerExample>> ParsePointerExamples(std::string_view text,
                                                         std::size_t max_bytes) {
  if (text.size() > max_bytes) {
    return Fail(ErrorCode::kLimit,
                std::to_string(text.size()) + " bytes; max_bytes is " + std::to_string(max_bytes));
  }
  std::vector<PointerExample> examples;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Status added = AddLine(line, examples);
    if (added) continue;
    Error error = std::move(added).error();
    error.place =
        "line " + std::to_string(number) + (error.place.empty() ? "" : ", " + error.place);
    return tl::unexpected<Error>(std::move(error));
  }
  return examples;
}

Result<std::vector<PointerExample>> ToPointerExamples(std::span<const LabelledText> texts,
                                                      const std::string& instructions) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].labels.size() != 1) {
      return Fail(ErrorCode::kInvalidArgument,
                  "expected one label, found " + std::to_string(texts[i].labels.size()),
                  "text " + std::to_string(i));
    }
    seen.insert(texts[i].labels[0]);
  }
  const std::vector<std::string> names(seen.begin(), seen.end());
  std::vector<PointerExample> examples;
  for (const LabelledText& text : texts) {
    const auto at = std::lower_bound(names.begin(), names.end(), text.labels[0]);
    PointerExample& example = examples.emplace_back();
    example.state.text = text.text;
    example.question = Question::Choice("q", instructions, names);
    example.answer = static_cast<int>(at - names.begin());
  }
  return examples;
}

Result<std::vector<PointerExample>> ReadPointerExamples(const std::filesystem::path& path,
                                                        const LabelledTextsOptions& options,
                                                        const std::string& instructions) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::error_code code;
  const auto size = std::filesystem::file_size(path, code);
  if (file && !code && size <= options.max_bytes) {
    text.resize(static_cast<std::size_t>(size));
    file.read(text.data(), static_cast<std::streamsize>(size));
    text.resize(static_cast<std::size_t>(file.gcount()));
  }
  if (!IsRequestLine(text)) {
    ADJUDGE_ASSIGN_OR_RETURN(const auto texts, ReadLabelledTexts(path, options));
    return ToPointerExamples(texts, instructions);
  }
  auto examples = ParsePointerExamples(text, options.max_bytes);
  if (!examples) examples.error().place = path.string() + ": " + examples.error().place;
  return examples;
}

}  // namespace adjudge
