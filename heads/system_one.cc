#include "heads/system_one.h"

#include <utility>

#include "heads/json/json_value.h"

namespace adjudge {
namespace {

std::string Found(const JsonValue& value) { return ", found " + std::string(Describe(value.kind)); }

tl::unexpected<Error> Expected(std::string_view what, const JsonValue& value, std::string place) {
  return Fail(ErrorCode::kInvalidArgument, "expected " + std::string(what) + Found(value),
              std::move(place));
}

Result<Entry> ReadEntry(const JsonValue& value, std::string place) {
  switch (value.kind) {
    case JsonKind::kString:
      return Entry{.text = value.text};
    case JsonKind::kArray:
    case JsonKind::kObject:
      return Entry{.text = value.Dump(), .structured = true};
    default:
      return Expected("a string, object or array", value, std::move(place));
  }
}

Result<std::optional<Entry>> ReadOptionalEntry(const JsonValue* value, const std::string& place) {
  if (value == nullptr || value->kind == JsonKind::kNull) return std::optional<Entry>();
  ADJUDGE_ASSIGN_OR_RETURN(Entry entry, ReadEntry(*value, place));
  return std::optional<Entry>(std::move(entry));
}

Status ReadNoulCriteria(const JsonValue* criteria, const std::string& place, Question& question) {
  question.options = {{.name = "false"}, {.name = "true"}};
  if (criteria == nullptr || criteria->kind == JsonKind::kNull) return {};
  if (criteria->kind != JsonKind::kObject) {
    return Expected("an object with \"true\" and/or \"false\"", *criteria, place);
  }
  for (const std::string& key : criteria->keys) {
    if (key != "true" && key != "false") {
      return Fail(ErrorCode::kInvalidArgument, "a noul's criteria are \"true\" and \"false\" alone",
                  JsonPointer(place, key));
    }
  }
  for (Option& option : question.options) {
    ADJUDGE_ASSIGN_OR_RETURN(
        option.description,
        ReadOptionalEntry(criteria->Find(option.name), JsonPointer(place, option.name)));
  }
  return {};
}

Status ReadChoiceCriteria(const JsonValue* criteria, const std::string& place,
                          const QuestionLimits& limits, Question& question) {
  if (criteria == nullptr) {
    return Fail(ErrorCode::kInvalidArgument, "a choice needs criteria: an object of options",
                place);
  }
  if (criteria->kind != JsonKind::kObject) {
    return Expected("an object from option name to description or null", *criteria, place);
  }
  if (criteria->keys.size() > limits.max_options) {
    return Fail(ErrorCode::kLimit,
                std::to_string(criteria->keys.size()) + " options; max_options is " +
                    std::to_string(limits.max_options),
                place);
  }
  for (std::size_t i = 0; i < criteria->keys.size(); ++i) {
    Option option{.name = criteria->keys[i]};
    ADJUDGE_ASSIGN_OR_RETURN(
        option.description,
        ReadOptionalEntry(&criteria->items[i], JsonPointer(place, option.name)));
    question.options.push_back(std::move(option));
  }
  return {};
}

Status ReadScoreCriteria(const JsonValue* criteria, const std::string& place,
                         const QuestionLimits& limits, Question& question) {
  if (criteria == nullptr) {
    return Fail(ErrorCode::kInvalidArgument, "a score needs criteria: an array of levels", place);
  }
  if (criteria->kind != JsonKind::kArray) {
    return Expected("an array of levels, low to high", *criteria, place);
  }
  if (criteria->items.size() > limits.max_levels) {
    return Fail(ErrorCode::kLimit,
                std::to_string(criteria->items.size()) + " levels; max_levels is " +
                    std::to_string(limits.max_levels),
                place);
  }
  for (std::size_t i = 0; i < criteria->items.size(); ++i) {
    const std::string index = std::to_string(i);
    ADJUDGE_ASSIGN_OR_RETURN(Entry level, ReadEntry(criteria->items[i], JsonPointer(place, index)));
    question.options.push_back({.name = index, .description = std::move(level)});
  }
  return {};
}

Result<int> ReadCount(const JsonValue& value, std::string place) {
  const bool digits = value.kind == JsonKind::kNumber && !value.text.empty() &&
                      value.text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || value.text.size() > 6) {
    return Expected("a whole number", value, std::move(place));
  }
  return std::stoi(value.text);
}

Status ReadSelectLimits(const JsonValue& value, const std::string& place, Question& question) {
  if (const JsonValue* min = value.Find("min"); min != nullptr && min->kind != JsonKind::kNull) {
    ADJUDGE_ASSIGN_OR_RETURN(question.min_selected, ReadCount(*min, place + "/min"));
  }
  if (const JsonValue* max = value.Find("max"); max != nullptr && max->kind != JsonKind::kNull) {
    ADJUDGE_ASSIGN_OR_RETURN(question.max_selected, ReadCount(*max, place + "/max"));
  }
  return {};
}

Result<Question> ReadQuestion(std::string id, const JsonValue& value, const std::string& place,
                              const QuestionLimits& limits) {
  if (value.kind != JsonKind::kObject) return Expected("an object", value, place);
  const JsonValue* type = value.Find("type");
  const bool is_select =
      type != nullptr && type->kind == JsonKind::kString && type->text == "x_select";
  for (const std::string& key : value.keys) {
    if (is_select && (key == "min" || key == "max")) continue;
    if (key == "type" || key == "instructions" || key == "criteria" || key.starts_with("x_")) {
      continue;
    }
    return Fail(ErrorCode::kUnsupported,
                "a question has type, instructions and criteria; other keys must begin with x_",
                JsonPointer(place, key));
  }
  Question question{.id = std::move(id)};
  ADJUDGE_ASSIGN_OR_RETURN(
      question.instructions,
      ReadOptionalEntry(value.Find("instructions"), JsonPointer(place, "instructions")));
  const std::string type_place = JsonPointer(place, "type");
  if (type == nullptr) {
    return Fail(ErrorCode::kInvalidArgument, "a question needs a type: noul, choice or score",
                type_place);
  }
  if (type->kind != JsonKind::kString) return Expected("a string", *type, type_place);
  const JsonValue* criteria = value.Find("criteria");
  const std::string criteria_place = JsonPointer(place, "criteria");
  Status read;
  if (type->text == "noul") {
    question.type = QuestionType::kNoul;
    read = ReadNoulCriteria(criteria, criteria_place, question);
  } else if (type->text == "choice") {
    question.type = QuestionType::kChoice;
    read = ReadChoiceCriteria(criteria, criteria_place, limits, question);
  } else if (type->text == "score") {
    question.type = QuestionType::kScore;
    read = ReadScoreCriteria(criteria, criteria_place, limits, question);
  } else if (is_select) {
    question.type = QuestionType::kSelect;
    ADJUDGE_RETURN_IF_ERROR(ReadSelectLimits(value, place, question));
    read = ReadChoiceCriteria(criteria, criteria_place, limits, question);
  } else {
    return Fail(ErrorCode::kUnsupported,
                "expected the type noul, choice or score, found " + JsonQuote(type->text),
                type_place);
  }
  ADJUDGE_RETURN_IF_ERROR(std::move(read));
  return question;
}

}  // namespace

