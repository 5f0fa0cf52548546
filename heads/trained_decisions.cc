#include <algorithm>
#include <optional>
#include <utility>

#include "heads/json/json_value.h"
#include "heads/prompt/question_text.h"
#include "heads/readout/select_answer.h"
#include "heads/trained_head.h"

namespace adjudge {
namespace {

QuestionType TypeOf(LabelKind kind) {
  switch (kind) {
    case LabelKind::kBinary:
      return QuestionType::kNoul;
    case LabelKind::kOrdinal:
      return QuestionType::kScore;
    case LabelKind::kMultiLabel:
      return QuestionType::kSelect;
    case LabelKind::kMultiClass:
      break;
  }
  return QuestionType::kChoice;
}

class TrainedDecisionHead : public DecisionHead {
 public:
  TrainedDecisionHead(std::shared_ptr<const TrainedHead> head, TextStates states,
                      const QuestionLimits& limits)
      : head_(std::move(head)), states_(std::move(states)), limits_(limits) {}

  std::string_view name() const override { return ToString(head_->model.form); }

  Result<Decisions> Decide(DecisionSession& session, const Entry& state,
                           std::span<const Question> questions) const override {
    ADJUDGE_ASSIGN_OR_RETURN(const Orders orders, LabelsOfAll(questions));
    const std::string_view text = state.text;
    auto rows = states_.Compute(std::span(&text, 1), {.cancel = session.cancel()});
    if (!rows) return tl::unexpected<Error>(AtState(std::move(rows).error()));
    Decisions decisions{.usage = rows->usage, .timings = rows->timings};
    Answers(questions, orders, rows->values, decisions);
    return decisions;
  }

  std::vector<Result<Decisions>> DecideMany(
      DecisionSession& session, std::span<const DecisionRequest> requests) const override {
    std::vector<Result<Decisions>> decisions;
    std::vector<Orders> orders(requests.size());
    std::vector<std::size_t> good;
    std::vector<std::string_view> texts;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      decisions.emplace_back(Decisions{});
      Status ready = Prepare(requests[i], orders[i]);
      if (!ready) {
        decisions.back() = tl::unexpected<Error>(std::move(ready).error());
        continue;
      }
      good.push_back(i);
      texts.push_back(requests[i].state.text);
    }
    auto rows = states_.Compute(texts, {.cancel = session.cancel()});
    // A text that spoils the pass must spoil no other.
    if (!rows) return DecisionHead::DecideMany(session, requests);
    const auto width = static_cast<std::size_t>(states_.width());
    for (std::size_t n = 0; n < good.size(); ++n) {
      Decisions& decided = *decisions[good[n]];
      decided.usage.prompt_tokens = rows->tokens[n] + (n == 0 ? states_.prefix_tokens() : 0);
      decided.usage.forward_passes = n == 0 ? rows->usage.forward_passes : 0;
      decided.timings.prefill_ms = rows->timings.prefill_ms / static_cast<double>(good.size());
      Answers(requests[good[n]].questions, orders[good[n]],
              std::span(rows->values).subspan(n * width, width), decided);
    }
    return decisions;
  }

 private:
  // For each question, for each of its options, the head's label.
  using Orders = std::vector<std::vector<std::size_t>>;

  Result<Orders> LabelsOfAll(std::span<const Question> questions) const {
    ADJUDGE_RETURN_IF_ERROR(ValidateQuestions(questions, limits_));
    Orders orders;
    for (const Question& question : questions) {
      ADJUDGE_ASSIGN_OR_RETURN(std::vector<std::size_t> order, LabelsOf(question));
      orders.push_back(std::move(order));
    }
    return orders;
  }

  static Error AtState(Error error) {
    error.place = "/state";
    return error;
  }

  Status Prepare(const DecisionRequest& request, Orders& orders) const {
    ADJUDGE_ASSIGN_OR_RETURN(orders, LabelsOfAll(request.questions));
    Status fits = states_.Check(request.state.text);
    if (!fits) return tl::unexpected<Error>(AtState(std::move(fits).error()));
    return {};
  }

  void Answers(std::span<const Question> questions, const Orders& orders,
               std::span<const float> state, Decisions& decisions) const {
    const std::vector<double> scores = head_->model.Scores(state);
    const std::vector<double> p = head_->calibration.Probabilities(scores);
    for (std::size_t i = 0; i < questions.size(); ++i) {
      decisions.answers.push_back(MakeOne(questions[i], orders[i], scores, p));
    }
  }

