#include "heads/train_pointer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

#include "heads/training/fit_pointer.h"
#include "heads/training/folds.h"
#include "heads/training/parallel.h"

namespace adjudge {
namespace {

using Clock = std::chrono::steady_clock;
using Eigen::Index;

constexpr std::size_t kLeastHeldOut = 20;

// Examples of one state, so that it is computed once for all of its questions.
std::vector<std::vector<std::size_t>> ByState(std::span<const PointerExample> examples) {
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto [found, is_new] = seen.emplace(examples[i].state.text, groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(i);
  }
  return groups;
}

// The questions of a group under ids of their own.
std::vector<Question> QuestionsOf(std::span<const PointerExample> examples,
                                  const std::vector<std::size_t>& group) {
  std::vector<Question> questions;
  for (const std::size_t i : group) {
    questions.push_back(examples[i].question);
    questions.back().id = "example " + std::to_string(i);
  }
  return questions;
}

struct Spread {
  Eigen::VectorXd mean, scale;  // [dim]
};

// Of the columns that `each` visits.
template <typename Each>
Spread Measure(Index dim, const Each& each) {
  Spread spread{Eigen::VectorXd::Zero(dim), Eigen::VectorXd::Zero(dim)};
  double n = 0;
  each([&](const auto& x) {
    spread.mean += x.template cast<double>();
    ++n;
  });
  spread.mean /= n;
  each([&](const auto& x) {
    spread.scale += (x.template cast<double>() - spread.mean).array().square().matrix();
  });
  for (Index d = 0; d < dim; ++d) {
    const double deviation = std::sqrt(spread.scale[d] / n);
    const bool flat = deviation <= 1e-7 * (1 + std::abs(spread.mean[d]));
    spread.scale[d] = flat ? 0 : 1 / deviation;
  }
  return spread;
}

// (W ((x - mean) * scale) + b) as W' x + b'.
void Fold(const Eigen::MatrixXd& weight, const Eigen::VectorXd& bias, const Spread& spread,
          FloatTensor& to_weight, FloatTensor& to_bias) {
  const Index rows = weight.rows();
  const Index cols = weight.cols();
  to_weight = {.shape = {rows, cols}};
  to_bias = {.shape = {rows}};
  for (Index r = 0; r < rows; ++r) {
    double offset = bias[r];
    for (Index d = 0; d < cols; ++d) {
      const double w = weight(r, d) * spread.scale[d];
      offset -= w * spread.mean[d];
      to_weight.values.push_back(static_cast<float>(w));
    }
    to_bias.values.push_back(static_cast<float>(offset));
  }
}

class PointerTrainer {
 public:
  PointerTrainer(const Backbone& backbone, std::span<const PointerExample> examples,
                 const PointerTrainOptions& options)
      : backbone_(backbone), examples_(examples), options_(options) {}

  Result<PointerTrained> Run() {
    ADJUDGE_RETURN_IF_ERROR(Check());
    ADJUDGE_ASSIGN_OR_RETURN(out_.head.marks, ChooseMarks(*backbone_.tokenizer));
    ADJUDGE_RETURN_IF_ERROR(ComputeRows());
    const auto start = Clock::now();
    ADJUDGE_RETURN_IF_ERROR(FitRows());
    ADJUDGE_RETURN_IF_ERROR(Calibrate());
    out_.fit_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    return std::move(out_);
  }

 private:
  Status Check() const {
    if (examples_.size() < 2) {
      return Fail(ErrorCode::kInvalidArgument,
                  "expected at least 2 examples, found " + std::to_string(examples_.size()));
    }
    if (options_.head_dim < 1 || options_.head_dim > 1024) {
      return Fail(
          ErrorCode::kInvalidArgument,
          "expected a head of 1 to 1024 numbers, found " + std::to_string(options_.head_dim),
          "head_dim");
    }
    std::size_t rows = 0;
    for (const PointerExample& example : examples_) rows += example.question.options.size() + 1;
    const std::size_t bytes =
        rows * static_cast<std::size_t>(backbone_.model->config().dim) * sizeof(float);
    if (bytes <= options_.max_row_bytes) return {};
    return Fail(ErrorCode::kLimit, "the hidden states take " + std::to_string(bytes) +
                                       " bytes; max_row_bytes is " +
                                       std::to_string(options_.max_row_bytes));
  }

