#include "heads/train_head.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/fingerprint.h"
#include "heads/training/fit.h"
#include "heads/training/folds.h"
#include "heads/training/parallel.h"

namespace adjudge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kManyTexts = 2000;  // more are cross-validated more sparingly

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

bool IsFitted(HeadForm form) { return form != HeadForm::kCentroid && form != HeadForm::kNearest; }

// Texts in an order of their own, with labels as numbers.
struct Items {
  std::vector<std::string> labels;
  std::vector<std::size_t> source;  // [item] index of the text as given
  std::vector<std::string> fingerprints;
  FitTargets targets;
};

Result<std::vector<std::string>> LabelNames(std::span<const LabelledText> texts,
                                            const TrainOptions& options) {
  std::set<std::string> seen;
  for (const LabelledText& text : texts) seen.insert(text.labels.begin(), text.labels.end());
  std::vector<std::string> names = options.labels;
  if (names.empty()) names.assign(seen.begin(), seen.end());
  if (options.kind == LabelKind::kOrdinal && options.labels.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "an ordinal head needs its labels in order", "labels");
  }
  const std::set<std::string> distinct(names.begin(), names.end());
  if (distinct.size() != names.size()) {
    return Fail(ErrorCode::kInvalidArgument, "a label is named twice", "labels");
  }
  const std::size_t least = options.kind == LabelKind::kMultiLabel ? 1 : 2;
  const bool binary = options.kind == LabelKind::kBinary;
  if (names.size() < least || (binary && names.size() != 2)) {
    return Fail(ErrorCode::kInvalidArgument,
                std::string("expected ") + (binary ? "2 labels" : "at least 2 labels") +
                    ", found " + std::to_string(names.size()),
                "labels");
  }
  if (names.size() > options.max_labels) {
    return Fail(ErrorCode::kLimit,
                std::to_string(names.size()) + " labels; max_labels is " +
                    std::to_string(options.max_labels),
                "labels");
  }
  return names;
}

Result<std::vector<int>> LabelNumbers(const LabelledText& text, LabelKind kind,
                                      const std::vector<std::string>& names, std::size_t i) {
  const std::string place = "text " + std::to_string(i);
  if (kind != LabelKind::kMultiLabel && text.labels.size() != 1) {
    return Fail(ErrorCode::kInvalidArgument,
                "expected one label, found " + std::to_string(text.labels.size()), place);
  }
  std::vector<int> numbers;
  for (const std::string& label : text.labels) {
    const auto found = std::find(names.begin(), names.end(), label);
    if (found == names.end()) {
      return Fail(ErrorCode::kInvalidArgument, "the label \"" + label + "\" is none of the head's",
                  place);
    }
    numbers.push_back(static_cast<int>(found - names.begin()));
  }
  return numbers;
}

Result<Items> MakeItems(std::span<const LabelledText> texts, const TrainOptions& options) {
  Items items;
  ADJUDGE_ASSIGN_OR_RETURN(items.labels, LabelNames(texts, options));
  std::vector<std::pair<std::string, std::size_t>> order;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string key = ItemFingerprint(texts[i].text);
    for (const std::string& label : texts[i].labels) key += '\0' + label;
    order.emplace_back(std::move(key), i);
  }
  std::sort(order.begin(), order.end());
  items.targets.kind = options.kind;
  items.targets.n_labels = static_cast<int>(items.labels.size());
  for (const auto& [key, i] : order) {
    ADJUDGE_ASSIGN_OR_RETURN(std::vector<int> numbers,
                             LabelNumbers(texts[i], options.kind, items.labels, i));
    items.source.push_back(i);
    items.fingerprints.push_back(key.substr(0, key.find('\0')));
    items.targets.labels.push_back(std::move(numbers));
  }
  return items;
}

