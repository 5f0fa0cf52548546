#include <LBFGS.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>

#include "heads/calibration.h"
#include "heads/classifier_metrics.h"

namespace adjudge {
namespace {

using Eigen::VectorXd;

bool Holds(const std::vector<int>& labels, std::size_t k) {
  return std::find(labels.begin(), labels.end(), static_cast<int>(k)) != labels.end();
}

double MeanNll(const Calibration& calibration, const ScoredItems& items) {
  std::vector<std::vector<double>> p;
  for (const std::vector<double>& scores : items.scores)
    p.push_back(calibration.Probabilities(scores));
  return MeasureClassifier(items.kind, p, items.labels).nll;
}

// The loss is convex in 1 / T, so it has one valley in log T.
double FitTemperature(const ScoredItems& items) {
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double low = std::log(Calibration::kLeastTemperature);
  double high = std::log(Calibration::kMostTemperature);
  const auto loss = [&](double log_t) {
    return MeanNll({.kind = CalibrationKind::kTemperature,
                    .labels = items.kind,
                    .temperature = std::exp(log_t)},
                   items);
  };
  double left = high - ratio * (high - low);
  double right = low + ratio * (high - low);
  double left_loss = loss(left);
  double right_loss = loss(right);
  while (high - low > 1e-5) {
    if (left_loss < right_loss) {
      high = right;
      right = left;
      right_loss = left_loss;
      left_loss = loss(left = high - ratio * (high - low));
    } else {
      low = left;
      left = right;
      left_loss = right_loss;
      right_loss = loss(right = low + ratio * (high - low));
    }
  }
  return std::clamp(std::exp((low + high) / 2), Calibration::kLeastTemperature,
                    Calibration::kMostTemperature);
}

// Minimises a smooth function; where float arithmetic ends the line search, that is the minimum.
VectorXd Minimise(VectorXd x, const std::function<double(const VectorXd&, VectorXd&)>& f) {
  LBFGSpp::LBFGSParam<double> settings;
  settings.epsilon = settings.epsilon_rel = 1e-8;
  settings.max_iterations = 500;
  settings.max_linesearch = 50;
  VectorXd best = x;
  double best_loss = 0;
  bool any = false;
  auto keep = [&](const VectorXd& at, VectorXd& gradient) {
    const double loss = f(at, gradient);
    if (std::isfinite(loss) && (!any || loss < best_loss)) {
      best = at;
      best_loss = loss;
      any = true;
    }
    return loss;
  };
  try {
    LBFGSpp::LBFGSSolver<double> solver(settings);
    double loss = 0;
    solver.minimize(keep, x, loss);
  } catch (const std::exception&) {
  }
  return best;
}

// Pulls scales towards one and biases towards zero, as one more item would.
double PriorWeight(std::size_t n) { return 1 / static_cast<double>(n); }

void FitVector(const ScoredItems& items, Calibration& out) {
  const std::size_t n_labels = items.scores[0].size();
  const auto k_of = [&](std::size_t k) { return static_cast<Eigen::Index>(k); };
  VectorXd x = VectorXd::Zero(static_cast<Eigen::Index>(2 * n_labels));  // log scales, biases
  const double share = 1 / static_cast<double>(items.scores.size());
  const double prior = PriorWeight(items.scores.size());
  const auto read = [&](const VectorXd& at) {
    Calibration c{.kind = CalibrationKind::kVector, .labels = items.kind};
    for (std::size_t k = 0; k < n_labels; ++k) {
      c.a.push_back(std::exp(std::clamp(at[k_of(k)], -3.0, 3.0)));
      c.b.push_back(at[k_of(n_labels + k)]);
    }
    return c;
  };
  x = Minimise(x, [&](const VectorXd& at, VectorXd& gradient) {
    const Calibration c = read(at);
    gradient = prior * at;
    double loss = 0.5 * prior * at.squaredNorm();
    for (std::size_t i = 0; i < items.scores.size(); ++i) {
      const std::vector<double> p = c.Probabilities(items.scores[i]);
      for (std::size_t k = 0; k < n_labels; ++k) {
        const bool holds = Holds(items.labels[i], k);
        const double d = share * (p[k] - (holds ? 1 : 0));
        if (std::abs(at[k_of(k)]) < 3) gradient[k_of(k)] += d * c.a[k] * items.scores[i][k];
        gradient[k_of(n_labels + k)] += d;
        if (holds) loss -= share * std::log(std::max(p[k], 1e-300));
        if (!holds && items.kind == LabelKind::kMultiLabel) {
          loss -= share * std::log(std::max(1 - p[k], 1e-300));
        }
      }
    }
    return loss;
  });
  const Calibration fitted = read(x);
  out.a = fitted.a;
  out.b = fitted.b;
}

// p of each item for label k, and whether the label holds.
struct OneLabel {
  std::vector<double> p;
  std::vector<char> holds;
  std::size_t n_holding = 0;
};

OneLabel Against(const ScoredItems& items, std::size_t k) {
  const Calibration plain{.labels = items.kind};
  OneLabel one;
  for (std::size_t i = 0; i < items.scores.size(); ++i) {
    one.p.push_back(plain.Probabilities(items.scores[i])[k]);
    one.holds.push_back(Holds(items.labels[i], k) ? 1 : 0);
    one.n_holding += static_cast<std::size_t>(one.holds.back());
  }
  return one;
}

double LogOf(double p) { return std::log(std::max(p, 1e-12)); }

// Logistic regression on a few features of p, with a prior at `start`. Non-negative parameters
// (the first two of beta) go by their logarithms.
VectorXd FitLogistic(const OneLabel& one, bool beta) {
  const auto n = static_cast<Eigen::Index>(beta ? 3 : 2);
  const double share = 1 / static_cast<double>(one.p.size());
  const double prior = PriorWeight(one.p.size());
  VectorXd x = VectorXd::Zero(n);
  if (!beta) x[0] = 1;
  const VectorXd start = x;
  return Minimise(x, [&](const VectorXd& at, VectorXd& gradient) {
    gradient = prior * (at - start);
    double loss = 0.5 * prior * (at - start).squaredNorm();
    for (std::size_t i = 0; i < one.p.size(); ++i) {
      const double log_p = LogOf(one.p[i]);
      const double log_rest = LogOf(1 - one.p[i]);
      const double a = beta ? std::exp(at[0]) : at[0];
      const double b = beta ? std::exp(at[1]) : 0;
      const double z = beta ? a * log_p - b * log_rest + at[2] : a * (log_p - log_rest) + at[1];
      const double q = z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z));
      const bool holds = one.holds[i] != 0;
      const double d = share * (q - (holds ? 1 : 0));
      loss -= share * LogOf(holds ? q : 1 - q);
      if (beta) {
        gradient[0] += d * a * log_p;
        gradient[1] -= d * b * log_rest;
        gradient[2] += d;
      } else {
        gradient[0] += d * (log_p - log_rest);
        gradient[1] += d;
      }
    }
    return loss;
  });
}

