#include "heads/debias.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include "engine/base/check.h"
#include "heads/answer.h"

namespace adjudge {
namespace {

constexpr std::pair<std::string_view, Debias> kNames[] = {
    {"none", Debias::kNone}, {"cyclic", Debias::kCyclic}, {"reversed", Debias::kReversed},
    {"all", Debias::kAll},   {"pride", Debias::kPride},   {"contextual", Debias::kContextual},
    {"pmi", Debias::kPmi}};

// Below this a probability is rounding; its logarithm must not decide.
constexpr double kLeastProbability = 1e-12;

std::vector<double> MeanLog(std::span<const std::vector<double>> log_weights) {
  ADJUDGE_CHECK(!log_weights.empty());
  std::vector<double> mean(log_weights.front().size(), 0.0);
  for (const std::vector<double>& weights : log_weights) {
    const std::vector<double> p = Softmax(weights);
    ADJUDGE_CHECK(p.size() == mean.size());
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] +=
          std::log(std::max(p[i], kLeastProbability)) / static_cast<double>(log_weights.size());
    }
  }
  return mean;
}

}  // namespace

Result<Debias> ParseDebias(std::string_view name) {
  std::string known;
  for (const auto& [known_name, debias] : kNames) {
    if (known_name == name) return debias;
    if (!known.empty()) known += ", ";
    known += known_name;
  }
  return Fail(ErrorCode::kInvalidArgument,
              "expected the debiasing " + known + ", found \"" + std::string(name) + "\"");
}

std::string_view ToString(Debias debias) {
  for (const auto& [name, value] : kNames) {
    if (value == debias) return name;
  }
  return "";
}

bool AveragesOrders(Debias debias) {
  return debias == Debias::kCyclic || debias == Debias::kReversed || debias == Debias::kAll;
}

std::vector<int> CanonicalOrder(const Question& question) {
  std::vector<int> order(question.options.size());
  std::iota(order.begin(), order.end(), 0);
  if (question.type == QuestionType::kNoul || question.type == QuestionType::kScore) return order;
  const auto said = [&](int i) {
    const Option& option = question.options[static_cast<std::size_t>(i)];
    return std::tuple(std::string_view(option.name),
                      option.description ? std::string_view(option.description->text) : "");
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return said(a) < said(b); });
  return order;
}

Result<std::vector<std::vector<int>>> Orders(Debias debias, QuestionType type, int n_options) {
  std::vector<int> order(static_cast<std::size_t>(n_options));
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<int>> orders = {order};
  if (n_options < 2 || !AveragesOrders(debias)) return orders;
  if (debias == Debias::kReversed || type != QuestionType::kChoice) {
    orders.emplace_back(order.rbegin(), order.rend());
    return orders;
  }
  if (debias == Debias::kCyclic) {
    for (int i = 1; i < n_options; ++i) {
      std::rotate(order.begin(), order.begin() + 1, order.end());
      orders.push_back(order);
    }
    return orders;
  }
  if (n_options > kMaxAllOrders) {
    return Fail(ErrorCode::kLimit, std::to_string(n_options) +
                                       " options; all orders are read of at most " +
                                       std::to_string(kMaxAllOrders) + " (cyclic takes more)");
  }
  while (std::next_permutation(order.begin(), order.end())) orders.push_back(order);
  return orders;
}

std::vector<double> MeanOfLogs(std::span<const std::vector<double>> log_weights) {
  return Softmax(MeanLog(log_weights));
}

std::vector<double> MeanOfProbabilities(std::span<const std::vector<double>> log_weights) {
  ADJUDGE_CHECK(!log_weights.empty());
  std::vector<double> mean(log_weights.front().size(), 0.0);
  for (const std::vector<double>& weights : log_weights) {
    const std::vector<double> p = Softmax(weights);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += p[i] / static_cast<double>(log_weights.size());
    }
  }
  return mean;
}

std::vector<double> PositionPrior(std::span<const std::vector<double>> log_weights) {
  return Softmax(MeanLog(log_weights));
}

std::vector<double> DivideByPrior(std::span<const double> probabilities,
                                  std::span<const double> prior) {
  ADJUDGE_CHECK(probabilities.size() == prior.size());
  std::vector<double> logs;
  for (std::size_t i = 0; i < prior.size(); ++i) {
    logs.push_back(std::log(std::max(probabilities[i], kLeastProbability)) -
                   std::log(std::max(prior[i], kLeastProbability)));
  }
  return Softmax(logs);
}

double DisagreementBound(std::span<const std::vector<double>> probabilities, int n_readings) {
  ADJUDGE_CHECK(!probabilities.empty());
  const double m = static_cast<double>(probabilities.size());
  const double rest = n_readings - m;
  if (rest <= 0) return 0;
  std::vector<double> sum(probabilities.front().size(), 0.0);
  for (const std::vector<double>& p : probabilities) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += p[i];
  }
  const auto leader =
      static_cast<std::size_t>(std::max_element(sum.begin(), sum.end()) - sum.begin());
  double bound = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double lead = sum[leader] - sum[i];
    // A reading moves a lead by at most one, so this rival is beaten whatever comes.
    if (i == leader || lead > rest) continue;
    const double d = lead / m;
    bound += std::exp(-2 * m * d * d / ((1 - (m - 1) / n_readings) * 4));
  }
  return std::min(1.0, bound * (n_readings - 1));
}

std::vector<std::vector<int>> Shuffled(std::vector<std::vector<int>> orders) {
  std::mt19937 random(20'240'601);  // its numbers are the same everywhere, a distribution's are not
  for (std::size_t i = orders.size(); i > 1; --i) std::swap(orders[i - 1], orders[random() % i]);
  return orders;
}

}  // namespace adjudge
