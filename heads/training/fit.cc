#include "heads/training/fit.h"

#include <LBFGS.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "engine/counter_random.h"
#include "heads/training/parallel.h"

namespace adjudge {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

constexpr Index kChunk = 512;  // texts whose gradient is summed at once

// Where each part of the parameters lies. The matrices are [outputs, inputs] and [inputs, width],
// column-major.
struct Layout {
  Index width = 0;
  Index rows = 0;     // of V; 0 = none
  Index outputs = 0;  // of W
  Index biases = 0;   // of W: outputs, or none for an ordinal head
  bool hidden = false;
  Index thresholds = 0;

  Index inputs() const { return rows > 0 ? rows : width; }
  Index down() const { return 0; }
  Index down_bias() const { return rows * width; }
  Index weight() const { return down_bias() + (hidden ? rows : 0); }
  Index bias() const { return weight() + outputs * inputs(); }
  Index threshold() const { return bias() + biases; }
  Index size() const { return threshold() + thresholds; }
};

Layout MakeLayout(Index width, LabelKind kind, int n_labels, const FitOptions& options) {
  Layout layout{.width = width};
  layout.rows = options.form == HeadForm::kLinear ? 0 : options.rows;
  layout.hidden = options.form == HeadForm::kHidden;
  const bool ordinal = kind == LabelKind::kOrdinal;
  layout.outputs = ordinal || kind == LabelKind::kBinary ? 1 : n_labels;
  layout.biases = ordinal ? 0 : layout.outputs;
  layout.thresholds = ordinal ? n_labels - 1 : 0;
  return layout;
}

double Sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}
double Softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

// Thresholds are the first one and the logarithms of the steps between them.
std::vector<double> Thresholds(const double* parameters, Index n) {
  std::vector<double> thresholds;
  double at = 0;
  for (Index i = 0; i < n; ++i) {
    at = i == 0 ? parameters[0] : at + std::exp(std::clamp(parameters[i], -20.0, 20.0));
    thresholds.push_back(at);
  }
  return thresholds;
}

// The loss of one text and its derivative by the text's scores (and by the thresholds).
class TextLoss {
 public:
  TextLoss(LabelKind kind, std::vector<double> thresholds)
      : kind_(kind), thresholds_(std::move(thresholds)) {}

  // `scores` become the derivatives. `by_threshold`: [thresholds], added to.
  double operator()(const std::vector<int>& labels, double weight,
                    Eigen::Ref<Eigen::VectorXf> scores, double* by_threshold) const {
    switch (kind_) {
      case LabelKind::kMultiClass:
        return Softmax(labels[0], weight, scores);
      case LabelKind::kBinary:
        return One(labels[0] == 1, weight, scores[0]);
      case LabelKind::kMultiLabel:
        return Each(labels, weight, scores);
      case LabelKind::kOrdinal:
        return Ordinal(labels[0], weight, scores[0], by_threshold);
    }
    return 0;
  }

