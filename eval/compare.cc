#include "eval/compare.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "eval/answer_extraction.h"
#include "heads/label_head.h"

namespace adjudge {

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRight:
      return "right";
    case Verdict::kWrong:
      return "wrong";
    case Verdict::kInvalid:
      return "invalid";
    case Verdict::kUnkeyed:
      return "unkeyed";
    case Verdict::kRefused:
      return "refused";
  }
  return "";
}

namespace {

using Clock = std::chrono::steady_clock;

double MsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// What both arms are given.
struct Prompt {
  std::vector<TokenId> tokens;
  std::vector<std::string> labels;
  std::vector<TokenId> label_ids;
};

void Grade(const ExamItem& item, std::optional<int> option, CompareArm& arm) {
  arm.option = option.value_or(-1);
  if (!option) {
    arm.verdict = Verdict::kInvalid;
    return;
  }
  arm.answer = item.options[static_cast<std::size_t>(*option)].label;
  if (!item.key) {
    arm.verdict = Verdict::kUnkeyed;
  } else {
    arm.verdict = *item.key == *option ? Verdict::kRight : Verdict::kWrong;
  }
}

void AddUsage(const Usage& usage, Usage& total) {
  total.prompt_tokens += usage.prompt_tokens;
  total.cached_tokens += usage.cached_tokens;
  total.generated_tokens += usage.generated_tokens;
  total.forced_tokens += usage.forced_tokens;
  total.forward_passes += usage.forward_passes;
}

void AddArm(const CompareArm& arm, CompareTotals& totals) {
  ++totals.n;
  totals.right += arm.verdict == Verdict::kRight ? 1 : 0;
  totals.wrong += arm.verdict == Verdict::kWrong ? 1 : 0;
  totals.invalid += arm.verdict == Verdict::kInvalid ? 1 : 0;
  totals.unkeyed += arm.verdict == Verdict::kUnkeyed ? 1 : 0;
  totals.steps += arm.steps;
  totals.ms += arm.ms;
  AddUsage(arm.usage, totals.usage);
}

class Comparison {
 public:
  Comparison(std::shared_ptr<const Tokenizer> tokenizer, LabelPrompts prompts,
             DecisionSession session, const CompareOptions& options)
      : tokenizer_(std::move(tokenizer)),
        prompts_(std::move(prompts)),
        session_(std::move(session)),
        options_(options) {
    session_.CancelWith(options_.cancel);
  }

  bool cancelled() const { return options_.cancel != nullptr && options_.cancel->load(); }

  // Nothing of what is measured later happens for the first time then.
  Status WarmUp(const ExamItem& item) {
    const auto prompt = MakePrompt(item);
    if (!prompt) return {};  // the item's own row tells why
    ADJUDGE_RETURN_IF_ERROR(ReadLabels(session_, prompt->tokens, prompt->label_ids));
    ADJUDGE_RETURN_IF_ERROR(Continue(*prompt, 2));
    return {};
  }

  Result<CompareRow> Run(const ExamItem& item) {
    CompareRow row{.id = item.id};
    if (item.key) row.key = item.options[static_cast<std::size_t>(*item.key)].label;
    for (const ExamOption& option : item.options) {
      row.options.push_back(option.text);
      row.exam_labels.push_back(option.label);
    }
    const auto prompt = MakePrompt(item);
    if (!prompt) {
      row.error = ToString(prompt.error());
      return row;
    }
    const int window = session_.model().config().context_length;
    if (static_cast<int>(prompt->tokens.size()) > window) {
      row.error = "the prompt has " + std::to_string(prompt->tokens.size()) +
                  " tokens; the model's window holds " + std::to_string(window);
      return row;
    }
    row.labels = prompt->labels;
    ADJUDGE_ASSIGN_OR_RETURN(row.one_pass, OnePass(item, *prompt));
    ADJUDGE_ASSIGN_OR_RETURN(row.decoding, Decode(item, *prompt));
    return row;
  }

 private:
  Result<Prompt> MakePrompt(const ExamItem& item) const {
    std::vector<std::string> texts;
    std::unordered_set<std::string_view> seen;  // published exams have such items
    for (const ExamOption& option : item.options) {
      if (!seen.insert(option.text).second) {
        return Fail(ErrorCode::kInvalidArgument,
                    "two options have the text \"" + option.text + "\"", item.id);
      }
      texts.push_back(option.text);
    }
    const Question question = Question::Choice(item.id, item.stem, texts);
    const Entry no_state;
    Prompt prompt;
    ADJUDGE_ASSIGN_OR_RETURN(prompt.tokens,
                             prompts_.Shared(no_state, session_.model().config().context_length));
    ADJUDGE_ASSIGN_OR_RETURN(LabelPrompt label, prompts_.Make(no_state, question));
    prompt.tokens.insert(prompt.tokens.end(), label.tokens.begin(), label.tokens.end());
    prompt.labels = std::move(label.labels);
    prompt.label_ids = std::move(label.label_ids);
    return prompt;
  }

