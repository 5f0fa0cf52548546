// Explain: which parts of a state an answer rests on, by leaving each of them out.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/cost.h"
#include "heads/answer.h"
#include "heads/decision_head.h"
#include "heads/decision_session.h"
#include "heads/question.h"

namespace adjudge {

enum class ExplainUnit { kSentences, kWords };
Result<ExplainUnit> ParseExplainUnit(std::string_view name);  // sentences | words
std::string_view ToString(ExplainUnit unit);

struct ExplainOptions {
  ExplainUnit unit = ExplainUnit::kSentences;
  std::size_t max_parts = 512;
};

struct ExplainedPart {
  std::size_t begin = 0;  // bytes of the state
  std::size_t end = 0;
  // p(chosen | state) - p(chosen | state without the part): above 0 it speaks for the option.
  double importance = 0;
};

struct Explanation {
  ExplainUnit unit = ExplainUnit::kSentences;
  Answer answer;
  std::vector<ExplainedPart> parts;  // together the whole state, in its order
};

struct Explanations {
  std::vector<Explanation> questions;  // in their order
  Usage usage;
  Timings timings;
};

// [begin, end) of each part; blanks belong to the part before them. A sentence ends with . ! ? or
// their CJK forms before a blank, or with a line break.
std::vector<std::pair<std::size_t, std::size_t>> SplitState(std::string_view state,
                                                            ExplainUnit unit);

// All states with one part left out and the whole one are asked together (DecideMany), so what they
// have in common is computed once. Errors: those of Decide; kLimit for more parts than max_parts;
// kUnsupported for a multi-select, which has no one option to explain.
Result<Explanations> Explain(DecisionSession& session, const DecisionHead& head, const Entry& state,
                             std::span<const Question> questions,
                             const ExplainOptions& options = {});

}  // namespace adjudge