 private:
  static double Softmax(int label, double weight, Eigen::Ref<Eigen::VectorXf> scores) {
    const Index n = scores.size();
    double largest = -std::numeric_limits<double>::infinity();
    for (Index k = 0; k < n; ++k) largest = std::max(largest, static_cast<double>(scores[k]));
    double sum = 0;
    for (Index k = 0; k < n; ++k) sum += std::exp(static_cast<double>(scores[k]) - largest);
    const double log_sum = largest + std::log(sum);
    const double loss = log_sum - static_cast<double>(scores[label]);
    for (Index k = 0; k < n; ++k) {
      const double p = std::exp(static_cast<double>(scores[k]) - log_sum);
      scores[k] = static_cast<float>(weight * (p - (k == label ? 1 : 0)));
    }
    return weight * loss;
  }
  static double One(bool is_true, double weight, float& score) {
    const auto z = static_cast<double>(score);
    score = static_cast<float>(weight * (Sigmoid(z) - (is_true ? 1 : 0)));
    return weight * (Softplus(z) - (is_true ? z : 0));
  }
  static double Each(const std::vector<int>& labels, double weight,
                     Eigen::Ref<Eigen::VectorXf> scores) {
    double loss = 0;
    for (Index k = 0; k < scores.size(); ++k) {
      const bool is_true = std::find(labels.begin(), labels.end(), k) != labels.end();
      loss += One(is_true, weight, scores[k]);
    }
    return loss;
  }
  // -log(sigmoid(b) - sigmoid(a)), a and b the thresholds around the label less the score.
  double Ordinal(int label, double weight, float& score, double* by_threshold) const {
    const auto z = static_cast<double>(score);
    const auto k = static_cast<std::size_t>(label);
    const bool first = k == 0;
    const bool last = k == thresholds_.size();
    const double b = last ? 0 : thresholds_[k] - z;
    const double a = first ? 0 : thresholds_[k - 1] - z;
    // Derivatives of log(sigmoid(b) - sigmoid(a)) = log sigmoid(b) + log sigmoid(-a)
    //   + log(1 - exp(a - b)).
    double loss = (last ? 0 : Softplus(-b)) + (first ? 0 : Softplus(a));
    double by_b = last ? 0 : 1 - Sigmoid(b);
    double by_a = first ? 0 : -Sigmoid(a);
    if (!first && !last) {
      const double gap = std::max(b - a, 1e-12);
      loss -= std::log(-std::expm1(-gap));
      const double pull = 1 / std::expm1(gap);
      by_b += pull;
      by_a -= pull;
    }
    score = static_cast<float>(weight * (by_a + by_b));
    if (!last) by_threshold[k] -= weight * by_b;
    if (!first) by_threshold[k - 1] -= weight * by_a;
    return weight * loss;
  }

  LabelKind kind_;
  std::vector<double> thresholds_;
};

struct Cancelled {};