// Mean one. Balanced: inverse to how often the text's (first) label occurs.
void SetWeights(FitTargets& targets, bool balanced) {
  const std::size_t n = targets.labels.size();
  targets.weights.assign(n, 1.0);
  if (!balanced) return;
  std::vector<double> counts(static_cast<std::size_t>(targets.n_labels) + 1, 0.0);
  const auto slot = [&](std::size_t i) {
    return targets.labels[i].empty() ? counts.size() - 1
                                     : static_cast<std::size_t>(targets.labels[i][0]);
  };
  for (std::size_t i = 0; i < n; ++i) counts[slot(i)] += 1;
  const auto used = static_cast<double>(
      std::count_if(counts.begin(), counts.end(), [](double count) { return count > 0; }));
  for (std::size_t i = 0; i < n; ++i) {
    targets.weights[i] = static_cast<double>(n) / (used * counts[slot(i)]);
  }
}

// The states of one candidate's layers, and what makes each dimension's mean zero and spread one.
struct Standardised {
  StateMatrix raw;  // [width, items]
  StateMatrix x;
  FloatTensor mean, scale;
};

Standardised Standardise(StateMatrix raw) {
  Standardised out{.raw = std::move(raw)};
  const Eigen::Index width = out.raw.rows();
  const Eigen::Index n = out.raw.cols();
  std::vector<double> sum(static_cast<std::size_t>(width), 0.0);
  std::vector<double> square(sum.size(), 0.0);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index d = 0; d < width; ++d) sum[static_cast<std::size_t>(d)] += out.raw(d, i);
  }
  for (double& value : sum) value /= static_cast<double>(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index d = 0; d < width; ++d) {
      const double off = out.raw(d, i) - sum[static_cast<std::size_t>(d)];
      square[static_cast<std::size_t>(d)] += off * off;
    }
  }
  out.mean.shape = out.scale.shape = {width};
  out.x.resize(width, n);
  for (Eigen::Index d = 0; d < width; ++d) {
    const auto at = static_cast<std::size_t>(d);
    const double spread = std::sqrt(square[at] / static_cast<double>(n));
    out.mean.values.push_back(static_cast<float>(sum[at]));
    // A dimension that hardly varies says nothing.
    const bool flat = spread <= 1e-7 * (1 + std::abs(sum[at]));
    out.scale.values.push_back(flat ? 0.0F : static_cast<float>(1 / spread));
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index d = 0; d < width; ++d) {
      const auto at = static_cast<std::size_t>(d);
      out.x(d, i) = (out.raw(d, i) - out.mean.values[at]) * out.scale.values[at];
    }
  }
  return out;
}

class Trainer {
 public:
  Trainer(const Backbone& backbone, std::span<const LabelledText> texts,
          const TrainOptions& options)
      : backbone_(backbone), texts_(texts), options_(options) {
    threads_ = options.threads > 0 ? options.threads : UsableThreads();
  }

  Result<TrainedResult> Run() {
    ADJUDGE_RETURN_IF_ERROR(CheckOptions());
    ADJUDGE_ASSIGN_OR_RETURN(items_, MakeItems(texts_, options_));
    SetWeights(items_.targets, options_.balanced);
    ADJUDGE_RETURN_IF_ERROR(ComputeStates());
    const auto start = Clock::now();
    DealOut();
    ADJUDGE_RETURN_IF_ERROR(TryCandidates());
    ADJUDGE_RETURN_IF_ERROR(FitBest());
    ADJUDGE_RETURN_IF_ERROR(Calibrate());
    Describe();
    result_.fit_ms = MillisecondsSince(start);
    return std::move(result_);
  }

 private:
  Status CheckOptions() const;
  Status ComputeStates();
  void DealOut();
  Status TryCandidates();
  Status TryLayers(const std::vector<int>& layers);
  Result<ScoredItems> HeldOut(const Standardised& states, double decay,
                              std::vector<std::vector<double>>& starts);
  Result<HeadModel> FitOn(const Standardised& states, const std::vector<int>& chosen, double decay,
                          std::vector<double>& start) const;
  HeadModel Examples(const Standardised& states, const std::vector<int>& chosen) const;
  void ScoreItems(const HeadModel& model, const Standardised& states,
                  const std::vector<int>& chosen, ScoredItems& scored) const;
  Status FitBest();
  Status Calibrate();
  void Describe();
  StateMatrix LayerRows(const std::vector<int>& layers) const;
  void Tell(std::string_view what, std::int64_t done, std::int64_t n) const {
    if (options_.progress) options_.progress(what, done, n);
  }

