// Question: what is asked about a state, with the outcomes that an answer may have.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace adjudge {

enum class QuestionType {
  kNoul,    // yes or no
  kChoice,  // one of named options
  kScore,   // one of ordered levels
  kSelect,  // any number of named options, each read as a yes-or-no question
};
std::string_view ToString(QuestionType type);  // noul | choice | score | x_select

// A piece of a request: plain text, or a structured value (object or array) kept as JSON text with
// its keys in the sender's order. A model is shown `text` in both cases.
struct Entry {
  std::string text;
  bool structured = false;

  friend bool operator==(const Entry&, const Entry&) = default;
};

struct Option {
  std::string name;
  std::optional<Entry> description;

  friend bool operator==(const Option&, const Option&) = default;
};

// A value. `options` are the outcomes in the order of Answer::probabilities:
//   noul    "false", "true", each with an optional description (so the index is the truth value);
//   choice  the options as listed;
//   select  the same;
//   score   "0" .. "n-1", low to high, whose description is the level.
// The id names the answer and never reaches a model.
struct Question {
  std::string id;
  QuestionType type = QuestionType::kChoice;
  std::optional<Entry> instructions;
  std::vector<Option> options;
  // Of a select: how many options an answer must and may hold.
  int min_selected = 0;
  std::optional<int> max_selected;

  static Question Noul(std::string id, std::string instructions,
                       std::optional<Entry> if_true = std::nullopt,
                       std::optional<Entry> if_false = std::nullopt);
  static Question Choice(std::string id, std::string instructions,
                         std::span<const std::string> names);
  static Question Score(std::string id, std::string instructions,
                        std::span<const std::string> levels);

  friend bool operator==(const Question&, const Question&) = default;
};

struct QuestionLimits {
  std::size_t max_questions = 4096;
  std::size_t max_options = 1024;  // of a choice or select
  std::size_t max_levels = 255;    // of a score
  std::size_t max_id_bytes = 4096;
  std::size_t max_name_bytes = 16 << 10;  // of an option's name
};

// Every rule that holds for questions however they were made: at least one, ids distinct and not
// empty, at least one option, names distinct and not empty, levels present and not empty, a noul
// with instructions or a described side, the limits. The error's place is a JSON pointer such as
// "/questions/mood/criteria/2".
Status ValidateQuestions(std::span<const Question> questions, const QuestionLimits& limits = {});

// kUnsupported where one is a multi-select, for those who cannot answer it: `who` "reads none".
Status RefuseSelects(std::span<const Question> questions, std::string_view who);

}  // namespace adjudge
