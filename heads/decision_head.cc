#include "heads/decision_head.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "heads/json/json_value.h"
#include "heads/label_head.h"
#include "heads/likelihood_head.h"
#include "heads/prompt/prompt_frame.h"
#include "heads/prompt/question_text.h"

namespace adjudge {
namespace {

// A question made ready: what to score, and how to read the scores.
struct Plan {
  ContinuationSet set;
  bool is_label = false;
  std::vector<std::string> labels;
};

// Both read-outs score continuations after the same shared prompt, so questions read by either ride
// in one pass.
class ScoredHead : public DecisionHead {
 public:
  ScoredHead(std::string name, std::shared_ptr<const Tokenizer> tokenizer, PromptFrame frame,
             LabelPrompts labels, const HeadOptions& options)
      : name_(std::move(name)),
        tokenizer_(std::move(tokenizer)),
        frame_(std::move(frame)),
        labels_(std::move(labels)),
        options_(options) {}

  std::string_view name() const override { return name_; }

  Result<Decisions> Decide(DecisionSession& session, const Entry& state,
                           std::span<const Question> questions) const override {
    ADJUDGE_ASSIGN_OR_RETURN(Prepared prepared, Prepare(session, state, questions));
    std::vector<Result<Decisions>> decisions;
    decisions.emplace_back(Decisions{});
    ScoreAll(session, std::span(&prepared, 1), decisions);
    return std::move(decisions.front());
  }

  std::vector<Result<Decisions>> DecideMany(
      DecisionSession& session, std::span<const DecisionRequest> requests) const override {
    std::vector<Result<Decisions>> decisions;
    std::vector<Prepared> good;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      auto prepared = Prepare(session, requests[i].state, requests[i].questions);
      if (!prepared) {
        decisions.emplace_back(tl::unexpected<Error>(std::move(prepared).error()));
        continue;
      }
      decisions.emplace_back(Decisions{});
      good.push_back(std::move(*prepared));
      good.back().index = i;
    }
    ScoreAll(session, good, decisions);
    return decisions;
  }

 private:
  // A request made ready.
  struct Prepared {
    std::size_t index = 0;  // of the request
    std::vector<TokenId> shared;
    std::span<const Question> questions;
    std::vector<Plan> plans;            // [question]
    std::vector<ContinuationSet> sets;  // [question]
  };

  Result<Prepared> Prepare(const DecisionSession& session, const Entry& state,
                           std::span<const Question> questions) const;
  void ScoreAll(DecisionSession& session, std::span<const Prepared> prepared,
                std::vector<Result<Decisions>>& decisions) const;
  Result<Plan> MakePlan(const Entry& state, const Question& question) const {
    if (name_ == "likelihood") return LikelihoodPlan(state, question);
    auto prompt = labels_.Make(state, question);
    if (!prompt) {
      const ErrorCode code = prompt.error().code;
      const bool unnameable = code == ErrorCode::kLimit || code == ErrorCode::kUnsupported;
      if (name_ == "auto" && unnameable) return LikelihoodPlan(state, question);
      return tl::unexpected<Error>(std::move(prompt).error());
    }
    Plan plan{.set = {.tail = std::move(prompt->tokens)},
              .is_label = true,
              .labels = std::move(prompt->labels)};
    for (const TokenId id : prompt->label_ids) plan.set.continuations.push_back({id});
    return plan;
  }

  Result<Plan> LikelihoodPlan(const Entry& state, const Question& question) const;
  Result<std::vector<TokenId>> OptionTokens(const std::string& name) const;

  static Status CheckWindow(const Question& question, int n_shared, const ContinuationSet& set,
                            int window) {
    const int needed = LongestPath(n_shared, set);
    if (needed <= window) return {};
    const bool state_alone = n_shared >= window;
    return Fail(ErrorCode::kLimit,
                "the state takes " + std::to_string(n_shared) +
                    " tokens and with this question and its longest option " +
                    std::to_string(needed) + "; the model's window holds " + std::to_string(window),
                state_alone ? "/state" : JsonPointer("/questions", question.id));
  }

  Answer Read(const Question& question, const Plan& plan, const ContinuationSet& set,
              const ContinuationScores& scores) const;