// Pool adjacent violators over items sorted by p.
std::vector<std::pair<double, double>> FitIsotonic(const OneLabel& one) {
  std::vector<std::size_t> order(one.p.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return one.p[a] < one.p[b]; });
  struct Block {
    double from, sum, n;
  };
  std::vector<Block> blocks;
  for (const std::size_t i : order) {
    const double y = one.holds[i] != 0 ? 1 : 0;
    if (!blocks.empty() && one.p[i] == blocks.back().from) {
      blocks.back().sum += y;
      blocks.back().n += 1;
    } else {
      blocks.push_back({one.p[i], y, 1});
    }
    while (blocks.size() > 1) {
      const Block& last = blocks.back();
      Block& before = blocks[blocks.size() - 2];
      if (before.sum / before.n < last.sum / last.n) break;
      before.sum += last.sum;
      before.n += last.n;
      blocks.pop_back();
    }
  }
  std::vector<std::pair<double, double>> steps;
  // No share of the items makes a probability of zero or one certain.
  const double least = 0.5 / static_cast<double>(one.p.size() + 1);
  for (const Block& block : blocks) {
    steps.emplace_back(steps.empty() ? 0.0 : block.from,
                       std::clamp(block.sum / block.n, least, 1 - least));
  }
  return steps;
}

}  // namespace

Result<Calibration> FitCalibration(CalibrationKind kind, const ScoredItems& items) {
  if (items.scores.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "expected at least 1 held-out item, found 0");
  }
  Calibration out{.kind = kind, .labels = items.kind};
  if (kind == CalibrationKind::kNone) return out;
  if (kind == CalibrationKind::kTemperature) {
    out.temperature = FitTemperature(items);
    return out;
  }
  if (kind == CalibrationKind::kVector) {
    FitVector(items, out);
    return out;
  }
  for (std::size_t k = 0; k < items.scores[0].size(); ++k) {
    const OneLabel one = Against(items, k);
    const bool unseen = one.n_holding == 0;
    if (kind == CalibrationKind::kIsotonic) {
      // A label that no item has keeps its probability, by a step a percent.
      std::vector<std::pair<double, double>> steps;
      for (int i = 0; i <= 100 && unseen; ++i) steps.emplace_back(i * 0.01, i * 0.01);
      out.steps.push_back(unseen ? std::move(steps) : FitIsotonic(one));
      continue;
    }
    const bool beta = kind == CalibrationKind::kBeta;
    const VectorXd x = unseen ? VectorXd() : FitLogistic(one, beta);
    out.a.push_back(unseen ? 1 : beta ? std::exp(x[0]) : x[0]);
    out.b.push_back(unseen ? (beta ? 1 : 0) : beta ? std::exp(x[1]) : x[1]);
    if (beta) out.c.push_back(unseen ? 0 : x[2]);
  }
  return out;
}

}  // namespace adjudge
