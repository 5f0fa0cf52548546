#include "heads/answer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "engine/base/check.h"

namespace adjudge {
namespace {

std::size_t FirstLargest(std::span<const double> p) {
  return static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
}

}  // namespace

double ChoiceConfidence(std::span<const double> probabilities) {
  ADJUDGE_CHECK(!probabilities.empty());
  if (probabilities.size() == 1) return 1.0;
  const double n = static_cast<double>(probabilities.size());
  const double largest = *std::max_element(probabilities.begin(), probabilities.end());
  // Rounding of a uniform distribution must not leave [0, 1].
  return std::clamp((n * largest - 1.0) / (n - 1.0), 0.0, 1.0);
}

double ScoreConfidence(std::span<const double> probabilities) {
  ADJUDGE_CHECK(!probabilities.empty());
  if (probabilities.size() == 1) return 1.0;
  const double n = static_cast<double>(probabilities.size());
  const double mode = static_cast<double>(FirstLargest(probabilities));
  double distance = 0;
  double uniform_distance = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const double x = static_cast<double>(i);
    distance += probabilities[i] * std::abs(x - mode);
    uniform_distance += std::abs(x - (n - 1.0) / 2.0) / n;
  }
  return std::clamp(1.0 - distance / uniform_distance, 0.0, 1.0);
}

double Margin(std::span<const double> probabilities) {
  ADJUDGE_CHECK(!probabilities.empty());
  if (probabilities.size() == 1) return 1.0;
  std::vector<double> sorted(probabilities.begin(), probabilities.end());
  std::partial_sort(sorted.begin(), sorted.begin() + 2, sorted.end(), std::greater<>());
  return sorted[0] - sorted[1];
}

double Entropy(std::span<const double> probabilities) {
  double sum = 0;
  for (const double p : probabilities) {
    if (p > 0) sum -= p * std::log(p);
  }
  return sum;
}

double LogSumExp(std::span<const double> x) {
  if (x.empty()) return -std::numeric_limits<double>::infinity();
  const double largest = *std::max_element(x.begin(), x.end());
  if (std::isinf(largest)) return largest;
  double sum = 0;
  for (const double value : x) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

std::vector<double> Softmax(std::span<const double> log_weights) {
  std::vector<double> p(log_weights.begin(), log_weights.end());
  if (p.empty()) return p;
  const double largest = *std::max_element(p.begin(), p.end());
  if (std::isinf(largest)) {
    std::fill(p.begin(), p.end(), 1.0 / static_cast<double>(p.size()));
    return p;
  }
  double sum = 0;
  for (double& value : p) sum += value = std::exp(value - largest);
  for (double& value : p) value /= sum;
  return p;
}

Answer MakeAnswer(const Question& question, std::vector<double> probabilities) {
  ADJUDGE_CHECK(probabilities.size() == question.options.size() && !probabilities.empty());
  Answer answer{.id = question.id, .type = question.type};
  answer.chosen = static_cast<int>(FirstLargest(probabilities));
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    answer.score += static_cast<double>(i) * probabilities[i];
  }
  answer.score = std::min(answer.score, static_cast<double>(probabilities.size() - 1));
  if (question.type == QuestionType::kChoice) answer.confidence = ChoiceConfidence(probabilities);
  if (question.type == QuestionType::kScore) answer.confidence = ScoreConfidence(probabilities);
  answer.margin = Margin(probabilities);
  answer.entropy = Entropy(probabilities);
  answer.probabilities = std::move(probabilities);
  return answer;
}

}  // namespace adjudge
