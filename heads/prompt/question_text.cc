#include "heads/prompt/question_text.h"

#include <algorithm>

namespace adjudge {
namespace {

std::string OneItem(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (text[i] == '\n' || text[i] == '\r') {
      out += "\n   ";
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string Heading(const Question& question, std::string_view ask) {
  std::string text;
  if (!ask.empty()) {
    text += "Answer the question with ";
    text += ask;
    text += ".\n\n";
  }
  text += "Question: ";
  if (question.instructions && !question.instructions->text.empty()) {
    text += question.instructions->text;
  } else if (question.type == QuestionType::kScore) {
    text += "Which level fits?";
  } else if (question.type == QuestionType::kNoul) {
    text += "Does the description for Yes fit?";
  } else {
    text += "Which option fits?";
  }
  return text;
}

// What follows the label: the name, and the description where that is something else.
std::string Explained(const Question& question, std::size_t i) {
  const Option& option = question.options[i];
  std::string text = OneItem(SpokenName(question, i));
  if (question.type != QuestionType::kScore && option.description &&
      !option.description->text.empty()) {
    text += ": " + OneItem(option.description->text);
  }
  return text;
}

}  // namespace

std::string SpokenName(const Question& question, std::size_t option) {
  switch (question.type) {
    case QuestionType::kNoul:
      return question.options[option].name == "false" ? "No" : "Yes";
    case QuestionType::kScore:
      return question.options[option].description->text;
    case QuestionType::kChoice:
    case QuestionType::kSelect:
      break;
  }
  return question.options[option].name;
}

std::string_view SidesAsked(const Question& noul) {
  return noul.options.front().name == "false" ? "Yes or No" : "No or Yes";
}

bool HasDescriptions(const Question& question) {
  return question.type != QuestionType::kScore &&
         std::any_of(question.options.begin(), question.options.end(), [](const Option& option) {
           return option.description && !option.description->text.empty();
         });
}

std::string LabelledQuestion(const Question& question, std::string_view ask,
                             std::span<const std::string> labels) {
  std::string text = Heading(question, ask);
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    text += "\n" + labels[i] + ". " + Explained(question, i);
  }
  return text;
}

std::string SpokenQuestion(const Question& question, std::string_view ask, bool list) {
  std::string text = Heading(question, ask);
  if (!list) return text;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    text += "\n- " + Explained(question, i);
  }
  return text;
}

}  // namespace adjudge
