// HeadModel: the arithmetic of a trained head, from a text's hidden states to scores.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/tensor_file.h"

namespace adjudge {

// What the labels of a head are to each other.
enum class LabelKind {
  kMultiClass,  // one of K: softmax
  kBinary,      // one of two: the logistic function of one score
  kOrdinal,     // one of K in order: P(y <= k) = sigmoid(threshold_k - score)
  kMultiLabel,  // any of K, each by itself: a logistic function each
};
Result<LabelKind> ParseLabelKind(
    std::string_view name);  // multiclass | binary | ordinal | multilabel
std::string_view ToString(LabelKind kind);

enum class HeadForm {
  kLinear,    // W x + b
  kLowRank,   // W (V x) + b, V of few rows
  kHidden,    // W tanh(V x + c) + b
  kCentroid,  // cosine with each label's mean state
  kNearest,   // votes of the nearest examples, by cosine
};
Result<HeadForm> ParseHeadForm(
    std::string_view name);  // linear | lowrank | hidden | centroid | knn
std::string_view ToString(HeadForm form);

// A value. Tensors by name; D = width of the states, K = labels, R = rows of V, N = examples.
//   all        mean [D], scale [D]: a state x is read as (x - mean) * scale
//   linear     weight [K, D], bias [K]; binary and ordinal have one row and no or one bias
//   ordinal    thresholds [K - 1], ascending, instead of a bias
//   lowrank    down [R, D], weight [K, R], bias [K]
//   hidden     down [R, D], down_bias [R], weight [K, R], bias [K]
//   centroid   weight [K, D], rows of length one
//   knn        weight [N, D], rows of length one; example_labels [N]
// Sums run in double in the order of the dimensions, so scores are the same to the bit wherever
// they are computed.
struct HeadModel {
  HeadForm form = HeadForm::kLinear;
  LabelKind kind = LabelKind::kMultiClass;
  int n_labels = 0;
  int width = 0;
  int neighbours = 5;     // of knn
  double sharpness = 10;  // of centroid and knn: what a cosine is multiplied with
  std::map<std::string, FloatTensor> tensors;

  // [K] log-odds. Softmax gives the probabilities of a multi-class, binary or ordinal head (of an
  // ordinal they are log-probabilities already); of a multi-label one each stands for itself.
  // REQUIRES: a checked model, state of `width`.
  std::vector<double> Scores(std::span<const float> state) const;

  // Names, shapes, and whatever else Scores relies on. Errors name the tensor and both shapes.
  Status Check() const;
};

}  // namespace adjudge
