#include "heads/explain.h"

#include <array>
#include <string>

namespace adjudge {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The length of the sentence's end that the text begins with, 0 for none.
std::size_t EndMark(std::string_view text) {
  constexpr std::array<std::string_view, 6> kMarks = {".", "!", "?", "。", "！", "？"};
  for (const std::string_view mark : kMarks) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

// Whether a part ends before `at`, where the text has no blank.
bool EndsBefore(std::string_view state, std::size_t begin, std::size_t at, ExplainUnit unit) {
  if (at == begin) return false;
  const bool after_blank = IsBlank(state[at - 1]);
  if (unit == ExplainUnit::kWords) return after_blank;
  std::size_t last = at;
  bool line_break = false;
  while (last > begin && IsBlank(state[last - 1])) {
    line_break = line_break || state[last - 1] == '\n';
    --last;
  }
  if (line_break) return true;
  for (const std::size_t n : {std::size_t{1}, std::size_t{3}}) {
    if (last < begin + n) continue;
    const std::size_t mark = EndMark(state.substr(last - n, n));
    if (mark == n && (after_blank || n == 3)) return true;
  }
  return false;
}

}  // namespace

Result<ExplainUnit> ParseExplainUnit(std::string_view name) {
  if (name == "sentences") return ExplainUnit::kSentences;
  if (name == "words") return ExplainUnit::kWords;
  return Fail(ErrorCode::kInvalidArgument,
              "expected sentences or words, found \"" + std::string(name) + "\"");
}

std::string_view ToString(ExplainUnit unit) {
  return unit == ExplainUnit::kWords ? "words" : "sentences";
}

std::vector<std::pair<std::size_t, std::size_t>> SplitState(std::string_view state,
                                                            ExplainUnit unit) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const bool inside = (static_cast<unsigned char>(state[i]) & 0xC0) == 0x80;
    if (IsBlank(state[i]) || inside || !EndsBefore(state, begin, i, unit)) continue;
    parts.emplace_back(begin, i);
    begin = i;
  }
  if (begin < state.size()) parts.emplace_back(begin, state.size());
  return parts;
}

Result<Explanations> Explain(DecisionSession& session, const DecisionHead& head, const Entry& state,
                             std::span<const Question> questions, const ExplainOptions& options) {
  ADJUDGE_RETURN_IF_ERROR(RefuseSelects(questions, "an explanation of one option"));
  const auto parts = SplitState(state.text, options.unit);
  if (parts.size() > options.max_parts) {
    return Fail(ErrorCode::kLimit,
                std::to_string(parts.size()) + " " + std::string(ToString(options.unit)) +
                    "; max_parts is " + std::to_string(options.max_parts),
                "/state");
  }
  std::vector<DecisionRequest> requests;
  requests.push_back({.state = state, .questions = {questions.begin(), questions.end()}});
  for (const auto& [begin, end] : parts) {
    requests.push_back(requests.front());
    requests.back().state.text.erase(begin, end - begin);
  }
  const std::vector<Result<Decisions>> decided = head.DecideMany(session, requests);
  Explanations all;
  for (const Result<Decisions>& one : decided) {
    if (!one) return tl::unexpected<Error>(one.error());
    all.usage += one->usage;
    all.timings += one->timings;
  }
  for (std::size_t q = 0; q < questions.size(); ++q) {
    Explanation explanation{.unit = options.unit, .answer = decided[0]->answers[q]};
    const auto chosen = static_cast<std::size_t>(explanation.answer.chosen);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      explanation.parts.push_back({.begin = parts[i].first,
                                   .end = parts[i].second,
                                   .importance = explanation.answer.probabilities[chosen] -
                                                 decided[i + 1]->answers[q].probabilities[chosen]});
    }
    all.questions.push_back(std::move(explanation));
  }
  return all;
}

}  // namespace adjudge
