// Fitting the two projections of a pointer head.
#pragma once

#include <Eigen/Core>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "heads/pointer_head.h"

namespace adjudge {

// One question's hidden states, standardised: [dim] and [dim, options], and the right option.
struct PointerItem {
  Eigen::VectorXf decide;
  Eigen::MatrixXf options;
  int answer = 0;
};

struct PointerFitOptions {
  int head_dim = 64;
  double decay = 1e-3;
  int max_iterations = 150;
  std::uint64_t seed = 0;
  int threads = 1;
  const std::atomic<bool>* cancel = nullptr;
};

// [R, dim] column-major and [R] each, over standardised states.
struct PointerFit {
  Eigen::MatrixXd q_weight, k_weight;
  Eigen::VectorXd q_bias, k_bias;
  double loss = 0;
};

// Minimises mean negative log-likelihood plus half the decay times the squared weights. Sums run
// over fixed chunks of items in order. Errors: kCancelled. REQUIRES: at least one item.
Result<PointerFit> FitPointer(std::span<const PointerItem* const> items,
                              const PointerFitOptions& options);

}  // namespace adjudge