  std::string name_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  PromptFrame frame_;
  LabelPrompts labels_;
  HeadOptions options_;
};

constexpr std::string_view kLead = "Answer:";

Result<ScoredHead::Prepared> ScoredHead::Prepare(const DecisionSession& session, const Entry& state,
                                                 std::span<const Question> questions) const {
  ADJUDGE_RETURN_IF_ERROR(ValidateQuestions(questions, options_.limits));
  const int window = session.model().config().context_length;
  Prepared prepared{.questions = questions};
  ADJUDGE_ASSIGN_OR_RETURN(prepared.shared, frame_.EncodeShared(*tokenizer_, state.text, window));
  const int n_shared = static_cast<int>(prepared.shared.size());
  for (const Question& question : questions) {
    ADJUDGE_ASSIGN_OR_RETURN(Plan plan, MakePlan(state, question));
    ADJUDGE_RETURN_IF_ERROR(CheckWindow(question, n_shared, plan.set, window));
    prepared.sets.push_back(std::move(plan.set));
    prepared.plans.push_back(std::move(plan));
  }
  return prepared;
}

// Fills in decisions[prepared.index]. Work that is refused together is tried one by one, so that a
// request which cannot be computed spoils no other.
void ScoredHead::ScoreAll(DecisionSession& session, std::span<const Prepared> prepared,
                          std::vector<Result<Decisions>>& decisions) const {
  if (prepared.empty()) return;
  std::vector<ScoredPrompt> prompts;
  for (const Prepared& request : prepared) {
    prompts.push_back({.prefix = request.shared, .sets = request.sets});
  }
  const auto scores = ScorePrompts(session, prompts, options_.pack);
  if (!scores && prepared.size() > 1 && scores.error().code != ErrorCode::kCancelled) {
    for (const Prepared& request : prepared) ScoreAll(session, std::span(&request, 1), decisions);
    return;
  }
  for (std::size_t p = 0; p < prepared.size(); ++p) {
    const Prepared& request = prepared[p];
    Result<Decisions>& out = decisions[request.index];
    if (!scores) {
      out = tl::unexpected<Error>(scores.error());
      continue;
    }
    const PackedScores& found = (*scores)[p];
    out->usage = found.usage;
    out->timings = found.timings;
    for (std::size_t i = 0; i < request.questions.size(); ++i) {
      out->answers.push_back(
          Read(request.questions[i], request.plans[i], request.sets[i], found.sets[i]));
    }
  }
}

Result<std::vector<TokenId>> ScoredHead::OptionTokens(const std::string& name) const {
  ADJUDGE_ASSIGN_OR_RETURN(std::vector<TokenId> ids,
                           frame_.EncodeAnswer(*tokenizer_, kLead, " " + name));
  if (!ids.empty()) return ids;
  // The option would be fused with the lead; tokenised alone it is still a text of its own.
  const std::vector<TextSpan> alone = {{.text = " " + name, .trusted = false}};
  return tokenizer_->EncodeSpans(alone, {.starts_text = false});
}

Result<Plan> ScoredHead::LikelihoodPlan(const Entry& state, const Question& question) const {
  const std::string place = JsonPointer("/questions", question.id);
  const std::string_view ask = question.type == QuestionType::kNoul ? "Yes or No" : "";
  Plan plan;
  auto tail = frame_.EncodeQuestion(
      *tokenizer_, state.text, SpokenQuestion(question, ask, HasDescriptions(question)), kLead);
  if (!tail) {
    tail.error().place = place;
    return tl::unexpected<Error>(std::move(tail).error());
  }
  plan.set.tail = std::move(*tail);
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    auto ids = OptionTokens(SpokenName(question, i));
    const std::string option = JsonPointer(place + "/criteria", question.options[i].name);
    if (!ids) {
      ids.error().place = option;
      return tl::unexpected<Error>(std::move(ids).error());
    }
    if (ids->empty()) return Fail(ErrorCode::kUnsupported, "the option has no tokens", option);
    plan.set.continuations.push_back(std::move(*ids));
  }
  std::vector<std::size_t> order(plan.set.continuations.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto& texts = plan.set.continuations;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return texts[a] < texts[b]; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (texts[order[i - 1]] != texts[order[i]]) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "the same tokens as option " + std::to_string(order[i - 1]) +
                    " (counted from 0), so their likelihoods cannot be told apart",
                JsonPointer(place + "/criteria", question.options[order[i]].name));
  }
  if (options_.end == EndRule::kStop ||
      (options_.end == EndRule::kAuto && AnyBeginsAnother(plan.set.continuations))) {
    plan.set.end_ids = tokenizer_->vocabulary().stop_ids();
    if (plan.set.end_ids.empty()) {
      return Fail(ErrorCode::kUnsupported,
                  "the end after each option counts, but this model has no stop token", place);
    }
  }
  return plan;
}