class Objective {
 public:
  Objective(const StateMatrix& states, const FitTargets& targets, std::span<const int> chosen,
            const FitOptions& options, const Layout& layout)
      : targets_(targets), chosen_(chosen), options_(options), layout_(layout) {
    // Gathered once, so that a chunk is one block of memory.
    x_.resize(states.rows(), static_cast<Index>(chosen.size()));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      x_.col(static_cast<Index>(i)) = states.col(chosen[i]);
    }
  }

  double operator()(const VectorXd& parameters, VectorXd& gradient) {
    if (options_.cancel != nullptr && options_.cancel->load()) throw Cancelled();
    const auto n = static_cast<Index>(chosen_.size());
    const auto n_chunks = static_cast<int>((n + kChunk - 1) / kChunk);
    partial_.resize(static_cast<std::size_t>(n_chunks));
    Prepare(parameters);
    ParallelFor(n_chunks, options_.threads, [&](int chunk) {
      const Index first = chunk * kChunk;
      RunChunk(first, std::min(kChunk, n - first), partial_[static_cast<std::size_t>(chunk)]);
    });
    return Sum(parameters, gradient);
  }

  // The best parameters seen: a line search that gives up does not lose them.
  const VectorXd& best() const { return best_; }
  double best_loss() const { return best_loss_; }

 private:
  struct Partial {
    double loss = 0;
    MatrixXf down, weight;
    VectorXd down_bias, bias, threshold;
  };

  void Prepare(const VectorXd& parameters) {
    const double* p = parameters.data();
    weight_ = Eigen::Map<const MatrixXd>(p + layout_.weight(), layout_.outputs, layout_.inputs())
                  .cast<float>();
    bias_ = Eigen::Map<const VectorXd>(p + layout_.bias(), layout_.biases).cast<float>();
    if (layout_.rows > 0) {
      down_ =
          Eigen::Map<const MatrixXd>(p + layout_.down(), layout_.rows, layout_.width).cast<float>();
    }
    if (layout_.hidden) {
      down_bias_ = Eigen::Map<const VectorXd>(p + layout_.down_bias(), layout_.rows).cast<float>();
    }
    thresholds_ = Thresholds(p + layout_.threshold(), layout_.thresholds);
  }

  void RunChunk(Index first, Index n, Partial& out) const {
    const auto x = x_.middleCols(first, n);
    MatrixXf inner;
    if (layout_.rows > 0) inner.noalias() = down_ * x;
    if (layout_.hidden) inner = (inner.colwise() + down_bias_).array().tanh().matrix();
    MatrixXf scores(layout_.outputs, n);
    if (layout_.rows > 0) {
      scores.noalias() = weight_ * inner;
    } else {
      scores.noalias() = weight_ * x;
    }
    if (layout_.biases > 0) scores.colwise() += bias_;
    out.loss = 0;
    std::vector<double> by_threshold(static_cast<std::size_t>(layout_.thresholds), 0.0);
    const TextLoss text_loss(targets_.kind, thresholds_);
    for (Index i = 0; i < n; ++i) {
      const auto text = static_cast<std::size_t>(chosen_[static_cast<std::size_t>(first + i)]);
      out.loss += text_loss(targets_.labels[text], targets_.weights[text], scores.col(i),
                            by_threshold.data());
    }
    out.threshold = Eigen::Map<const VectorXd>(by_threshold.data(), layout_.thresholds);
    out.bias.setZero(layout_.biases);
    for (Index i = 0; i < n && layout_.biases > 0; ++i) out.bias += scores.col(i).cast<double>();
    if (layout_.rows == 0) {
      out.weight.noalias() = scores * x.transpose();
      return;
    }
    out.weight.noalias() = scores * inner.transpose();
    MatrixXf back = weight_.transpose() * scores;
    if (layout_.hidden) {
      back.array() *= 1 - inner.array().square();
      out.down_bias.setZero(layout_.rows);
      for (Index i = 0; i < n; ++i) out.down_bias += back.col(i).cast<double>();
    }
    out.down.noalias() = back * x.transpose();
  }

  double Sum(const VectorXd& parameters, VectorXd& gradient) {
    gradient.setZero(layout_.size());
    const double share = 1 / static_cast<double>(chosen_.size());
    double loss = 0;
    double* g = gradient.data();
    for (const Partial& part : partial_) {
      loss += part.loss * share;
      Eigen::Map<MatrixXd>(g + layout_.weight(), layout_.outputs, layout_.inputs()) +=
          part.weight.cast<double>() * share;
      Eigen::Map<VectorXd>(g + layout_.bias(), layout_.biases) += part.bias * share;
      if (layout_.rows > 0) {
        Eigen::Map<MatrixXd>(g + layout_.down(), layout_.rows, layout_.width) +=
            part.down.cast<double>() * share;
      }
      if (layout_.hidden) {
        Eigen::Map<VectorXd>(g + layout_.down_bias(), layout_.rows) += part.down_bias * share;
      }
      AddThresholds(part.threshold * share, parameters, g + layout_.threshold());
    }
    const auto decay = [&](Index begin, Index n) {
      for (Index i = begin; i < begin + n; ++i) {
        loss += 0.5 * options_.decay * parameters[i] * parameters[i];
        g[i] += options_.decay * parameters[i];
      }
    };
    decay(layout_.down(), layout_.rows * layout_.width);
    decay(layout_.weight(), layout_.outputs * layout_.inputs());
    if (std::isfinite(loss) && (best_.size() == 0 || loss < best_loss_)) {
      best_ = parameters;
      best_loss_ = loss;
    }
    return loss;
  }

  // From derivatives by the thresholds to those by their parameters.
  void AddThresholds(const VectorXd& by_threshold, const VectorXd& parameters, double* g) const {
    double behind = 0;
    for (Index i = layout_.thresholds - 1; i >= 0; --i) {
      behind += by_threshold[i];
      const double parameter = parameters[layout_.threshold() + i];
      const bool inside = std::abs(parameter) < 20;
      g[i] += i == 0 ? behind : inside ? behind * std::exp(parameter) : 0;
    }
  }

  const FitTargets& targets_;
  std::span<const int> chosen_;
  const FitOptions& options_;
  Layout layout_;
  MatrixXf x_;
  MatrixXf weight_, down_;
  Eigen::VectorXf bias_, down_bias_;
  std::vector<double> thresholds_;
  std::vector<Partial> partial_;
  VectorXd best_;
  double best_loss_ = 0;
};

