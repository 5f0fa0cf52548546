#include "heads/likelihood_head.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/base/check.h"
#include "heads/answer.h"

namespace adjudge {
namespace {

bool Begins(const std::vector<TokenId>& a, const std::vector<TokenId>& b) {
  return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
}

// [option] whether another option begins it. In sorted order the beginnings of an option are the
// stack of those that each begin the next.
std::vector<bool> Continues(std::span<const std::vector<TokenId>> options) {
  std::vector<std::size_t> order(options.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return options[a] < options[b]; });
  std::vector<bool> continues(options.size(), false);
  std::vector<std::size_t> beginnings;
  for (const std::size_t i : order) {
    while (!beginnings.empty() && !Begins(options[beginnings.back()], options[i])) {
      beginnings.pop_back();
    }
    continues[i] = !beginnings.empty();
    beginnings.push_back(i);
  }
  return continues;
}

}  // namespace

std::string_view ToString(LikelihoodNorm norm) {
  switch (norm) {
    case LikelihoodNorm::kSum:
      return "sum";
    case LikelihoodNorm::kMeanPerToken:
      return "mean_per_token";
    case LikelihoodNorm::kMeanPerByte:
      return "mean_per_byte";
    case LikelihoodNorm::kMeanPerCharacter:
      return "mean_per_character";
  }
  return "";
}

bool AnyBeginsAnother(std::span<const std::vector<TokenId>> options) {
  const std::vector<bool> continues = Continues(options);
  return std::find(continues.begin(), continues.end(), true) != continues.end();
}

LikelihoodReading MakeLikelihoodReading(std::span<const std::vector<TokenId>> options,
                                        const ContinuationScores& scores, LikelihoodNorm norm,
                                        std::span<const double> lengths) {
  LikelihoodReading reading{.token_logprobs = scores.token_logprobs,
                            .end_counted = !scores.end_logprobs.empty()};
  const bool by_length =
      norm == LikelihoodNorm::kMeanPerByte || norm == LikelihoodNorm::kMeanPerCharacter;
  ADJUDGE_CHECK(!by_length || lengths.size() == options.size());
  for (std::size_t i = 0; i < options.size(); ++i) {
    double sum = 0;
    for (const double logprob : scores.token_logprobs[i]) sum += logprob;
    std::size_t n = scores.token_logprobs[i].size();
    if (reading.end_counted) {
      sum += scores.end_logprobs[i];
      ++n;
    }
    reading.logprobs.push_back(sum);
    reading.weights.push_back(norm == LikelihoodNorm::kSum ? sum
                              : by_length                  ? sum / lengths[i]
                                                           : sum / static_cast<double>(n));
  }
  reading.probabilities = Softmax(reading.weights);
  const std::vector<bool> continues =
      reading.end_counted ? std::vector<bool>(options.size(), false) : Continues(options);
  std::vector<double> disjoint;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (!continues[i]) disjoint.push_back(reading.logprobs[i]);
  }
  reading.label_mass = std::min(1.0, std::exp(LogSumExp(disjoint)));
  return reading;
}

Result<LikelihoodReading> ReadLikelihoods(DecisionSession& session, std::span<const TokenId> prompt,
                                          std::span<const std::vector<TokenId>> options,
                                          std::span<const TokenId> stop_ids, EndRule end,
                                          LikelihoodNorm norm) {
  if (prompt.empty()) return Fail(ErrorCode::kInvalidArgument, "the prompt is empty");
  if (norm != LikelihoodNorm::kSum && norm != LikelihoodNorm::kMeanPerToken) {
    return Fail(ErrorCode::kInvalidArgument, "options given as tokens have no length in bytes");
  }
  std::vector<std::vector<TokenId>> sorted(options.begin(), options.end());
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return Fail(ErrorCode::kInvalidArgument, "two options are the same tokens");
  }
  ContinuationSet set{.tail = {prompt.back()}, .continuations = {options.begin(), options.end()}};
  if (end == EndRule::kStop || (end == EndRule::kAuto && AnyBeginsAnother(options))) {
    if (stop_ids.empty()) {
      return Fail(ErrorCode::kUnsupported, "the end counts, but there is no stop id");
    }
    set.end_ids.assign(stop_ids.begin(), stop_ids.end());
  }
  ADJUDGE_ASSIGN_OR_RETURN(
      const PackedScores scores,
      ScorePacked(session, prompt.first(prompt.size() - 1), std::span(&set, 1)));
  return MakeLikelihoodReading(options, scores.sets.front(), norm);
}

}  // namespace adjudge