  const Backbone& backbone_;
  std::span<const LabelledText> texts_;
  const TrainOptions& options_;
  int threads_ = 1;
  Items items_;
  std::vector<int> all_layers_;
  std::vector<float> states_;  // [items, all_layers * dim]
  std::vector<int> folds_;     // [item]; -1 = in every training part
  int n_folds_ = 0;
  std::vector<double> decays_;
  int fits_done_ = 0;
  int fits_planned_ = 0;
  TrainCandidate best_;
  bool any_best_ = false;
  ScoredItems best_scores_;
  TrainedResult result_;
};

Status Trainer::CheckOptions() const {
  if (options_.layers.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "expected layers, found none", "layers");
  }
  if (options_.folds != 0 && (options_.folds < 2 || options_.folds > 100)) {
    return Fail(ErrorCode::kInvalidArgument,
                "expected 2 to 100 folds, found " + std::to_string(options_.folds), "folds");
  }
  if (!std::all_of(options_.decays.begin(), options_.decays.end(),
                   [](double d) { return d > 0 && d < 1e6; })) {
    return Fail(ErrorCode::kInvalidArgument, "expected positive weight decays", "decays");
  }
  if (options_.rows < 1 || options_.rows > 4096) {
    return Fail(ErrorCode::kInvalidArgument,
                "expected 1 to 4096 rows, found " + std::to_string(options_.rows), "rows");
  }
  if (options_.hold_out < 0 || options_.hold_out > 0.5) {
    return Fail(ErrorCode::kInvalidArgument, "expected a share of 0 to 0.5", "hold_out");
  }
  if (!IsFitted(options_.form) && options_.kind != LabelKind::kMultiClass) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "a head of the form " + std::string(ToString(options_.form)) + " has multiclass labels");
  }
  if (texts_.size() < 2) {
    return Fail(ErrorCode::kInvalidArgument,
                "expected at least 2 texts, found " + std::to_string(texts_.size()));
  }
  return {};
}

Status Trainer::ComputeStates() {
  std::set<int> layers;
  for (const std::vector<int>& candidate : options_.layers) {
    layers.insert(candidate.begin(), candidate.end());
  }
  all_layers_.assign(layers.begin(), layers.end());
  StateSpec spec = options_.spec;
  spec.layers = all_layers_;
  ADJUDGE_ASSIGN_OR_RETURN(const TextStates states,
                           TextStates::Make(backbone_.model, backbone_.tokenizer, spec));
  const std::size_t bytes =
      texts_.size() * static_cast<std::size_t>(states.width()) * sizeof(float);
  if (bytes > options_.max_state_bytes) {
    return Fail(ErrorCode::kLimit, "the states of " + std::to_string(texts_.size()) +
                                       " texts take " + std::to_string(bytes) +
                                       " bytes; max_state_bytes is " +
                                       std::to_string(options_.max_state_bytes));
  }
  // In the order given, so that errors name the text by it.
  std::vector<std::string_view> in_order;
  for (const LabelledText& text : texts_) in_order.push_back(text.text);
  StateCost cost;
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<float> rows,
                           CachedStates(backbone_, states, in_order, options_.cache,
                                        options_.cancel, options_.progress, cost));
  result_.usage = cost.usage;
  result_.timings = cost.timings;
  result_.states_cached = cost.cached;
  const auto width = static_cast<std::ptrdiff_t>(states.width());
  states_.reserve(rows.size());
  for (const std::size_t i : items_.source) {
    const auto from = rows.begin() + static_cast<std::ptrdiff_t>(i) * width;
    states_.insert(states_.end(), from, from + width);
  }
  return {};
}

void Trainer::DealOut() {
  const int n = static_cast<int>(items_.source.size());
  const bool cross = options_.hold_out == 0;
  const int folds = options_.folds > 0 ? options_.folds : n > kManyTexts ? 3 : 5;
  n_folds_ = std::min(folds, n);
  folds_ = DealFolds(items_.fingerprints, items_.targets.labels, n_folds_, options_.seed);
  if (cross) return;
  // The held-out part is its own fold, the last; the others share the rest.
  const int parts = std::max(2, static_cast<int>(std::lround(1 / options_.hold_out)));
  const std::vector<int> held =
      DealFolds(items_.fingerprints, items_.targets.labels, parts, options_.seed + 1);
  for (std::size_t i = 0; i < folds_.size(); ++i) {
    if (held[i] == 0) folds_[i] = n_folds_;
  }
}