  Result<CompareArm> OnePass(const ExamItem& item, const Prompt& prompt) {
    session_.Forget();
    CompareArm arm;
    const auto start = Clock::now();
    ContinuationSet set{.tail = {prompt.tokens.back()}};
    for (const TokenId id : prompt.label_ids) set.continuations.push_back({id});
    const PackOptions one_pass{.max_pass_tokens = static_cast<int>(prompt.tokens.size())};
    ADJUDGE_ASSIGN_OR_RETURN(
        const PackedScores scores,
        ScorePacked(session_, std::span(prompt.tokens).first(prompt.tokens.size() - 1),
                    std::span(&set, 1), one_pass));
    std::vector<double> logprobs;
    for (const std::vector<double>& tokens : scores.sets.front().token_logprobs) {
      logprobs.push_back(tokens.front());
    }
    LabelReading reading = MakeLabelReading(std::move(logprobs));
    arm.ms = MsSince(start);
    const auto best = std::max_element(reading.probabilities.begin(), reading.probabilities.end());
    Grade(item, static_cast<int>(best - reading.probabilities.begin()), arm);
    arm.usage = scores.usage;
    arm.steps = scores.usage.forward_passes;
    arm.probabilities = std::move(reading.probabilities);
    arm.label_mass = reading.label_mass;
    session_.Forget();
    return arm;
  }

  Result<GenerateResult> Continue(const Prompt& prompt, int steps) {
    Sequence sequence = session_.cache().NewSequence();
    GenerateOptions generate{
        .max_tokens = steps, .ignore_stop_ids = options_.run_all_steps, .cancel = options_.cancel};
    return Generate(session_.model(), *tokenizer_, sequence, prompt.tokens, generate);
  }

  Result<CompareArm> Decode(const ExamItem& item, const Prompt& prompt) {
    CompareArm arm;
    const auto start = Clock::now();
    ADJUDGE_ASSIGN_OR_RETURN(GenerateResult result, Continue(prompt, options_.steps));
    arm.ms = MsSince(start);
    std::vector<std::string> texts;
    for (const ExamOption& option : item.options) texts.push_back(option.text);
    Grade(item, ExtractAnswer(result.text, prompt.labels, texts), arm);
    arm.steps = static_cast<int>(result.token_ids.size());
    arm.usage = result.usage;
    arm.text = std::move(result.text);
    arm.finish_reason = ToString(result.finish_reason);
    return arm;
  }

  std::shared_ptr<const Tokenizer> tokenizer_;
  LabelPrompts prompts_;
  DecisionSession session_;
  const CompareOptions& options_;
};

void AddRow(CompareRow row, CompareResult& result) {
  if (row.error.empty()) {
    AddArm(row.one_pass, result.one_pass);
    AddArm(row.decoding, result.decoding);
    if (row.one_pass.option >= 0 && row.one_pass.option == row.decoding.option) ++result.agree;
  } else {
    ++result.refused;
  }
  result.rows.push_back(std::move(row));
}

}  // namespace

Result<CompareResult> Compare(std::shared_ptr<const Model> model,
                              std::shared_ptr<const Tokenizer> tokenizer,
                              std::span<const ExamItem> items, const CompareOptions& options) {
  if (items.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "expected at least 1 item, found 0");
  }
  if (options.steps < 1) {
    return Fail(ErrorCode::kInvalidArgument,
                "expected at least 1 step, found " + std::to_string(options.steps));
  }
  ADJUDGE_ASSIGN_OR_RETURN(LabelPrompts prompts,
                           LabelPrompts::Make(tokenizer, options.prompt, options.labels));
  ADJUDGE_ASSIGN_OR_RETURN(DecisionSession session, DecisionSession::Make(std::move(model)));
  Comparison comparison(std::move(tokenizer), std::move(prompts), std::move(session), options);
  if (options.warm_up) {
    Status warm = comparison.WarmUp(items.front());
    if (!warm && !comparison.cancelled()) return tl::unexpected<Error>(std::move(warm).error());
  }
  CompareResult result{.max_steps = options.steps};
  for (const ExamItem& item : items) {
    result.cancelled = comparison.cancelled();
    if (result.cancelled) break;
    Result<CompareRow> row = comparison.Run(item);
    // An arm that was cut short is not an answer.
    result.cancelled = comparison.cancelled();
    if (result.cancelled) break;
    if (!row) return tl::unexpected<Error>(std::move(row).error());
    AddRow(std::move(*row), result);
    if (options.on_progress) options.on_progress(result.rows.size(), items.size());
  }
  return result;
}

}  // namespace adjudge
