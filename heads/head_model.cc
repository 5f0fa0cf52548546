#include "heads/head_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "engine/base/check.h"

namespace adjudge {
namespace {

template <typename T>
struct Name {
  std::string_view name;
  T value;
};

constexpr Name<LabelKind> kKinds[] = {{"multiclass", LabelKind::kMultiClass},
                                      {"binary", LabelKind::kBinary},
                                      {"ordinal", LabelKind::kOrdinal},
                                      {"multilabel", LabelKind::kMultiLabel}};
constexpr Name<HeadForm> kForms[] = {{"linear", HeadForm::kLinear},
                                     {"lowrank", HeadForm::kLowRank},
                                     {"hidden", HeadForm::kHidden},
                                     {"centroid", HeadForm::kCentroid},
                                     {"knn", HeadForm::kNearest}};

template <typename T, std::size_t n>
Result<T> Parse(std::string_view what, std::string_view name, const Name<T> (&known)[n]) {
  std::string names;
  for (const Name<T>& one : known) {
    if (one.name == name) return one.value;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  return Fail(ErrorCode::kInvalidArgument, "expected " + std::string(what) + " " + names +
                                               ", found \"" + std::string(name) + "\"");
}

template <typename T, std::size_t n>
std::string_view Spell(T value, const Name<T> (&known)[n]) {
  for (const Name<T>& one : known) {
    if (one.value == value) return one.name;
  }
  return "";
}

// out[r] = sum_d weight[r, d] x[d] + bias[r]
std::vector<double> Product(const FloatTensor& weight, std::span<const double> x,
                            const FloatTensor* bias) {
  const auto rows = static_cast<std::size_t>(weight.shape[0]);
  std::vector<double> out(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const float* w = weight.values.data() + r * x.size();
    double sum = 0;
    for (std::size_t d = 0; d < x.size(); ++d) sum += static_cast<double>(w[d]) * x[d];
    out[r] = bias == nullptr ? sum : sum + static_cast<double>(bias->values[r]);
  }
  return out;
}

double LogSigmoid(double x) {
  return x >= 0 ? -std::log1p(std::exp(-x)) : x - std::log1p(std::exp(x));
}

// log P(y = k) for each k.
std::vector<double> OrdinalLogs(double score, std::span<const float> thresholds) {
  const std::size_t n = thresholds.size() + 1;
  std::vector<double> logs(n);
  for (std::size_t k = 0; k < n; ++k) {
    // P(y = k) = sigmoid(b) - sigmoid(a) with a < b
    //          = sigmoid(b) sigmoid(-a) (1 - exp(a - b)).
    const bool first = k == 0;
    const bool last = k + 1 == n;
    const double b = last ? 0 : static_cast<double>(thresholds[k]) - score;
    const double a = first ? 0 : static_cast<double>(thresholds[k - 1]) - score;
    logs[k] = (last ? 0 : LogSigmoid(b)) + (first ? 0 : LogSigmoid(-a));
    if (!first && !last) logs[k] += std::log(-std::expm1(a - b));
  }
  return logs;
}

std::string Shape(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

}  // namespace

Result<LabelKind> ParseLabelKind(std::string_view name) {
  return Parse("the labels", name, kKinds);
}
std::string_view ToString(LabelKind kind) { return Spell(kind, kKinds); }
Result<HeadForm> ParseHeadForm(std::string_view name) { return Parse("the form", name, kForms); }
std::string_view ToString(HeadForm form) { return Spell(form, kForms); }

namespace {

// The rows of `weight` closest to x, by cosine times sharpness.
std::vector<double> NearestScores(const HeadModel& model, std::span<const double> cosines) {
  const FloatTensor& labels = model.tensors.at("example_labels");
  std::vector<std::size_t> order(cosines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::size_t k = std::min(static_cast<std::size_t>(model.neighbours), order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return cosines[a] != cosines[b] ? cosines[a] > cosines[b] : a < b;
                    });
  // A label without a neighbour keeps a small share, so that no probability is zero.
  constexpr double kFloor = 1e-3;
  std::vector<double> votes(static_cast<std::size_t>(model.n_labels), kFloor);
  for (std::size_t i = 0; i < k; ++i) {
    const auto label = static_cast<std::size_t>(labels.values[order[i]]);
    votes[label] += std::exp(model.sharpness * (cosines[order[i]] - cosines[order[0]]));
  }
  for (double& vote : votes) vote = std::log(vote);
  return votes;
}

}  // namespace

std::vector<double> HeadModel::Scores(std::span<const float> state) const {
  ADJUDGE_CHECK(static_cast<int>(state.size()) == width);
  const FloatTensor& mean = tensors.at("mean");
  const FloatTensor& scale = tensors.at("scale");
  std::vector<double> x(state.size());
  for (std::size_t d = 0; d < x.size(); ++d) {
    x[d] = (static_cast<double>(state[d]) - static_cast<double>(mean.values[d])) *
           static_cast<double>(scale.values[d]);
  }
  const auto tensor = [&](const char* name) {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : &found->second;
  };
  if (form == HeadForm::kCentroid || form == HeadForm::kNearest) {
    double square = 0;
    for (const double value : x) square += value * value;
    const double length = square > 0 ? std::sqrt(square) : 1;
    for (double& value : x) value /= length;
    std::vector<double> cosines = Product(*tensor("weight"), x, nullptr);
    if (form == HeadForm::kNearest) return NearestScores(*this, cosines);
    for (double& cosine : cosines) cosine *= sharpness;
    return cosines;
  }
  if (const FloatTensor* down = tensor("down")) {
    x = Product(*down, x, tensor("down_bias"));
    if (form == HeadForm::kHidden) {
      for (double& value : x) value = std::tanh(value);
    }
  }
  std::vector<double> scores = Product(*tensor("weight"), x, tensor("bias"));
  if (kind == LabelKind::kBinary) return {0.0, scores[0]};
  if (kind == LabelKind::kOrdinal) return OrdinalLogs(scores[0], tensor("thresholds")->values);
  return scores;
}

namespace {

using Shapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

// The tensors that a model of this form must have; rows of V and examples as the file has them.
Shapes ExpectedShapes(const HeadModel& model) {
  const auto rows_of = [&](const char* name) -> std::int64_t {
    const auto found = model.tensors.find(name);
    return found == model.tensors.end() || found->second.shape.empty() ? 1 : found->second.shape[0];
  };
  const bool ordinal = model.kind == LabelKind::kOrdinal;
  const std::int64_t outputs = ordinal || model.kind == LabelKind::kBinary ? 1 : model.n_labels;
  Shapes shapes = {{"mean", {model.width}}, {"scale", {model.width}}};
  std::int64_t inputs = model.width;
  switch (model.form) {
    case HeadForm::kCentroid:
      shapes.push_back({"weight", {model.n_labels, model.width}});
      return shapes;
    case HeadForm::kNearest:
      shapes.push_back({"weight", {rows_of("weight"), model.width}});
      shapes.push_back({"example_labels", {rows_of("weight")}});
      return shapes;
    case HeadForm::kHidden:
    case HeadForm::kLowRank:
      inputs = rows_of("down");
      shapes.push_back({"down", {inputs, model.width}});
      if (model.form == HeadForm::kHidden) shapes.push_back({"down_bias", {inputs}});
      break;
    case HeadForm::kLinear:
      break;
  }
  shapes.push_back({"weight", {outputs, inputs}});
  if (ordinal) {
    shapes.push_back({"thresholds", {model.n_labels - 1}});
  } else {
    shapes.push_back({"bias", {outputs}});
  }
  return shapes;
}

Status CheckShapes(const HeadModel& model) {
  const Shapes shapes = ExpectedShapes(model);
  for (const auto& [name, shape] : shapes) {
    const auto found = model.tensors.find(name);
    if (found == model.tensors.end()) {
      return Fail(ErrorCode::kNotFound, "expected a tensor " + Shape(shape) + ", found none", name);
    }
    if (found->second.shape == shape) continue;
    return Fail(ErrorCode::kMalformed,
                "expected the shape " + Shape(shape) + ", found " + Shape(found->second.shape),
                name);
  }
  for (const auto& [name, tensor] : model.tensors) {
    const auto is_this = [&](const auto& known) { return known.first == name; };
    if (std::any_of(shapes.begin(), shapes.end(), is_this)) continue;
    return Fail(ErrorCode::kMalformed,
                "a head of the form " + std::string(ToString(model.form)) + " has no such tensor",
                name);
  }
  return {};
}

}  // namespace

Status HeadModel::Check() const {
  const bool by_examples = form == HeadForm::kCentroid || form == HeadForm::kNearest;
  if (by_examples && kind != LabelKind::kMultiClass) {
    return Fail(ErrorCode::kMalformed,
                "a head of the form " + std::string(ToString(form)) + " has multiclass labels");
  }
  if (n_labels < (kind == LabelKind::kMultiLabel ? 1 : 2) ||
      (kind == LabelKind::kBinary && n_labels != 2)) {
    return Fail(ErrorCode::kMalformed, std::to_string(n_labels) + " labels are none of a " +
                                           std::string(ToString(kind)) + " head");
  }
  constexpr double kMostSharpness = 1e6;
  if (width < 1 || neighbours < 1 || !(sharpness > 0 && sharpness <= kMostSharpness)) {
    return Fail(ErrorCode::kMalformed,
                "expected a positive width and neighbours, and a sharpness up to 1e6");
  }
  ADJUDGE_RETURN_IF_ERROR(CheckShapes(*this));
  for (const auto& [name, tensor] : tensors) {
    for (const float value : tensor.values) {
      if (!std::isfinite(value)) {
        return Fail(ErrorCode::kNotFinite, "a value is no finite number", name);
      }
    }
  }
  if (kind == LabelKind::kOrdinal) {
    const std::vector<float>& thresholds = tensors.at("thresholds").values;
    for (std::size_t i = 1; i < thresholds.size(); ++i) {
      if (thresholds[i] > thresholds[i - 1]) continue;
      return Fail(ErrorCode::kMalformed, "expected ascending thresholds", "thresholds");
    }
  }
  if (form == HeadForm::kNearest) {
    for (const float label : tensors.at("example_labels").values) {
      if (label >= 0 && label < static_cast<float>(n_labels) && label == std::floor(label)) {
        continue;
      }
      return Fail(ErrorCode::kMalformed,
                  "expected labels from 0 to " + std::to_string(n_labels - 1), "example_labels");
    }
  }
  return {};
}

}  // namespace adjudge