StateMatrix Trainer::LayerRows(const std::vector<int>& layers) const {
  const auto dim = static_cast<Eigen::Index>(backbone_.model->config().dim);
  const auto n = static_cast<Eigen::Index>(items_.source.size());
  const auto all = static_cast<Eigen::Index>(all_layers_.size()) * dim;
  StateMatrix out(static_cast<Eigen::Index>(layers.size()) * dim, n);
  const Eigen::Map<const StateMatrix> states(states_.data(), all, n);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto at = std::find(all_layers_.begin(), all_layers_.end(), layers[i]);
    out.middleRows(static_cast<Eigen::Index>(i) * dim, dim) =
        states.middleRows((at - all_layers_.begin()) * dim, dim);
  }
  return out;
}

HeadModel Trainer::Examples(const Standardised& states, const std::vector<int>& chosen) const {
  const Eigen::Index width = states.x.rows();
  const bool by_label = options_.form == HeadForm::kCentroid;
  const auto rows = by_label ? static_cast<std::size_t>(items_.targets.n_labels) : chosen.size();
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(width, static_cast<Eigen::Index>(rows));
  HeadModel model;
  FloatTensor labels{.shape = {static_cast<std::int64_t>(rows)}};
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const int label = items_.targets.labels[static_cast<std::size_t>(chosen[i])][0];
    Eigen::VectorXd x = states.x.col(chosen[i]).cast<double>();
    const double length = x.norm();
    if (length > 0) x /= length;
    sums.col(by_label ? label : static_cast<Eigen::Index>(i)) += x;
    labels.values.push_back(static_cast<float>(label));
  }
  FloatTensor weight{.shape = {static_cast<std::int64_t>(rows), width}};
  for (std::size_t r = 0; r < rows; ++r) {
    const auto column = sums.col(static_cast<Eigen::Index>(r));
    const double length = column.norm();
    for (Eigen::Index d = 0; d < width; ++d) {
      weight.values.push_back(static_cast<float>(length > 0 ? column[d] / length : 0));
    }
  }
  model.tensors["weight"] = std::move(weight);
  if (!by_label) model.tensors["example_labels"] = std::move(labels);
  return model;
}

Result<HeadModel> Trainer::FitOn(const Standardised& states, const std::vector<int>& chosen,
                                 double decay, std::vector<double>& start) const {
  HeadModel model;
  if (!IsFitted(options_.form)) {
    model = Examples(states, chosen);
  } else {
    FitOptions fit_options{.form = options_.form,
                           .rows = options_.rows,
                           .decay = decay,
                           .max_iterations = options_.max_iterations,
                           .seed = options_.seed,
                           .threads = threads_,
                           .cancel = options_.cancel};
    ADJUDGE_ASSIGN_OR_RETURN(const Fit fit,
                             FitHead(states.x, items_.targets, chosen, fit_options, start));
    model.tensors = FitTensors(fit, static_cast<int>(states.x.rows()), items_.targets, fit_options);
    start = fit.parameters;
  }
  model.form = options_.form;
  model.kind = options_.kind;
  model.n_labels = items_.targets.n_labels;
  model.width = static_cast<int>(states.x.rows());
  model.neighbours = options_.neighbours;
  model.tensors["mean"] = states.mean;
  model.tensors["scale"] = states.scale;
  return model;
}

void Trainer::ScoreItems(const HeadModel& model, const Standardised& states,
                         const std::vector<int>& chosen, ScoredItems& scored) const {
  constexpr int kAtOnce = 64;
  const int n = static_cast<int>(chosen.size());
  ParallelFor((n + kAtOnce - 1) / kAtOnce, threads_, [&](int part) {
    for (int i = part * kAtOnce; i < std::min(n, (part + 1) * kAtOnce); ++i) {
      const int item = chosen[static_cast<std::size_t>(i)];
      const float* state = states.raw.data() + item * states.raw.rows();
      scored.scores[static_cast<std::size_t>(item)] =
          model.Scores(std::span(state, static_cast<std::size_t>(states.raw.rows())));
    }
  });
}

