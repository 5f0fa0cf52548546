#include "heads/readout/scored_head.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "engine/base/check.h"
#include "heads/json/json_value.h"
#include "heads/likelihood_head.h"
#include "heads/packed_scores.h"
#include "heads/prompt/question_text.h"
#include "heads/readout/kept_state.h"
#include "heads/readout/select_answer.h"

namespace adjudge {
namespace {

constexpr std::string_view kLead = "Answer:";

// Fixed-width numbers, so that none begins another.
std::vector<std::string> Codes(std::size_t n) {
  const std::size_t width = std::to_string(n - 1).size();
  std::vector<std::string> codes;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string number = std::to_string(i);
    codes.push_back(std::string(width - number.size(), '0') + number);
  }
  return codes;
}

double Characters(std::string_view text) {
  return static_cast<double>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

// A view made ready: what to score, and how to read the scores.
struct ScoredHead::Plan {
  ContinuationSet set;
  bool is_label = false;
  std::vector<std::string> labels;
  std::vector<double> lengths;  // [option] that its log-probability is divided by; empty: by none
};

// A question of a request, or one option of a multi-select.
struct ScoredHead::Asked {
  std::size_t question = 0;  // of the request
  std::string place;
  std::optional<QuestionReading> reading;
  std::optional<KeptState> kept;  // where the whole state was too long
};

// Readings of one round that share a state.
struct ScoredHead::Prompt {
  std::vector<TokenId> prefix;
  std::vector<ContinuationSet> sets;
  std::vector<Plan> plans;                              // [set]
  std::vector<std::pair<std::size_t, std::size_t>> of;  // [set] -> asked, its view
};

// A request on its way.
struct ScoredHead::Work {
  std::size_t index = 0;  // among the requests
  int window = 0;
  std::string_view state;
  std::span<const Question> questions;
  std::vector<std::unique_ptr<Question>> option_questions;  // of multi-selects
  std::vector<Asked> asked;
  std::map<std::string, std::vector<TokenId>, std::less<>> prefixes;  // of state texts
  std::map<std::string, Prompt, std::less<>> prompts;                 // of this round
  Usage usage;
  Timings timings;
  std::optional<Error> error;

  bool done() const {
    return error || std::all_of(asked.begin(), asked.end(),
                                [](const Asked& one) { return one.reading->views().empty(); });
  }
};

Result<Decisions> ScoredHead::Decide(DecisionSession& session, const Entry& state,
                                     std::span<const Question> questions) const {
  ADJUDGE_ASSIGN_OR_RETURN(Work work, Begin(session, state.text, questions));
  RunRounds(session, std::span(&work, 1));
  return Collect(work);
}

std::vector<Result<Decisions>> ScoredHead::DecideMany(
    DecisionSession& session, std::span<const DecisionRequest> requests) const {
  std::vector<Result<Decisions>> decisions;
  std::vector<Work> works;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto work = Begin(session, requests[i].state.text, requests[i].questions);
    if (work) {
      decisions.emplace_back(Decisions{});
      works.push_back(std::move(*work));
      works.back().index = i;
    } else {
      decisions.emplace_back(tl::unexpected<Error>(std::move(work).error()));
    }
  }
  RunRounds(session, works);
  for (Work& work : works) decisions[work.index] = Collect(work);
  return decisions;
}

Result<ScoredHead::Work> ScoredHead::Begin(const DecisionSession& session, std::string_view state,
                                           std::span<const Question> questions) const {
  ADJUDGE_RETURN_IF_ERROR(ValidateQuestions(questions, options_.limits));
  Work work{
      .window = session.model().config().context_length, .state = state, .questions = questions};
  for (std::size_t q = 0; q < questions.size(); ++q) {
    const Question& question = questions[q];
    const std::string place = JsonPointer("/questions", question.id);
    const bool is_select = question.type == QuestionType::kSelect;
    for (std::size_t i = 0; i < (is_select ? question.options.size() : 1); ++i) {
      const Question* one = &question;
      if (is_select) {
        work.option_questions.push_back(std::make_unique<Question>(OptionQuestion(question, i)));
        one = work.option_questions.back().get();
      }
      Asked asked{.question = q, .place = place};
      ADJUDGE_ASSIGN_OR_RETURN(asked.reading, BeginReading(*one, state, place));
      work.asked.push_back(std::move(asked));
    }
  }
  ADJUDGE_RETURN_IF_ERROR(PlanRound(work));
  return work;
}

Result<QuestionReading> ScoredHead::BeginReading(const Question& question, std::string_view state,
                                                 const std::string& place) const {
  if (name_ == "likelihood") {
    return QuestionReading::Make(question, options_, ReadOut::kLikelihood, false, place);
  }
  const bool is_auto = name_ == "auto";
  ADJUDGE_ASSIGN_OR_RETURN(
      QuestionReading reading,
      QuestionReading::Make(question, options_, ReadOut::kLabel, is_auto, place));
  if (!is_auto) return reading;
  // Whether labels can name the options does not depend on their order.
  const Question& shown = reading.views().front().question;
  const auto labelled = LabelPlan(state, shown, place);
  const bool unnameable = !labelled && (labelled.error().code == ErrorCode::kLimit ||
                                        labelled.error().code == ErrorCode::kUnsupported);
  if (!unnameable) return reading;
  return QuestionReading::Make(question, options_, ReadOut::kLikelihood, false, place);
}

// The prompts of the views that are wanted now.
Status ScoredHead::PlanRound(Work& work) const {
  work.prompts.clear();
  for (std::size_t a = 0; a < work.asked.size(); ++a) {
    const std::size_t n = work.asked[a].reading->views().size();
    for (std::size_t v = 0; v < n; ++v) ADJUDGE_RETURN_IF_ERROR(PlanView(work, a, v));
  }
  return {};
}

namespace {

Status TooLong(int n_shared, int needed, int window, bool own_state, const std::string& place) {
  return Fail(ErrorCode::kLimit,
              "the state takes " + std::to_string(n_shared) +
                  " tokens and with this question and its longest option " +
                  std::to_string(needed) + "; the model's window holds " + std::to_string(window),
              own_state && n_shared >= window ? "/state" : place);
}

}  // namespace

Status ScoredHead::PlanView(Work& work, std::size_t a, std::size_t v) const {
  Asked& asked = work.asked[a];
  const View& view = asked.reading->views()[v];
  std::string text(view.state ? *view.state : asked.kept ? asked.kept->text : work.state);
  ADJUDGE_ASSIGN_OR_RETURN(Plan plan, MakePlan(text, view.question, view.read_out, asked.place));
  const int rest = LongestPath(0, plan.set);
  const auto encode = [&](const std::string& state) -> Result<int> {
    if (const auto there = work.prefixes.find(state); there != work.prefixes.end()) {
      return static_cast<int>(there->second.size());
    }
    ADJUDGE_ASSIGN_OR_RETURN(std::vector<TokenId> ids,
                             frame_.EncodeShared(*tokenizer_, state, work.window));
    const int n = static_cast<int>(ids.size());
    work.prefixes.emplace(state, std::move(ids));
    return n;
  };
  Result<int> n_shared = encode(text);
  const bool too_long =
      n_shared ? *n_shared + rest > work.window : n_shared.error().code == ErrorCode::kLimit;
  if (too_long && !view.state && options_.truncate != Truncate::kNone) {
    const auto fits = [&](const std::string& cut) {
      const auto ids = frame_.EncodeShared(*tokenizer_, cut, work.window);
      return ids && static_cast<int>(ids->size()) + rest <= work.window;
    };
    const std::size_t most = static_cast<std::size_t>(work.window) * frame_.longest_token_bytes();
    auto kept = CutState(work.state, options_.truncate, most, fits);
    if (kept) {
      asked.kept = std::move(kept);
      text = asked.kept->text;
      n_shared = encode(text);
    }
  }
  ADJUDGE_RETURN_IF_ERROR(n_shared);
  if (*n_shared + rest > work.window) {
    return TooLong(*n_shared, *n_shared + rest, work.window, !view.state, asked.place);
  }
  Prompt& prompt = work.prompts[text];
  if (prompt.prefix.empty()) prompt.prefix = work.prefixes.at(text);
  prompt.sets.push_back(std::move(plan.set));
  prompt.plans.push_back(std::move(plan));
  prompt.of.emplace_back(a, v);
  return {};
}

void ScoredHead::RunRounds(DecisionSession& session, std::span<Work> works) const {
  while (true) {
    std::vector<Work*> live;
    for (Work& work : works) {
      if (!work.done()) live.push_back(&work);
    }
    if (live.empty()) return;
    ScoreRound(session, live);
  }
}

// Work that is refused together is tried one by one, so that a request which cannot be computed
// spoils no other.
void ScoredHead::ScoreRound(DecisionSession& session, std::span<Work*> works) const {
  std::vector<ScoredPrompt> prompts;
  for (const Work* work : works) {
    for (const auto& [state, prompt] : work->prompts) {
      prompts.push_back({.prefix = prompt.prefix, .sets = prompt.sets});
    }
  }
  const auto scores = ScorePrompts(session, prompts, options_.pack);
  if (!scores && works.size() > 1 && scores.error().code != ErrorCode::kCancelled) {
    for (Work*& work : works) ScoreRound(session, std::span(&work, 1));
    return;
  }
  std::size_t at = 0;
  for (Work* work : works) {
    if (!scores) {
      work->error = scores.error();
      continue;
    }
    const std::size_t n = work->prompts.size();
    Status taken = TakeRound(*work, std::span(*scores).subspan(at, n));
    if (taken) taken = PlanRound(*work);
    if (!taken) work->error = std::move(taken).error();
    at += n;
  }
}

Status ScoredHead::TakeRound(Work& work, std::span<const PackedScores> scores) const {
  std::vector<std::vector<ViewScores>> views;
  for (const Asked& asked : work.asked) views.emplace_back(asked.reading->views().size());
  std::size_t p = 0;
  int passes = 0;
  for (const auto& [state, prompt] : work.prompts) {
    const PackedScores& found = scores[p++];
    passes = std::max(passes, found.usage.forward_passes);
    Usage usage = found.usage;
    usage.forward_passes = 0;
    work.usage += usage;
    work.timings += found.timings;
    for (std::size_t s = 0; s < prompt.sets.size(); ++s) {
      const auto [a, v] = prompt.of[s];
      views[a][v] = Read(prompt.plans[s], prompt.sets[s], found.sets[s]);
    }
  }
  work.usage.forward_passes += passes;
  for (std::size_t a = 0; a < work.asked.size(); ++a) {
    if (!views[a].empty()) {
      ADJUDGE_RETURN_IF_ERROR(work.asked[a].reading->Take(std::move(views[a])));
    }
  }
  return {};
}

Result<Decisions> ScoredHead::Collect(Work& work) const {
  if (work.error) return tl::unexpected<Error>(std::move(*work.error));
  Decisions decisions{.usage = work.usage, .timings = work.timings};
  std::size_t a = 0;
  for (std::size_t q = 0; q < work.questions.size(); ++q) {
    std::vector<Answer> answers;
    for (; a < work.asked.size() && work.asked[a].question == q; ++a) {
      answers.push_back(work.asked[a].reading->Finish());
      if (work.asked[a].kept) answers.back().truncation = work.asked[a].kept->truncation;
    }
    decisions.answers.push_back(work.questions[q].type == QuestionType::kSelect
                                    ? SelectAnswer(work.questions[q], answers)
                                    : std::move(answers.front()));
  }
  return decisions;
}

Result<ScoredHead::Plan> ScoredHead::MakePlan(std::string_view state, const Question& question,
                                              ReadOut read_out, const std::string& place) const {
  return read_out == ReadOut::kLabel ? LabelPlan(state, question, place)
                                     : LikelihoodPlan(state, question, place);
}

Result<ScoredHead::Plan> ScoredHead::LabelPlan(std::string_view state, const Question& question,
                                               const std::string& place) const {
  Plan plan{.is_label = true};
  if (options_.labels != LabelStyle::kCodes) {
    auto prompt = labels_.Make(Entry{std::string(state)}, question);
    if (prompt) {
      plan.set.tail = std::move(prompt->tokens);
      plan.labels = std::move(prompt->labels);
      for (const TokenId id : prompt->label_ids) plan.set.continuations.push_back({id});
      return plan;
    }
    const bool codes = name_ == "label" && options_.labels == LabelStyle::kAuto &&
                       prompt.error().code == ErrorCode::kLimit;
    if (!codes) return tl::unexpected<Error>(std::move(prompt).error());
  }
  plan.labels = Codes(question.options.size());
  const bool levels = question.type == QuestionType::kScore;
  const std::string text = LabelledQuestion(
      question, levels ? "the code of the correct level" : "the code of the correct option",
      plan.labels);
  ADJUDGE_ASSIGN_OR_RETURN(plan.set.tail, frame_.EncodeQuestion(*tokenizer_, state, text, kLead));
  for (const std::string& label : plan.labels) {
    ADJUDGE_ASSIGN_OR_RETURN(std::vector<TokenId> ids, OptionTokens(label));
    plan.set.continuations.push_back(std::move(ids));
  }
  std::vector<std::vector<TokenId>> sorted = plan.set.continuations;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() ||
      AnyBeginsAnother(plan.set.continuations)) {
    return Fail(ErrorCode::kUnsupported, "this model's tokens do not tell the codes apart",
                place + "/criteria");
  }
  return plan;
}

