#include "heads/readout/question_reading.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

#include "engine/base/check.h"
#include "heads/abstention.h"
#include "heads/prompt/question_text.h"

namespace adjudge {
namespace {

// Orders read in one round while reading may stop early.
constexpr std::size_t kAdaptiveStep = 2;

// [shown] -> [canonical]
std::vector<double> Canonical(const std::vector<double>& shown, const std::vector<int>& order) {
  std::vector<double> out(shown.size());
  for (std::size_t i = 0; i < shown.size(); ++i) out[static_cast<std::size_t>(order[i])] = shown[i];
  return out;
}

std::vector<double> Mean(const std::vector<std::vector<double>>& rows) {
  if (rows.size() == 1) return rows.front();
  std::vector<double> mean(rows.front().size(), 0.0);
  for (const std::vector<double>& row : rows) {
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += row[i] / static_cast<double>(rows.size());
    }
  }
  return mean;
}

std::string FallbackWords(double mass, double least) {
  char words[96];
  std::snprintf(words, sizeof words, "label mass %.4g < %.4g", mass, least);
  return words;
}

}  // namespace

Result<QuestionReading> QuestionReading::Make(const Question& question, const HeadOptions& options,
                                              ReadOut read_out, bool may_fall_back,
                                              const std::string& place) {
  QuestionReading reading;
  reading.question_ = &question;
  reading.options_ = &options;
  reading.place_ = place;
  reading.read_out_ = read_out;
  reading.may_fall_back_ = may_fall_back && options.min_label_mass > 0;
  ADJUDGE_RETURN_IF_ERROR(reading.Begin());
  return reading;
}

bool QuestionReading::ShowsOptions() const {
  return read_out_ == ReadOut::kLabel || HasDescriptions(shown_) ||
         shown_.type == QuestionType::kNoul;
}

// Plans all rounds for the current read-out.
Status QuestionReading::Begin() {
  const Question& question = *question_;
  canonical_.resize(question.options.size());
  std::iota(canonical_.begin(), canonical_.end(), 0);
  if (options_->debias != Debias::kNone) canonical_ = CanonicalOrder(question);
  shown_ = question;
  for (std::size_t i = 0; i < canonical_.size(); ++i) {
    shown_.options[i] = question.options[static_cast<std::size_t>(canonical_[i])];
  }
  if (options_->none_option && question.type == QuestionType::kChoice) {
    shown_.options.push_back({.name = *options_->none_option});
  }
  own_.clear();
  weights_.clear();
  references_.clear();
  n_asked_ = 0;
  const int n = static_cast<int>(shown_.options.size());
  // Options that are not in the prompt have no order.
  const Debias debias = ShowsOptions() ? options_->debias : Debias::kNone;
  auto orders = Orders(debias, question.type, n);
  if (!orders) {
    orders.error().place = place_;
    return tl::unexpected<Error>(std::move(orders).error());
  }
  orders_ = options_->adaptive ? Shuffled(std::move(*orders)) : std::move(*orders);
  if (options_->debias == Debias::kPride && question.type == QuestionType::kChoice &&
      read_out_ == ReadOut::kLabel && (!options_->priors || !options_->priors->contains(n))) {
    return Fail(ErrorCode::kNotFound, "the priors hold none for " + std::to_string(n) + " options",
                place_);
  }
  AskRound();
  return {};
}

View QuestionReading::StateView(const std::vector<int>& order) const {
  View view{.question = shown_, .order = order, .read_out = read_out_};
  for (std::size_t i = 0; i < order.size(); ++i) {
    view.question.options[i] = shown_.options[static_cast<std::size_t>(order[i])];
  }
  return view;
}

void QuestionReading::AskRound() {
  views_.clear();
  const std::size_t step =
      options_->adaptive && AveragesOrders(options_->debias) ? kAdaptiveStep : orders_.size();
  const std::size_t end = std::min(orders_.size(), n_asked_ + step);
  for (std::size_t i = n_asked_; i < end; ++i) views_.push_back(StateView(orders_[i]));
  if (n_asked_ == 0) {
    std::vector<std::string> stand_ins;
    if (options_->debias == Debias::kPmi) stand_ins = {options_->pmi_state};
    if (options_->debias == Debias::kContextual) {
      stand_ins.assign(std::begin(kContentFree), std::end(kContentFree));
    }
    for (std::string& state : stand_ins) {
      views_.push_back(StateView(orders_.front()));
      views_.back().state = std::move(state);
    }
  }
  n_asked_ = end;
}

bool QuestionReading::Decided() const {
  if (n_asked_ == orders_.size()) return true;
  std::vector<std::vector<double>> probabilities;
  for (const std::vector<double>& weights : weights_) probabilities.push_back(Softmax(weights));
  return DisagreementBound(probabilities, static_cast<int>(orders_.size())) <= *options_->adaptive;
}

