#include "heads/training/fit_pointer.h"

#include <LBFGS.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "engine/counter_random.h"
#include "heads/training/parallel.h"

namespace adjudge {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;
using Eigen::VectorXf;

constexpr Index kChunk = 128;  // items whose gradient is summed at once

struct Cancelled {};

// Parameters: W_q, b_q, W_k, b_k, the matrices [R, dim] column-major.
class Objective {
 public:
  Objective(std::span<const PointerItem* const> items, const PointerFitOptions& options)
      : items_(items),
        options_(options),
        r_(options.head_dim),
        d_(items[0]->decide.size()),
        scale_(1 / std::sqrt(static_cast<double>(r_))) {}

  Index size() const { return 2 * r_ * (d_ + 1); }

  double operator()(const VectorXd& parameters, VectorXd& gradient) {
    if (options_.cancel != nullptr && options_.cancel->load()) throw Cancelled();
    Prepare(parameters);
    const auto n = static_cast<Index>(items_.size());
    const auto n_chunks = static_cast<int>((n + kChunk - 1) / kChunk);
    partial_.resize(static_cast<std::size_t>(n_chunks));
    ParallelFor(n_chunks, options_.threads, [&](int chunk) {
      const Index first = chunk * kChunk;
      RunChunk(first, std::min(kChunk, n - first), partial_[static_cast<std::size_t>(chunk)]);
    });
    return Sum(parameters, gradient);
  }

  const VectorXd& best() const { return best_; }
  double best_loss() const { return best_loss_; }

  PointerFit Unpack(const VectorXd& p) const {
    const double* at = p.data();
    PointerFit fit;
    fit.q_weight = Eigen::Map<const MatrixXd>(at, r_, d_);
    fit.q_bias = Eigen::Map<const VectorXd>(at + r_ * d_, r_);
    fit.k_weight = Eigen::Map<const MatrixXd>(at + r_ * (d_ + 1), r_, d_);
    fit.k_bias = Eigen::Map<const VectorXd>(at + r_ * (2 * d_ + 1), r_);
    return fit;
  }

 private:
  struct Partial {
    double loss = 0;
    MatrixXf q_weight, k_weight;
    VectorXd q_bias, k_bias;
  };

  void Prepare(const VectorXd& parameters) {
    const PointerFit fit = Unpack(parameters);
    wq_ = fit.q_weight.cast<float>();
    wk_ = fit.k_weight.cast<float>();
    bq_ = fit.q_bias.cast<float>();
    bk_ = fit.k_bias.cast<float>();
  }

  void RunChunk(Index first, Index n, Partial& out) const {
    Index n_options = 0;
    for (Index i = first; i < first + n; ++i) n_options += item(i).options.cols();
    MatrixXf xq(d_, n);
    MatrixXf xk(d_, n_options);
    for (Index i = 0, at = 0; i < n; ++i) {
      xq.col(i) = item(first + i).decide;
      const MatrixXf& options = item(first + i).options;
      xk.middleCols(at, options.cols()) = options;
      at += options.cols();
    }
    MatrixXf q = wq_ * xq;
    q.colwise() += bq_;
    MatrixXf k = wk_ * xk;
    k.colwise() += bk_;
    MatrixXf dq = MatrixXf::Zero(r_, n);
    MatrixXf dk(r_, n_options);
    out.loss = 0;
    for (Index i = 0, at = 0; i < n; ++i) {
      const Index m = item(first + i).options.cols();
      const VectorXd p = Probabilities(q.col(i), k.middleCols(at, m));
      const Index answer = item(first + i).answer;
      out.loss -= std::log(std::max(p[answer], 1e-300));
      for (Index j = 0; j < m; ++j) {
        const auto by_logit = static_cast<float>((p[j] - (j == answer ? 1 : 0)) * scale_);
        dq.col(i) += by_logit * k.col(at + j);
        dk.col(at + j) = by_logit * q.col(i);
      }
      at += m;
    }
    out.q_weight.noalias() = dq * xq.transpose();
    out.k_weight.noalias() = dk * xk.transpose();
    out.q_bias.setZero(r_);
    out.k_bias.setZero(r_);
    for (Index i = 0; i < n; ++i) out.q_bias += dq.col(i).cast<double>();
    for (Index j = 0; j < n_options; ++j) out.k_bias += dk.col(j).cast<double>();
  }