// Scores of every item by a fit that did not see it; empty scores where there is none.
Result<ScoredItems> Trainer::HeldOut(const Standardised& states, double decay,
                                     std::vector<std::vector<double>>& starts) {
  ScoredItems scored{.kind = options_.kind, .labels = items_.targets.labels};
  scored.scores.resize(items_.source.size());
  for (int fold = 0; fold < n_folds_; ++fold) {
    Tell("fits", fits_done_, fits_planned_);
    std::vector<int> in;
    std::vector<int> out;
    for (std::size_t i = 0; i < folds_.size(); ++i) {
      if (folds_[i] >= n_folds_) continue;
      (folds_[i] == fold ? out : in).push_back(static_cast<int>(i));
    }
    ++fits_done_;
    if (in.empty() || out.empty()) continue;
    ADJUDGE_ASSIGN_OR_RETURN(const HeadModel model,
                             FitOn(states, in, decay, starts[static_cast<std::size_t>(fold)]));
    ScoreItems(model, states, out, scored);
  }
  return scored;
}

// Items that have scores.
ScoredItems Scored(const ScoredItems& items) {
  ScoredItems out{.kind = items.kind};
  for (std::size_t i = 0; i < items.scores.size(); ++i) {
    if (items.scores[i].empty()) continue;
    out.scores.push_back(items.scores[i]);
    out.labels.push_back(items.labels[i]);
  }
  return out;
}

ClassifierMetrics Measure(const Calibration& calibration, const ScoredItems& items) {
  std::vector<std::vector<double>> p;
  for (const std::vector<double>& scores : items.scores) {
    p.push_back(calibration.Probabilities(scores));
  }
  return MeasureClassifier(items.kind, p, items.labels);
}

Status Trainer::TryLayers(const std::vector<int>& layers) {
  const Standardised states = Standardise(LayerRows(layers));
  std::vector<double> decays = decays_;
  // Strong decay first: its solution is near the next one's.
  std::sort(decays.begin(), decays.end(), std::greater<>());
  if (!IsFitted(options_.form)) decays.resize(1);
  std::vector<std::vector<double>> starts(static_cast<std::size_t>(n_folds_));
  for (const double decay : decays) {
    // A head that is not convex begins anew, so that each fit is a function of its decay alone.
    const bool convex = options_.form == HeadForm::kLinear;
    if (!convex) starts.assign(starts.size(), {});
    ADJUDGE_ASSIGN_OR_RETURN(ScoredItems scored, HeldOut(states, decay, starts));
    const ScoredItems held = Scored(scored);
    const ClassifierMetrics metrics = Measure({.labels = options_.kind}, held);
    const TrainCandidate candidate{layers, decay, metrics.accuracy, metrics.nll};
    result_.candidates.push_back(candidate);
    const bool better = !any_best_ || candidate.accuracy > best_.accuracy ||
                        (candidate.accuracy == best_.accuracy && candidate.nll < best_.nll);
    if (!better) continue;
    any_best_ = true;
    best_ = candidate;
    best_scores_ = std::move(scored);
  }
  return {};
}

Status Trainer::TryCandidates() {
  decays_ = options_.decays;
  if (decays_.empty()) decays_ = {1e-2, 3e-3, 1e-3};
  if (options_.decays.empty() && static_cast<int>(items_.source.size()) <= kManyTexts) {
    decays_.insert(decays_.end(), {1e-1, 3e-2});
  }
  const int decays = IsFitted(options_.form) ? static_cast<int>(decays_.size()) : 1;
  fits_planned_ = static_cast<int>(options_.layers.size()) * decays * n_folds_ + 1;
  for (const std::vector<int>& layers : options_.layers) {
    ADJUDGE_RETURN_IF_ERROR(TryLayers(layers));
  }
  return {};
}

