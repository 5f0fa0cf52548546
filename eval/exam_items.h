// ExamItem: one multiple-choice question with its key, and the files that hold them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace adjudge {

struct ExamOption {
  std::string label;  // as the exam calls it: "A", "2"
  std::string text;
};

struct ExamItem {
  std::string id;
  std::string stem;
  std::vector<ExamOption> options;
  std::optional<int> key;  // index of the right option
};

struct ExamLimits {
  std::size_t max_bytes = 256 << 20;
  std::size_t max_items = 1'000'000;
  std::size_t max_options = 255;
  std::size_t max_field_bytes = 1 << 20;  // of one CSV field
};

// One JSON object a line, as ARC and CommonsenseQA are published:
//   {"id", "question": {"stem", "choices": [{"text", "label"}]}, "answerKey"}
// Empty lines are skipped; answerKey may be absent. Errors have the place "line N".
Result<std::vector<ExamItem>> ReadExamJsonl(std::string_view text, const ExamLimits& limits = {});

// Rows of question, A, B, C, D, letter without a header, as MMLU is published; quoted fields may
// hold commas, line breaks and doubled quotes. Ids are `id_prefix` and the row's number from 1.
Result<std::vector<ExamItem>> ReadMmluCsv(std::string_view text, std::string_view id_prefix,
                                          const ExamLimits& limits = {});

// Ten questions of our own writing, to try a model with.
const std::vector<ExamItem>& SampleQuestions();

}  // namespace adjudge