Answer ScoredHead::Read(const Question& question, const Plan& plan, const ContinuationSet& set,
                        const ContinuationScores& scores) const {
  if (plan.is_label) {
    std::vector<double> logprobs;
    for (const std::vector<double>& tokens : scores.token_logprobs) {
      logprobs.push_back(tokens.front());
    }
    LabelReading reading = MakeLabelReading(std::move(logprobs));
    Answer answer = MakeAnswer(question, std::move(reading.probabilities));
    answer.head = "label";
    answer.label_mass = reading.label_mass;
    answer.logprobs = std::move(reading.logprobs);
    answer.labels = plan.labels;
    for (const std::vector<TokenId>& label : set.continuations) {
      answer.label_ids.push_back(label.front());
    }
    return answer;
  }
  LikelihoodReading reading = MakeLikelihoodReading(set.continuations, scores, options_.norm);
  Answer answer = MakeAnswer(question, std::move(reading.probabilities));
  answer.head = "likelihood";
  answer.label_mass = reading.label_mass;
  answer.logprobs = std::move(reading.logprobs);
  answer.end = reading.end_counted ? "stop" : "none";
  answer.normalization = ToString(options_.norm);
  return answer;
}

template <typename T>
struct Named {
  std::string_view name;
  T value;
};

template <typename T, std::size_t n>
Result<T> ParseName(std::string_view what, std::string_view name, const Named<T> (&values)[n]) {
  std::string known;
  for (const Named<T>& value : values) {
    if (value.name == name) return value.value;
    if (!known.empty()) known += ", ";
    known += value.name;
  }
  return Fail(ErrorCode::kInvalidArgument, "expected " + std::string(what) + " " + known +
                                               ", found \"" + std::string(name) + "\"");
}

}  // namespace

std::vector<Result<Decisions>> DecisionHead::DecideMany(
    DecisionSession& session, std::span<const DecisionRequest> requests) const {
  std::vector<Result<Decisions>> decisions;
  for (const DecisionRequest& request : requests) {
    decisions.push_back(Decide(session, request.state, request.questions));
  }
  return decisions;
}

Result<std::unique_ptr<DecisionHead>> MakeDecisionHead(std::string_view name,
                                                       std::shared_ptr<const Tokenizer> tokenizer,
                                                       const HeadOptions& options) {
  if (name != "label" && name != "likelihood" && name != "auto") {
    return Fail(ErrorCode::kInvalidArgument,
                "expected the head label, likelihood or auto, found \"" + std::string(name) + "\"");
  }
  ADJUDGE_ASSIGN_OR_RETURN(PromptFrame frame, PromptFrame::Make(*tokenizer, options.prompt));
  ADJUDGE_ASSIGN_OR_RETURN(LabelPrompts labels,
                           LabelPrompts::Make(tokenizer, options.prompt, options.labels));
  return std::unique_ptr<DecisionHead>(std::make_unique<ScoredHead>(
      std::string(name), std::move(tokenizer), std::move(frame), std::move(labels), options));
}

Result<PromptStyle> ParsePromptStyle(std::string_view name) {
  constexpr Named<PromptStyle> kNames[] = {
      {"auto", PromptStyle::kAuto}, {"chat", PromptStyle::kChat}, {"plain", PromptStyle::kPlain}};
  return ParseName("the prompt", name, kNames);
}

Result<LabelStyle> ParseLabelStyle(std::string_view name) {
  constexpr Named<LabelStyle> kNames[] = {{"auto", LabelStyle::kAuto},
                                          {"letters", LabelStyle::kLetters},
                                          {"numbers", LabelStyle::kNumbers},
                                          {"words", LabelStyle::kWords}};
  return ParseName("the labels", name, kNames);
}

Result<EndRule> ParseEndRule(std::string_view name) {
  constexpr Named<EndRule> kNames[] = {
      {"auto", EndRule::kAuto}, {"none", EndRule::kNone}, {"stop", EndRule::kStop}};
  return ParseName("the end", name, kNames);
}

Result<LikelihoodNorm> ParseLikelihoodNorm(std::string_view name) {
  constexpr Named<LikelihoodNorm> kNames[] = {{"sum", LikelihoodNorm::kSum},
                                              {"mean_per_token", LikelihoodNorm::kMeanPerToken}};
  return ParseName("the normalization", name, kNames);
}

}  // namespace adjudge
