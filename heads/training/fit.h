// Fitting a head's weights to states and labels, by L-BFGS.
#pragma once

#include <Eigen/Core>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "heads/head_model.h"

namespace adjudge {

// A column is a text.
using StateMatrix = Eigen::MatrixXf;  // [width, texts]

// What is fitted to: labels of each text (one, but any number of a multi-label head), and how much
// each text counts.
struct FitTargets {
  LabelKind kind = LabelKind::kMultiClass;
  int n_labels = 0;
  std::vector<std::vector<int>> labels;  // [text]
  std::vector<double> weights;           // [text], mean one
};

struct FitOptions {
  HeadForm form = HeadForm::kLinear;  // linear, lowrank or hidden
  int rows = 0;                       // of V
  double decay = 1e-3;  // half of it times the squared weights is added to the mean loss
  int max_iterations = 200;
  double tolerance = 1e-5;  // relative change of the loss in five iterations that ends the fit
  std::uint64_t seed = 0;   // of the first values of lowrank and hidden
  int threads = 1;          // no bit of the result depends on it
  const std::atomic<bool>* cancel = nullptr;
};

// The parameters in one vector; its layout is of no concern outside.
struct Fit {
  std::vector<double> parameters;
  double loss = 0;  // with the decay
  int iterations = 0;
};

// Minimises the mean negative log-likelihood over the texts `chosen` (indices, ascending or not).
// `start` (empty, or a Fit of the same shape) is where it begins. Sums run over fixed chunks of
// texts in order, so neither threads nor machine load change a bit. Errors: kCancelled.
Result<Fit> FitHead(const StateMatrix& states, const FitTargets& targets,
                    std::span<const int> chosen, const FitOptions& options,
                    const std::vector<double>& start = {});

// The tensors of a HeadModel, but for mean and scale.
std::map<std::string, FloatTensor> FitTensors(const Fit& fit, int width, const FitTargets& targets,
                                              const FitOptions& options);

}  // namespace adjudge
