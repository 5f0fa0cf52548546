// Log-probabilities of a row of logits, in double.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/base/token_mask.h"

namespace adjudge {

// log sum exp of the row, in double, summed in id order. REQUIRES: no NaN. -infinity for a row of
// -infinity alone.
double LogSumExp(std::span<const float> logits);

// The model's own ("raw") log-probability of a token: before temperature, penalties and mask, over
// every logit that the model gives, padding included. REQUIRES: the id is in the row.
double LogProb(std::span<const float> logits, TokenId id);

// The id with the largest logit (ties: the lowest id) among those of the mask, where one is given;
// kNoToken where all are -infinity.
TokenId BestToken(std::span<const float> logits, const TokenMask* mask = nullptr);

// The n best ids with their raw log-probabilities, best first (ties: lower id first); only ids of
// the mask, where one is given.
std::vector<std::pair<TokenId, double>> BestLogProbs(std::span<const float> logits, int n,
                                                     const TokenMask* mask = nullptr);

// kNotFinite where the row has no sum: a NaN, +infinity, or nothing above -infinity. The place is
// the caller's.
Status CheckFinite(std::span<const float> logits, const std::string& place);

}  // namespace adjudge