Result<std::vector<TokenId>> ScoredHead::OptionTokens(const std::string& name) const {
  ADJUDGE_ASSIGN_OR_RETURN(std::vector<TokenId> ids,
                           frame_.EncodeAnswer(*tokenizer_, kLead, " " + name));
  if (!ids.empty()) return ids;
  // The option would be fused with the lead; tokenised alone it is still a text of its own.
  const std::vector<TextSpan> alone = {{.text = " " + name, .trusted = false}};
  return tokenizer_->EncodeSpans(alone, {.starts_text = false});
}

Result<ScoredHead::Plan> ScoredHead::LikelihoodPlan(std::string_view state,
                                                    const Question& question,
                                                    const std::string& place) const {
  Plan plan;
  const std::string_view ask = question.type == QuestionType::kNoul ? SidesAsked(question) : "";
  auto tail = frame_.EncodeQuestion(
      *tokenizer_, state, SpokenQuestion(question, ask, HasDescriptions(question)), kLead);
  if (!tail) {
    tail.error().place = place;
    return tl::unexpected<Error>(std::move(tail).error());
  }
  plan.set.tail = std::move(*tail);
  const auto option_place = [&](std::size_t i) {
    return JsonPointer(place + "/criteria", question.options[i].name);
  };
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    const std::string name = SpokenName(question, i);
    auto ids = OptionTokens(name);
    if (!ids) {
      ids.error().place = option_place(i);
      return tl::unexpected<Error>(std::move(ids).error());
    }
    if (ids->empty())
      return Fail(ErrorCode::kUnsupported, "the option has no tokens", option_place(i));
    plan.set.continuations.push_back(std::move(*ids));
    if (options_.norm == LikelihoodNorm::kMeanPerByte) {
      plan.lengths.push_back(static_cast<double>(name.size()));
    } else if (options_.norm == LikelihoodNorm::kMeanPerCharacter) {
      plan.lengths.push_back(Characters(name));
    }
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
                option_place(order[i]));
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