Result<SystemOneRequest> ParseSystemOneRequest(std::string_view json_text,
                                               const SystemOneLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(const JsonValue body,
                           ParseJson(json_text, {.max_bytes = limits.max_bytes,
                                                 .max_depth = limits.max_depth,
                                                 .max_values = limits.max_values}));
  if (body.kind != JsonKind::kObject) return Expected("an object", body, "");
  for (const char* key : {"images", "files", "assets"}) {
    if (body.Find(key) == nullptr) continue;
    return Fail(ErrorCode::kUnsupported,
                std::string(key) + " cannot be read, and the answers would not regard them",
                JsonPointer("", key));
  }
  SystemOneRequest request;
  if (const JsonValue* model = body.Find("model"); model != nullptr) {
    if (model->kind != JsonKind::kString) return Expected("a string", *model, "/model");
    request.model = model->text;
  }
  const JsonValue* state = body.Find("state");
  if (state == nullptr) {
    return Fail(ErrorCode::kInvalidArgument, "a request needs a state", "/state");
  }
  ADJUDGE_ASSIGN_OR_RETURN(request.state, ReadEntry(*state, "/state"));
  const JsonValue* questions = body.Find("questions");
  if (questions == nullptr) {
    return Fail(ErrorCode::kInvalidArgument, "a request needs questions", "/questions");
  }
  if (questions->kind != JsonKind::kObject) {
    return Expected("an object from id to question", *questions, "/questions");
  }
  if (questions->keys.size() > limits.questions.max_questions) {
    return Fail(ErrorCode::kLimit,
                std::to_string(questions->keys.size()) + " questions; max_questions is " +
                    std::to_string(limits.questions.max_questions),
                "/questions");
  }
  for (std::size_t i = 0; i < questions->keys.size(); ++i) {
    ADJUDGE_ASSIGN_OR_RETURN(
        Question question,
        ReadQuestion(questions->keys[i], questions->items[i],
                     JsonPointer("/questions", questions->keys[i]), limits.questions));
    request.questions.push_back(std::move(question));
  }
  ADJUDGE_RETURN_IF_ERROR(ValidateQuestions(request.questions, limits.questions));
  return request;
}

}  // namespace adjudge
