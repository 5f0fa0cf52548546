// The likelihood read-out: the exact probability of each option's text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "heads/decision_head.h"

namespace adjudge {

struct LikelihoodReading {
  // Natural log of the probability of each option's tokens, and of the end after them where that
  // counts.
  std::vector<double> logprobs;
  std::vector<std::vector<double>> token_logprobs;  // [option][token], without the end
  std::vector<double> weights;                      // normalised log-probabilities
  std::vector<double> probabilities;                // softmax of the weights
  // The share of the model's own probability that the options hold; an option that continues
  // another one is part of it where ends do not count.
  double label_mass = 0;
  bool end_counted = false;
};

// Scores options after any prompt of at least one token. Under EndRule::kAuto the end counts if and
// only if one option's tokens begin another's. Errors: kInvalidArgument for no option, an empty one
// or two that are the same tokens, or a norm by the options' texts; kUnsupported where the end
// counts and there are no stop ids.
Result<LikelihoodReading> ReadLikelihoods(DecisionSession& session, std::span<const TokenId> prompt,
                                          std::span<const std::vector<TokenId>> options,
                                          std::span<const TokenId> stop_ids,
                                          EndRule end = EndRule::kAuto,
                                          LikelihoodNorm norm = LikelihoodNorm::kSum);

// From scores; `lengths` [option] are what kMeanPerByte and kMeanPerCharacter divide by (above 0).
// `end_counted` is whether they hold ends that count.
LikelihoodReading MakeLikelihoodReading(std::span<const std::vector<TokenId>> options,
                                        const ContinuationScores& scores, LikelihoodNorm norm,
                                        std::span<const double> lengths = {});

// Some option's tokens are the beginning of another's. REQUIRES: no two are equal.
bool AnyBeginsAnother(std::span<const std::vector<TokenId>> options);

std::string_view ToString(LikelihoodNorm norm);

}  // namespace adjudge
