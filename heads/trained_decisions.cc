#include <algorithm>
#include <optional>
#include <utility>

#include "heads/json/json_value.h"
#include "heads/prompt/question_text.h"
#include "heads/trained_head.h"

namespace adjudge {
namespace {

QuestionType TypeOf(LabelKind kind) {
  switch (kind) {
    case LabelKind::kBinary:
      return QuestionType::kNoul;
    case LabelKind::kOrdinal:
      return QuestionType::kScore;
    case LabelKind::kMultiClass:
    case LabelKind::kMultiLabel:
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
    ADJUDGE_RETURN_IF_ERROR(ValidateQuestions(questions, limits_));
    std::vector<std::vector<std::size_t>> orders;
    for (const Question& question : questions) {
      ADJUDGE_ASSIGN_OR_RETURN(std::vector<std::size_t> order, LabelsOf(question));
      orders.push_back(std::move(order));
    }
    const std::string_view text = state.text;
    auto rows = states_.Compute(std::span(&text, 1), {.cancel = session.cancel()});
    if (!rows) {
      rows.error().place = "/state";
      return tl::unexpected<Error>(std::move(rows).error());
    }
    const std::vector<double> scores = head_->model.Scores(rows->values);
    const std::vector<double> p = head_->calibration.Probabilities(scores);
    Decisions decisions{.usage = rows->usage, .timings = rows->timings};
    for (std::size_t i = 0; i < questions.size(); ++i) {
      decisions.answers.push_back(MakeOne(questions[i], orders[i], scores, p));
    }
    return decisions;
  }

 private:
  // For each option of the question the head's label.
  Result<std::vector<std::size_t>> LabelsOf(const Question& question) const {
    const std::string place = JsonPointer("/questions", question.id);
    const LabelKind kind = head_->model.kind;
    if (kind == LabelKind::kMultiLabel) {
      return Fail(ErrorCode::kUnsupported, "a multi-label head answers no choice between labels",
                  place);
    }
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
    Answer answer = MakeAnswer(question, std::move(probabilities));
    answer.head = name();
    answer.scores = std::move(own);
    answer.calibration = ToString(head_->calibration.kind);
    if (head_->calibration.kind == CalibrationKind::kTemperature) {
      answer.temperature = head_->calibration.temperature;
    }
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

Result<Question> QuestionOf(const TrainedHead& head, std::string id) {
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
  return Fail(ErrorCode::kUnsupported,
              "a multi-label head answers no single question; test-head measures it");
}

}  // namespace adjudge