  Status ComputeRows() {
    ADJUDGE_ASSIGN_OR_RETURN(DecisionSession session, DecisionSession::Make(backbone_.model));
    session.CancelWith(options_.cancel);
    items_.resize(examples_.size());
    groups_ = ByState(examples_);
    const auto dim = static_cast<Index>(backbone_.model->config().dim);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (options_.progress) {
        options_.progress("states", static_cast<std::int64_t>(g),
                          static_cast<std::int64_t>(groups_.size()));
      }
      const std::vector<Question> questions = QuestionsOf(examples_, groups_[g]);
      auto reading = ReadPointerRows(session, *backbone_.tokenizer, out_.head.marks,
                                     options_.isolated, examples_[groups_[g][0]].state, questions);
      if (!reading) {
        Error error = std::move(reading).error();
        error.place = "example " + std::to_string(groups_[g][0]);
        return tl::unexpected<Error>(std::move(error));
      }
      out_.usage += reading->usage;
      out_.timings += reading->timings;
      for (std::size_t q = 0; q < questions.size(); ++q) {
        const PointerRows& rows = reading->rows[q];
        PointerItem& item = items_[groups_[g][q]];
        item.decide = Eigen::Map<const Eigen::VectorXf>(rows.decide.data(), dim);
        item.options = Eigen::Map<const Eigen::MatrixXf>(
            rows.options.data(), dim, static_cast<Index>(questions[q].options.size()));
        item.answer = examples_[groups_[g][q]].answer;
      }
    }
    return {};
  }

  // Examples of one state are held out together; which states is dealt by seed and text.
  void Deal() {
    std::vector<std::string> fingerprints;
    for (const auto& group : groups_) {
      fingerprints.push_back(ItemFingerprint(examples_[group[0]].state.text));
    }
    const std::vector<std::vector<int>> no_labels(groups_.size());
    const int parts = options_.hold_out > 0
                          ? std::max(2, static_cast<int>(std::lround(1 / options_.hold_out)))
                          : 1;
    const std::vector<int> folds = DealFolds(fingerprints, no_labels, parts, options_.seed);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const bool held = parts > 1 && folds[g] == 0;
      auto& to = held ? held_ : in_;
      to.insert(to.end(), groups_[g].begin(), groups_[g].end());
      if (!held) out_.head.training_items.insert(fingerprints[g].substr(0, 16));
    }
  }

  Status FitRows() {
    Deal();
    if (in_.empty()) return Fail(ErrorCode::kInvalidArgument, "no example is left to train on");
    const auto dim = static_cast<Index>(backbone_.model->config().dim);
    const Spread decide = Measure(dim, [&](const auto& visit) {
      for (const std::size_t i : in_) visit(items_[i].decide);
    });
    const Spread option = Measure(dim, [&](const auto& visit) {
      for (const std::size_t i : in_) {
        for (Index j = 0; j < items_[i].options.cols(); ++j) visit(items_[i].options.col(j));
      }
    });
    raw_ = items_;
    const auto shift = [](const Spread& spread, auto&& x) {
      for (Index d = 0; d < x.size(); ++d) {
        x[d] = static_cast<float>((static_cast<double>(x[d]) - spread.mean[d]) * spread.scale[d]);
      }
    };
    std::vector<const PointerItem*> chosen;
    for (PointerItem& item : items_) {
      shift(decide, item.decide);
      for (Index j = 0; j < item.options.cols(); ++j) shift(option, item.options.col(j));
    }
    for (const std::size_t i : in_) chosen.push_back(&items_[i]);
    if (options_.progress) options_.progress("fits", 0, 1);
    ADJUDGE_ASSIGN_OR_RETURN(
        const PointerFit fit,
        FitPointer(chosen, {.head_dim = options_.head_dim,
                            .decay = options_.decay,
                            .max_iterations = options_.max_iterations,
                            .seed = options_.seed,
                            .threads = options_.threads > 0 ? options_.threads : UsableThreads(),
                            .cancel = options_.cancel}));
    Fold(fit.q_weight, fit.q_bias, decide, out_.head.q_weight, out_.head.q_bias);
    Fold(fit.k_weight, fit.k_bias, option, out_.head.k_weight, out_.head.k_bias);
    out_.head.isolated = options_.isolated;
    out_.head.backbone = backbone_.fingerprint;
    out_.head.backbone_name = backbone_.name;
    return {};
  }

