// Debiasing: what the order and the labels of options do to an answer, measured and taken out.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "heads/question.h"

namespace adjudge {

// How an answer is freed of what does not come from the state. All but kNone present options in an
// order that their content gives, so the order in which they were given changes no bit.
enum class Debias {
  kNone,        // one reading, options as given
  kCyclic,      // the mean over all rotations of the options
  kReversed,    // the mean over both directions
  kAll,         // the mean over all orders
  kPride,       // one reading, divided by a prior of the labels that was estimated before (PriDe)
  kContextual,  // divided by the mean reading of content-free states ("N/A", "[MASK]", "")
  kPmi,         // divided by the reading of one stated state x0 (domain PMI)
};
Result<Debias> ParseDebias(std::string_view name);
std::string_view ToString(Debias debias);
// kCyclic, kReversed or kAll.
bool AveragesOrders(Debias debias);

// The content-free states of contextual calibration.
inline constexpr std::string_view kContentFree[] = {"N/A", "[MASK]", ""};

// [option] indices sorted by what the options say (name, then description); ordered levels and the
// two sides of a noul keep their order.
std::vector<int> CanonicalOrder(const Question& question);

inline constexpr int kMaxAllOrders = 5;  // options of which all orders are read: 120 readings

// [reading][position] -> option. Levels are turned round alone, whatever the name; a noul has two
// orders. kLimit for kAll of more than kMaxAllOrders options.
Result<std::vector<std::vector<int>>> Orders(Debias debias, QuestionType type, int n_options);

// p_i = exp(mean_k log q_ki) normalised, q_k the softmax of log_weights[k]: cancels what a position
// adds to a logit. [reading][option]; REQUIRES: at least one reading, all of the same width.
std::vector<double> MeanOfLogs(std::span<const std::vector<double>> log_weights);
// p_i = mean_k q_ki.
std::vector<double> MeanOfProbabilities(std::span<const std::vector<double>> log_weights);

// The prior of the positions: softmax over positions of the mean, over readings, of the log of the
// probability at that position. log_weights [reading][position]. Over all rotations of the options
// what is left is the position's own (PriDe; Zheng et al. 2023).
std::vector<double> PositionPrior(std::span<const std::vector<double>> log_weights);

// p / prior, normalised (the ratio form of contextual calibration, and PriDe's debiasing).
std::vector<double> DivideByPrior(std::span<const double> probabilities,
                                  std::span<const double> prior);

// Number of options -> the prior of the labels at each position.
using PositionPriors = std::map<int, std::vector<double>>;

// An upper bound on the chance that the leader of the mean probability over m of K readings, drawn
// without repetition in an order that does not depend on them, is not the leader over all K: 0
// where no rival can still overtake it, else the sum over rivals of the Hoeffding-Serfling bound
// exp(-2 m d^2 / ((1 - (m - 1) / K) 4)), d the mean lead, times the K - 1 times that one may look.
double DisagreementBound(std::span<const std::vector<double>> probabilities, int n_readings);

// The orders in the fixed order in which they are read when reading may stop early.
std::vector<std::vector<int>> Shuffled(std::vector<std::vector<int>> orders);

}  // namespace adjudge