  VectorXd Probabilities(const VectorXf& q, const Eigen::Ref<const MatrixXf>& k) const {
    VectorXd z(k.cols());
    for (Index j = 0; j < k.cols(); ++j) {
      double sum = 0;
      for (Index r = 0; r < r_; ++r)
        sum += static_cast<double>(q[r]) * static_cast<double>(k(r, j));
      z[j] = sum * scale_;
    }
    double largest = z[0];
    for (Index j = 1; j < z.size(); ++j) largest = std::max(largest, z[j]);
    double sum = 0;
    for (Index j = 0; j < z.size(); ++j) sum += z[j] = std::exp(z[j] - largest);
    for (Index j = 0; j < z.size(); ++j) z[j] /= sum;
    return z;
  }

  double Sum(const VectorXd& parameters, VectorXd& gradient) {
    gradient.setZero(size());
    const double share = 1 / static_cast<double>(items_.size());
    double* g = gradient.data();
    double loss = 0;
    for (const Partial& part : partial_) {
      loss += part.loss * share;
      Eigen::Map<MatrixXd>(g, r_, d_) += part.q_weight.cast<double>() * share;
      Eigen::Map<VectorXd>(g + r_ * d_, r_) += part.q_bias * share;
      Eigen::Map<MatrixXd>(g + r_ * (d_ + 1), r_, d_) += part.k_weight.cast<double>() * share;
      Eigen::Map<VectorXd>(g + r_ * (2 * d_ + 1), r_) += part.k_bias * share;
    }
    const auto decay = [&](Index begin) {
      for (Index i = begin; i < begin + r_ * d_; ++i) {
        loss += 0.5 * options_.decay * parameters[i] * parameters[i];
        g[i] += options_.decay * parameters[i];
      }
    };
    decay(0);
    decay(r_ * (d_ + 1));
    if (std::isfinite(loss) && (best_.size() == 0 || loss < best_loss_)) {
      best_ = parameters;
      best_loss_ = loss;
    }
    return loss;
  }

  const PointerItem& item(Index i) const { return *items_[static_cast<std::size_t>(i)]; }

  std::span<const PointerItem* const> items_;
  const PointerFitOptions& options_;
  Index r_, d_;
  double scale_;
  MatrixXf wq_, wk_;
  VectorXf bq_, bk_;
  std::vector<Partial> partial_;
  VectorXd best_;
  double best_loss_ = 0;
};

}  // namespace

Result<PointerFit> FitPointer(std::span<const PointerItem* const> items,
                              const PointerFitOptions& options) {
  Objective objective(items, options);
  VectorXd parameters(objective.size());
  const double spread = 1 / std::sqrt(static_cast<double>(items[0]->decide.size()));
  for (Index i = 0; i < parameters.size(); ++i) {
    parameters[i] = spread * (2 * UniformDraw(options.seed, static_cast<std::uint64_t>(i)) - 1);
  }
  LBFGSpp::LBFGSParam<double> settings;
  settings.m = 10;
  settings.epsilon = 1e-8;
  settings.epsilon_rel = 1e-7;
  settings.past = 5;
  settings.delta = 1e-5;
  settings.max_iterations = options.max_iterations;
  settings.max_linesearch = 40;
  try {
    LBFGSpp::LBFGSSolver<double> solver(settings);
    double loss = 0;
    solver.minimize(objective, parameters, loss);
  } catch (const Cancelled&) {
    return Fail(ErrorCode::kCancelled, "the fit was cancelled", "fit");
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kLimit, "no memory for the fit", "fit");
  } catch (const std::exception&) {
    // A line search that finds no better point ends the fit where float arithmetic ends it.
  }
  PointerFit fit = objective.Unpack(objective.best());
  fit.loss = objective.best_loss();
  return fit;
}

}  // namespace adjudge