Status Trainer::FitBest() {
  Tell("fits", fits_done_, fits_planned_);
  const Standardised states = Standardise(LayerRows(best_.layers));
  std::vector<int> in;
  std::vector<int> out;
  for (std::size_t i = 0; i < folds_.size(); ++i) {
    (folds_[i] < n_folds_ ? in : out).push_back(static_cast<int>(i));
  }
  std::vector<double> start;
  ADJUDGE_ASSIGN_OR_RETURN(result_.head.model, FitOn(states, in, best_.decay, start));
  if (options_.hold_out > 0) {
    best_scores_ = {.kind = options_.kind, .labels = items_.targets.labels};
    best_scores_.scores.resize(items_.source.size());
    ScoreItems(result_.head.model, states, out, best_scores_);
  }
  for (const int i : in) {
    result_.head.training_items.insert(
        items_.fingerprints[static_cast<std::size_t>(i)].substr(0, 16));
  }
  return {};
}

Status Trainer::Calibrate() {
  const ScoredItems held = Scored(best_scores_);
  const Calibration none{.labels = options_.kind};
  result_.head.calibration = none;
  result_.held_out = Measure(none, held);
  if (!held.scores.empty()) {
    ADJUDGE_ASSIGN_OR_RETURN(result_.head.calibration, FitCalibration(options_.calibration, held));
  }
  result_.calibrated = Measure(result_.head.calibration, held);
  return {};
}

void Trainer::Describe() {
  TrainedHead& head = result_.head;
  head.labels = items_.labels;
  head.spec = options_.spec;
  head.spec.layers = best_.layers;
  head.backbone = backbone_.fingerprint;
  head.backbone_name = backbone_.name;
  head.backbone_layers = backbone_.model->config().n_layers;
  head.backbone_dim = backbone_.model->config().dim;
  head.precision = backbone_.precision;
  std::string all;
  for (std::size_t i = 0; i < items_.source.size(); ++i) {
    all += items_.fingerprints[i];
    for (const std::string& label : texts_[items_.source[i]].labels) all += '\0' + label;
    all += '\n';
  }
  head.training_data = Fingerprint(all);
  head.metrics = {{"n_texts", static_cast<double>(items_.source.size())},
                  {"held_out_n", static_cast<double>(result_.held_out.n)},
                  {"held_out_accuracy", result_.held_out.accuracy},
                  {"held_out_nll", result_.held_out.nll},
                  {"held_out_ece", result_.held_out.ece},
                  {"weight_decay", best_.decay},
                  {"folds", static_cast<double>(n_folds_)},
                  {"hold_out", options_.hold_out}};
  head.notes = {{"seed", std::to_string(options_.seed)},
                {"held_out_by", options_.hold_out > 0 ? "a part of its own" : "cross-fitting"},
                {"class_weights", options_.balanced ? "balanced" : "none"}};
}

}  // namespace

Result<TrainedResult> TrainHead(const Backbone& backbone, std::span<const LabelledText> texts,
                                const TrainOptions& options) {
  return Trainer(backbone, texts, options).Run();
}

Result<ScoredTexts> ScoreTexts(const Backbone& backbone, const TrainedHead& head,
                               std::span<const LabelledText> texts,
                               const std::filesystem::path& cache, const std::atomic<bool>* cancel,
                               const TrainProgress& progress) {
  ADJUDGE_RETURN_IF_ERROR(head.CheckBackbone(backbone.fingerprint, backbone.name));
  ScoredTexts out{.items = {.kind = head.model.kind}};
  std::vector<std::string_view> views;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ADJUDGE_ASSIGN_OR_RETURN(std::vector<int> numbers,
                             LabelNumbers(texts[i], head.model.kind, head.labels, i));
    out.items.labels.push_back(std::move(numbers));
    views.push_back(texts[i].text);
  }
  ADJUDGE_ASSIGN_OR_RETURN(const TextStates states,
                           TextStates::Make(backbone.model, backbone.tokenizer, head.spec));
  ADJUDGE_ASSIGN_OR_RETURN(
      const std::vector<float> rows,
      CachedStates(backbone, states, views, cache, cancel, progress, out.cost));
  const auto width = static_cast<std::size_t>(states.width());
  out.items.scores.resize(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out.items.scores[i] = head.model.Scores(std::span(rows).subspan(i * width, width));
  }
  return out;
}

}  // namespace adjudge
