#include "heads/question.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "heads/json/json_value.h"

namespace adjudge {

std::string_view ToString(QuestionType type) {
  switch (type) {
    case QuestionType::kNoul:
      return "noul";
    case QuestionType::kChoice:
      return "choice";
    case QuestionType::kScore:
      return "score";
    case QuestionType::kSelect:
      return "x_select";
  }
  return "";
}

Question Question::Noul(std::string id, std::string instructions, std::optional<Entry> if_true,
                        std::optional<Entry> if_false) {
  return {.id = std::move(id),
          .type = QuestionType::kNoul,
          .instructions = Entry{.text = std::move(instructions)},
          .options = {{.name = "false", .description = std::move(if_false)},
                      {.name = "true", .description = std::move(if_true)}}};
}

Question Question::Choice(std::string id, std::string instructions,
                          std::span<const std::string> names) {
  Question question{.id = std::move(id),
                    .type = QuestionType::kChoice,
                    .instructions = Entry{.text = std::move(instructions)}};
  for (const std::string& name : names) question.options.push_back({.name = name});
  return question;
}

Question Question::Score(std::string id, std::string instructions,
                         std::span<const std::string> levels) {
  Question question{.id = std::move(id),
                    .type = QuestionType::kScore,
                    .instructions = Entry{.text = std::move(instructions)}};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    question.options.push_back(
        {.name = std::to_string(i), .description = Entry{.text = levels[i]}});
  }
  return question;
}

namespace {

bool IsEmpty(const std::optional<Entry>& entry) { return !entry || entry->text.empty(); }

tl::unexpected<Error> TooMany(std::string_view what, std::size_t found, std::string_view limit_name,
                              std::size_t limit, std::string place) {
  return Fail(ErrorCode::kLimit,
              std::to_string(found) + " " + std::string(what) + "; " + std::string(limit_name) +
                  " is " + std::to_string(limit),
              std::move(place));
}

Status ValidateOptions(const Question& question, const std::string& criteria,
                       const QuestionLimits& limits) {
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    const Option& option = question.options[i];
    if (question.type == QuestionType::kScore) {
      if (IsEmpty(option.description)) {
        return Fail(ErrorCode::kInvalidArgument, "a level must not be empty",
                    JsonPointer(criteria, std::to_string(i)));
      }
      continue;
    }
    const std::string place = JsonPointer(criteria, option.name);
    if (option.name.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "an option's name must not be empty", place);
    }
    if (option.name.size() > limits.max_name_bytes) {
      return TooMany("bytes in an option's name", option.name.size(), "max_name_bytes",
                     limits.max_name_bytes, criteria + "/(option " + std::to_string(i) + ")");
    }
    if (!names.insert(option.name).second) {
      return Fail(ErrorCode::kInvalidArgument, "two options have this name", place);
    }
  }
  return {};
}

Status ValidateQuestion(const Question& question, const std::string& place,
                        const QuestionLimits& limits) {
  const std::string criteria = place + "/criteria";
  const std::size_t n = question.options.size();
  switch (question.type) {
    case QuestionType::kNoul:
      if (n != 2 || question.options[0].name != "false" || question.options[1].name != "true") {
        return Fail(ErrorCode::kInvalidArgument, "a noul's options are \"false\" and \"true\"",
                    criteria);
      }
      if (IsEmpty(question.instructions) && IsEmpty(question.options[0].description) &&
          IsEmpty(question.options[1].description)) {
        return Fail(ErrorCode::kInvalidArgument,
                    "a noul needs instructions or a criterion for true or false", place);
      }
      break;
    case QuestionType::kSelect:
      if (question.min_selected < 0 || question.min_selected > static_cast<int>(n)) {
        return Fail(ErrorCode::kInvalidArgument,
                    "min is " + std::to_string(question.min_selected) + "; expected 0 to the " +
                        std::to_string(n) + " options",
                    place + "/min");
      }
      if (question.max_selected && *question.max_selected < std::max(question.min_selected, 1)) {
        return Fail(ErrorCode::kInvalidArgument,
                    "max is " + std::to_string(*question.max_selected) +
                        "; expected at least 1 and at least min",
                    place + "/max");
      }
      [[fallthrough]];
    case QuestionType::kChoice:
      if (n == 0) {
        return Fail(ErrorCode::kInvalidArgument, "expected at least 1 option, found 0", criteria);
      }
      if (n > limits.max_options) {
        return TooMany("options", n, "max_options", limits.max_options, criteria);
      }
      break;
    case QuestionType::kScore:
      if (n == 0) {
        return Fail(ErrorCode::kInvalidArgument, "expected at least 1 level, found 0", criteria);
      }
      if (n > limits.max_levels) {
        return TooMany("levels", n, "max_levels", limits.max_levels, criteria);
      }
      break;
  }
  return ValidateOptions(question, criteria, limits);
}

}  // namespace

Status RefuseSelects(std::span<const Question> questions, std::string_view who) {
  for (const Question& question : questions) {
    if (question.type != QuestionType::kSelect) continue;
    return Fail(ErrorCode::kUnsupported, std::string(who) + " reads no x_select",
                JsonPointer("/questions", question.id) + "/type");
  }
  return {};
}

Status ValidateQuestions(std::span<const Question> questions, const QuestionLimits& limits) {
  if (questions.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "expected at least 1 question, found 0", "/questions");
  }
  if (questions.size() > limits.max_questions) {
    return TooMany("questions", questions.size(), "max_questions", limits.max_questions,
                   "/questions");
  }
  std::unordered_set<std::string_view> ids;
  for (const Question& question : questions) {
    if (question.id.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "a question's id must not be empty", "/questions/");
    }
    if (question.id.size() > limits.max_id_bytes) {
      return TooMany("bytes in a question's id", question.id.size(), "max_id_bytes",
                     limits.max_id_bytes, "/questions");
    }
    const std::string place = JsonPointer("/questions", question.id);
    if (!ids.insert(question.id).second) {
      return Fail(ErrorCode::kInvalidArgument, "two questions have this id", place);
    }
    ADJUDGE_RETURN_IF_ERROR(ValidateQuestion(question, place, limits));
  }
  return {};
}

}  // namespace adjudge