VectorXd FirstParameters(const Layout& layout, const FitOptions& options) {
  VectorXd parameters = VectorXd::Zero(layout.size());
  // Ordinal thresholds begin one apart (log 1 = 0), around zero.
  if (layout.thresholds > 0) {
    parameters[layout.threshold()] = -0.5 * static_cast<double>(layout.thresholds - 1);
  }
  if (layout.rows == 0) return parameters;
  // Both matrices zero would be a saddle point.
  const double spread = 1 / std::sqrt(static_cast<double>(layout.width));
  for (Index i = 0; i < layout.rows * layout.width; ++i) {
    parameters[i] = spread * (2 * UniformDraw(options.seed, static_cast<std::uint64_t>(i)) - 1);
  }
  return parameters;
}

FloatTensor Matrix(const double* column_major, Index rows, Index cols) {
  FloatTensor tensor{.shape = {rows, cols}};
  tensor.values.resize(static_cast<std::size_t>(rows * cols));
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < cols; ++c) {
      tensor.values[static_cast<std::size_t>(r * cols + c)] =
          static_cast<float>(column_major[c * rows + r]);
    }
  }
  return tensor;
}

FloatTensor Vector(const double* values, Index n) {
  FloatTensor tensor{.shape = {n}};
  for (Index i = 0; i < n; ++i) tensor.values.push_back(static_cast<float>(values[i]));
  return tensor;
}

}  // namespace

Result<Fit> FitHead(const StateMatrix& states, const FitTargets& targets,
                    std::span<const int> chosen, const FitOptions& options,
                    const std::vector<double>& start) {
  const Layout layout = MakeLayout(states.rows(), targets.kind, targets.n_labels, options);
  Objective objective(states, targets, chosen, options, layout);
  LBFGSpp::LBFGSParam<double> settings;
  settings.m = 10;
  settings.epsilon = 1e-8;
  settings.epsilon_rel = 1e-7;
  settings.past = 5;
  settings.delta = options.tolerance;
  settings.max_iterations = options.max_iterations;
  settings.max_linesearch = 40;
  VectorXd parameters = start.empty()
                            ? FirstParameters(layout, options)
                            : VectorXd(Eigen::Map<const VectorXd>(start.data(), layout.size()));
  Fit fit;
  try {
    LBFGSpp::LBFGSSolver<double> solver(settings);
    double loss = 0;
    fit.iterations = solver.minimize(objective, parameters, loss);
  } catch (const Cancelled&) {
    return Fail(ErrorCode::kCancelled, "the fit was cancelled", "fit");
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kLimit, "no memory for the fit", "fit");
  } catch (const std::exception&) {
    // A line search that finds no better point ends the fit where float arithmetic ends it.
  }
  fit.parameters.assign(objective.best().data(), objective.best().data() + layout.size());
  fit.loss = objective.best_loss();
  return fit;
}

std::map<std::string, FloatTensor> FitTensors(const Fit& fit, int width, const FitTargets& targets,
                                              const FitOptions& options) {
  const Layout layout = MakeLayout(width, targets.kind, targets.n_labels, options);
  const double* p = fit.parameters.data();
  std::map<std::string, FloatTensor> tensors;
  tensors["weight"] = Matrix(p + layout.weight(), layout.outputs, layout.inputs());
  if (layout.biases > 0) tensors["bias"] = Vector(p + layout.bias(), layout.biases);
  if (layout.rows > 0) tensors["down"] = Matrix(p + layout.down(), layout.rows, layout.width);
  if (layout.hidden) tensors["down_bias"] = Vector(p + layout.down_bias(), layout.rows);
  if (layout.thresholds > 0) {
    const std::vector<double> thresholds = Thresholds(p + layout.threshold(), layout.thresholds);
    FloatTensor tensor = Vector(thresholds.data(), layout.thresholds);
    // Steps that float cannot show still ascend.
    for (std::size_t i = 1; i < tensor.values.size(); ++i) {
      tensor.values[i] =
          std::max(tensor.values[i],
                   std::nextafter(tensor.values[i - 1], std::numeric_limits<float>::infinity()));
    }
    tensors["thresholds"] = std::move(tensor);
  }
  return tensors;
}

}  // namespace adjudge