Status QuestionReading::Take(std::vector<ViewScores> scores) {
  ADJUDGE_CHECK(scores.size() == views_.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    std::vector<double> weights = Canonical(scores[i].weights, views_[i].order);
    if (views_[i].state) {
      references_.push_back(std::move(weights));
    } else {
      weights_.push_back(std::move(weights));
      own_.push_back(std::move(scores[i]));
    }
  }
  forwards_ += static_cast<int>(views_.size());
  if (!Decided()) {
    AskRound();
    return {};
  }
  views_.clear();
  if (read_out_ == ReadOut::kLikelihood || !may_fall_back_) return {};
  double mass = 0;
  for (const ViewScores& own : own_) mass += own.label_mass / static_cast<double>(own_.size());
  if (mass >= options_->min_label_mass) return {};
  fallback_ = FallbackWords(mass, options_->min_label_mass);
  read_out_ = ReadOut::kLikelihood;
  return Begin();
}

// [canonical option]
std::vector<double> QuestionReading::Probabilities() const {
  switch (options_->debias) {
    case Debias::kNone:
      return Softmax(weights_.front());
    case Debias::kCyclic:
    case Debias::kReversed:
    case Debias::kAll:
      return options_->adaptive ? MeanOfProbabilities(weights_) : MeanOfLogs(weights_);
    case Debias::kPride: {
      const std::vector<double> p = Softmax(weights_.front());
      const bool has_prior =
          question_->type == QuestionType::kChoice && read_out_ == ReadOut::kLabel;
      if (!has_prior) return p;
      return DivideByPrior(p, options_->priors->at(static_cast<int>(p.size())));
    }
    case Debias::kContextual:
      return DivideByPrior(Softmax(weights_.front()), MeanOfProbabilities(references_));
    case Debias::kPmi: {
      std::vector<double> difference = weights_.front();
      for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= references_[0][i];
      return Softmax(difference);
    }
  }
  return {};
}

namespace {

// The answer with its options in the given order instead of the canonical one. [canonical] -> given
void ToGivenOrder(const std::vector<int>& canonical, Answer& answer) {
  const std::vector<double> p = answer.probabilities;
  const std::vector<double> logprobs = answer.logprobs;
  const std::vector<std::string> labels = answer.labels;
  const std::vector<TokenId> ids = answer.label_ids;
  for (std::size_t i = 0; i < canonical.size(); ++i) {
    const auto given = static_cast<std::size_t>(canonical[i]);
    answer.probabilities[given] = p[i];
    answer.logprobs[given] = logprobs[i];
    if (!labels.empty()) answer.labels[given] = labels[i];
    if (!ids.empty()) answer.label_ids[given] = ids[i];
  }
  answer.chosen = canonical[static_cast<std::size_t>(answer.chosen)];
}

}  // namespace

Answer QuestionReading::Finish() const {
  ADJUDGE_CHECK(views_.empty() && !own_.empty());
  std::vector<double> p = Probabilities();
  const ViewScores& first = own_.front();
  Question canonical_question = shown_;
  canonical_question.options.resize(canonical_.size());
  std::optional<double> none;
  if (p.size() > canonical_.size()) {
    // The rest of the distribution is over the options that were asked for.
    none = p.back();
    p.pop_back();
    double sum = 0;
    for (const double x : p) sum += x;
    for (double& x : p) x = sum > 0 ? x / sum : 1 / static_cast<double>(p.size());
  }
  Answer answer = MakeAnswer(canonical_question, std::move(p));
  answer.none_probability = none;
  answer.head = read_out_ == ReadOut::kLabel ? "label" : "likelihood";
  answer.end = first.end;
  answer.normalization = first.normalization;
  answer.forwards = forwards_;
  answer.fallback = fallback_;
  double mass = 0;
  std::vector<std::vector<double>> logprobs;
  for (std::size_t i = 0; i < own_.size(); ++i) {
    mass += own_[i].label_mass / static_cast<double>(own_.size());
    logprobs.push_back(Canonical(own_[i].logprobs, orders_[i]));
    logprobs.back().resize(canonical_.size());
  }
  answer.label_mass = mass;
  answer.logprobs = Mean(logprobs);
  if (options_->debias != Debias::kNone) answer.debias = ToString(options_->debias);
  if (options_->debias == Debias::kPmi) answer.x0 = options_->pmi_state;
  if (own_.size() == 1) {
    answer.labels = first.labels;
    answer.label_ids = first.label_ids;
    answer.labels.resize(std::min(answer.labels.size(), canonical_.size()));
    answer.label_ids.resize(std::min(answer.label_ids.size(), canonical_.size()));
  } else if (read_out_ == ReadOut::kLabel) {
    std::vector<std::vector<double>> shown;
    for (const ViewScores& own : own_) shown.push_back(own.weights);
    answer.position_prior = PositionPrior(shown);
  }
  if (options_->adaptive && AveragesOrders(options_->debias)) {
    std::vector<std::vector<double>> probabilities;
    for (const std::vector<double>& weights : weights_) probabilities.push_back(Softmax(weights));
    answer.disagreement_bound = DisagreementBound(probabilities, static_cast<int>(orders_.size()));
  }
  const double chosen = answer.probabilities[static_cast<std::size_t>(answer.chosen)];
  if (none && *none > chosen * (1 - *none)) {
    answer.abstain_reason = "none of the options";
  } else {
    answer.abstain_reason =
        AbstainReason(chosen, answer.margin, answer.label_mass, options_->abstain);
  }
  ToGivenOrder(canonical_, answer);
  if (options_->conformal) {
    answer.prediction_set = PredictionSet(answer.probabilities, *options_->conformal);
  }
  return answer;
}

}  // namespace adjudge
