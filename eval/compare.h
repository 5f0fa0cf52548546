// Compare: the same questions answered by one pass and by N decoding steps of one model.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/generate.h"
#include "engine/model.h"
#include "engine/tokenizer.h"
#include "eval/exam_items.h"
#include "heads/decision_head.h"

namespace adjudge {

struct CompareOptions {
  int steps = 30;  // most tokens that the decoding arm may take
  bool run_all_steps =
      false;  // decode on past the end of the answer, so that every item takes them
  PromptStyle prompt = PromptStyle::kAuto;
  LabelStyle labels = LabelStyle::kAuto;
  bool warm_up = true;                        // one untimed pass of each arm before the first item
  const std::atomic<bool>* cancel = nullptr;  // looked at in every pass
  std::function<void(std::size_t done, std::size_t n)> on_progress;
};

enum class Verdict {
  kRight,
  kWrong,
  kInvalid,  // the text names no option
  kUnkeyed,  // an answer to an item without a key
  kRefused,  // the item could not be asked; see CompareRow::error
};
std::string_view ToString(Verdict verdict);  // right | wrong | invalid | unkeyed | refused

// One arm's answer to one item.
struct CompareArm {
  Verdict verdict = Verdict::kRefused;
  int option = -1;     // index into the item's options, or -1
  std::string answer;  // the exam's label of that option, or empty
  // Times the model was run one after the other: 1 for the one-pass arm; for decoding the tokens
  // made, the first of which comes with the prompt's pass.
  int steps = 0;
  Usage usage;
  double ms = 0;  // from prompt tokens to answer

  // One pass alone.
  std::vector<double> probabilities;
  double label_mass = 0;
  // Decoding alone.
  std::string text;
  std::string finish_reason;
};

struct CompareRow {
  std::string id;
  std::optional<std::string> key;        // the exam's label of the right option
  std::vector<std::string> options;      // [option] texts
  std::vector<std::string> labels;       // [option] what the prompt calls them; empty when refused
  std::vector<std::string> exam_labels;  // [option]
  CompareArm one_pass;
  CompareArm decoding;
  std::string error;  // why the item was refused, or empty
};

struct CompareTotals {
  int n = 0;
  int right = 0;
  int wrong = 0;
  int invalid = 0;
  int unkeyed = 0;
  int steps = 0;
  Usage usage;
  double ms = 0;
};

struct CompareResult {
  std::vector<CompareRow> rows;  // in the order of the items; fewer when cancelled
  CompareTotals one_pass;
  CompareTotals decoding;
  int refused = 0;
  int agree = 0;  // items that both arms answered with the same option
  int max_steps = 0;
  bool cancelled = false;
};

// Both arms get the same prompt tokens on a cold cache: the one-pass arm reads the labels'
// next-token probabilities there, the decoding arm continues greedily and its text is read by
// ExtractAnswer. An invalid answer is no answer: it counts as not right. An item that cannot be
// asked (too long, no labels for so many options) is refused in its row and in no total. Errors:
// kInvalidArgument for no items or fewer than 1 step; what the template or the model refuses as a
// whole.
Result<CompareResult> Compare(std::shared_ptr<const Model> model,
                              std::shared_ptr<const Tokenizer> tokenizer,
                              std::span<const ExamItem> items, const CompareOptions& options = {});

// {"extraction_rule", "max_steps", "items": [...], "totals": {"one_pass", "decoding"}, ...}
std::string CompareJson(const CompareResult& result);
// A table of the items and one of the totals, in fixed-width columns, with the rule named below.
std::string CompareTable(const CompareResult& result);

}  // namespace adjudge