ViewScores ScoredHead::Read(const Plan& plan, const ContinuationSet& set,
                            const ContinuationScores& scores) const {
  ViewScores read;
  if (plan.is_label) {
    for (const std::vector<double>& tokens : scores.token_logprobs) {
      double sum = tokens.front();
      for (std::size_t i = 1; i < tokens.size(); ++i) sum += tokens[i];
      read.logprobs.push_back(sum);
    }
    LabelReading reading = MakeLabelReading(read.logprobs);
    read.weights = read.logprobs;
    read.label_mass = reading.label_mass;
    read.labels = plan.labels;
    const auto single = [](const std::vector<TokenId>& label) { return label.size() == 1; };
    if (std::all_of(set.continuations.begin(), set.continuations.end(), single)) {
      for (const std::vector<TokenId>& label : set.continuations) {
        read.label_ids.push_back(label.front());
      }
    }
    return read;
  }
  LikelihoodReading reading =
      MakeLikelihoodReading(set.continuations, scores, options_.norm, plan.lengths);
  read.logprobs = std::move(reading.logprobs);
  read.weights = std::move(reading.weights);
  read.label_mass = reading.label_mass;
  read.end = reading.end_counted ? "stop" : "none";
  read.normalization = ToString(options_.norm);
  return read;
}

}  // namespace adjudge