  // For each option of the question the head's label.
  Result<std::vector<std::size_t>> LabelsOf(const Question& question) const {
    const std::string place = JsonPointer("/questions", question.id);
    const LabelKind kind = head_->model.kind;
    const bool two = kind == LabelKind::kBinary;
    if (question.type == QuestionType::kNoul && two) return std::vector<std::size_t>{0, 1};
    if (question.type != TypeOf(kind) && !(two && question.type == QuestionType::kChoice)) {
      return Fail(ErrorCode::kUnsupported,
                  "expected a question of the type " + std::string(ToString(TypeOf(kind))) +
                      " for a " + std::string(ToString(kind)) + " head, found " +
                      std::string(ToString(question.type)),
                  place + "/type");
    }
    if (question.options.size() != head_->labels.size()) {
      return Fail(ErrorCode::kUnsupported,
                  "expected the head's " + std::to_string(head_->labels.size()) +
                      " labels, found " + std::to_string(question.options.size()) + " options",
                  place + "/criteria");
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < question.options.size(); ++i) {
      const std::string name = SpokenName(question, i);
      const auto found = by_name_.find(name);
      const bool in_place =
          question.type != QuestionType::kScore || (found != by_name_.end() && found->second == i);
      if (found == by_name_.end() || !in_place) {
        return Fail(ErrorCode::kUnsupported,
                    found == by_name_.end() ? "the head has no such label"
                                            : "the head's labels stand in another order",
                    JsonPointer(place + "/criteria", question.options[i].name));
      }
      order.push_back(found->second);
    }
    return order;
  }

  Answer MakeOne(const Question& question, const std::vector<std::size_t>& order,
                 const std::vector<double>& scores, const std::vector<double>& p) const {
    std::vector<double> probabilities;
    std::vector<double> own;
    for (const std::size_t label : order) {
      probabilities.push_back(p[label]);
      own.push_back(scores[label]);
    }
    const bool select = question.type == QuestionType::kSelect;
    Answer answer = select ? Selection(question, probabilities)
                           : MakeAnswer(question, std::move(probabilities));
    answer.head = name();
    answer.scores = std::move(own);
    answer.calibration = ToString(head_->calibration.kind);
    if (head_->calibration.kind == CalibrationKind::kTemperature) {
      answer.temperature = head_->calibration.temperature;
    }
    return answer;
  }

  // Each label's own probability is that of its yes.
  static Answer Selection(const Question& question, const std::vector<double>& p) {
    const Question one = Question::Noul("option", "Does it fit?");
    std::vector<Answer> options;
    for (const double yes : p) {
      options.push_back(MakeAnswer(one, {1 - yes, yes}));
      options.back().logprobs = {0, 0};  // a trained head has none; taken out again below
    }
    Answer answer = SelectAnswer(question, options);
    answer.logprobs.clear();
    answer.label_mass.reset();
    return answer;
  }

  static std::map<std::string, std::size_t> ByName(const std::vector<std::string>& labels) {
    std::map<std::string, std::size_t> by_name;
    for (std::size_t i = 0; i < labels.size(); ++i) by_name.emplace(labels[i], i);
    return by_name;
  }

  std::shared_ptr<const TrainedHead> head_;
  TextStates states_;
  QuestionLimits limits_;
  std::map<std::string, std::size_t> by_name_ = ByName(head_->labels);
};

}  // namespace

Result<std::unique_ptr<DecisionHead>> MakeTrainedDecisionHead(
    std::shared_ptr<const TrainedHead> head, std::shared_ptr<const Model> model,
    std::shared_ptr<const Tokenizer> tokenizer, std::string_view fingerprint,
    const QuestionLimits& limits) {
  ADJUDGE_RETURN_IF_ERROR(head->CheckBackbone(fingerprint, model->config().name));
  if (head->backbone_dim != model->config().dim) {
    return Fail(ErrorCode::kUnsupported,
                "the head reads states of " + std::to_string(head->backbone_dim) +
                    " numbers a layer, the model has " + std::to_string(model->config().dim),
                "backbone");
  }
  ADJUDGE_ASSIGN_OR_RETURN(TextStates states,
                           TextStates::Make(std::move(model), std::move(tokenizer), head->spec));
  return std::unique_ptr<DecisionHead>(
      std::make_unique<TrainedDecisionHead>(std::move(head), std::move(states), limits));
}

Question QuestionOf(const TrainedHead& head, std::string id) {
  const std::string ask = "Which label fits?";
  switch (head.model.kind) {
    case LabelKind::kMultiClass:
      return Question::Choice(std::move(id), ask, head.labels);
    case LabelKind::kOrdinal:
      return Question::Score(std::move(id), ask, head.labels);
    case LabelKind::kBinary:
      return Question::Noul(std::move(id), head.labels[1] + "?", Entry{head.labels[1]},
                            Entry{head.labels[0]});
    case LabelKind::kMultiLabel:
      break;
  }
  Question select = Question::Choice(std::move(id), "Which labels fit?", head.labels);
  select.type = QuestionType::kSelect;
  return select;
}

}  // namespace adjudge