  Status Calibrate() {
    ScoredItems held;
    for (const std::size_t i : held_) {
      const PointerItem& item = raw_[i];
      held.scores.push_back(out_.head.Logits(
          std::span(item.decide.data(), static_cast<std::size_t>(item.decide.size())),
          std::span(item.options.data(), static_cast<std::size_t>(item.options.size()))));
      held.labels.push_back({item.answer});
    }
    const auto measure = [&](const Calibration& calibration) {
      std::vector<std::vector<double>> p;
      for (const auto& scores : held.scores) p.push_back(calibration.Probabilities(scores));
      return MeasureClassifier(LabelKind::kMultiClass, p, held.labels);
    };
    out_.held_out = measure({});
    Calibration calibration;
    // Too few would give any temperature at all.
    if (held.scores.size() >= kLeastHeldOut) {
      ADJUDGE_ASSIGN_OR_RETURN(calibration, FitCalibration(CalibrationKind::kTemperature, held));
      out_.head.temperature = calibration.temperature;
    }
    out_.calibrated = measure(calibration);
    out_.head.metrics = {{"n_examples", static_cast<double>(examples_.size())},
                         {"held_out_n", static_cast<double>(held_.size())},
                         {"held_out_accuracy", out_.held_out.accuracy},
                         {"held_out_nll", out_.held_out.nll},
                         {"held_out_ece", out_.calibrated.ece}};
    return {};
  }

  const Backbone& backbone_;
  std::span<const PointerExample> examples_;
  const PointerTrainOptions& options_;
  std::vector<std::vector<std::size_t>> groups_;
  std::vector<PointerItem> items_;  // standardised once FitRows has begun
  std::vector<PointerItem> raw_;
  std::vector<std::size_t> in_, held_;
  PointerTrained out_;
};

}  // namespace

Result<PointerTrained> TrainPointerHead(const Backbone& backbone,
                                        std::span<const PointerExample> examples,
                                        const PointerTrainOptions& options) {
  return PointerTrainer(backbone, examples, options).Run();
}

Result<PointerTest> TestPointerHead(const Backbone& backbone, const PointerHead& head,
                                    std::span<const PointerExample> examples,
                                    const std::atomic<bool>* cancel,
                                    const TrainProgress& progress) {
  ADJUDGE_ASSIGN_OR_RETURN(
      const auto decision,
      MakePointerDecisionHead(std::make_shared<const PointerHead>(head), backbone.model,
                              backbone.tokenizer, backbone.fingerprint));
  ADJUDGE_ASSIGN_OR_RETURN(DecisionSession session, DecisionSession::Make(backbone.model));
  session.CancelWith(cancel);
  const std::vector<std::vector<std::size_t>> groups = ByState(examples);
  std::vector<std::vector<double>> p;
  std::vector<std::vector<int>> labels;
  PointerTest test;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (progress) {
      progress("states", static_cast<std::int64_t>(g), static_cast<std::int64_t>(groups.size()));
    }
    const Entry& state = examples[groups[g][0]].state;
    auto decided = decision->Decide(session, state, QuestionsOf(examples, groups[g]));
    if (!decided) {
      decided.error().place = "example " + std::to_string(groups[g][0]);
      return tl::unexpected<Error>(std::move(decided).error());
    }
    test.usage += decided->usage;
    test.timings += decided->timings;
    const bool known = head.training_items.count(ItemFingerprint(state.text).substr(0, 16)) > 0;
    if (known) test.trained_on += static_cast<int>(groups[g].size());
    for (std::size_t q = 0; q < groups[g].size(); ++q) {
      p.push_back(decided->answers[q].probabilities);
      labels.push_back({examples[groups[g][q]].answer});
    }
  }
  test.metrics = MeasureClassifier(LabelKind::kMultiClass, p, labels);
  return test;
}

}  // namespace adjudge
