// Sampler: logits and an optional mask -> one token.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/base/token_mask.h"

namespace adjudge {

// Applied in this order: logit bias, penalties, mask, temperature, top-k, top-p, min-p, draw.
struct SamplerOptions {
  double temperature = 0.0;         // 0 = the largest logit, lowest id on a tie
  int top_k = 0;                    // 0 = off
  double top_p = 1.0;               // smallest set whose mass reaches top_p; always keeps one
  double min_p = 0.0;               // keep p >= min_p * p_max
  double repetition_penalty = 1.0;  // divides positive, multiplies negative logits of seen ids
  double presence_penalty = 0.0;    // subtracted once from a seen id
  double frequency_penalty = 0.0;   // subtracted for each time an id was seen
  std::vector<std::pair<TokenId, double>> logit_bias;
  std::uint64_t seed = 0;
};

// The distribution that a draw is taken from: kept ids with probabilities, highest first (ties:
// lower id first). Probabilities sum to one.
struct SampleDistribution {
  std::vector<TokenId> ids;
  std::vector<double> probabilities;
};

// A value: the n-th draw depends on the options, the logits given so far and n alone. Not shared
// between threads.
class Sampler {
 public:
  // Errors: kInvalidArgument naming the field and its value.
  static Result<Sampler> Make(const SamplerOptions& options);

  // Draws a token and counts it as seen. `seen` ids of the prompt are told by Observe. Errors: NaN
  // in logits, or no token allowed.
  Result<TokenId> Sample(std::span<const float> logits, const TokenMask* mask = nullptr);
  // The distribution that Sample would draw from; draws nothing.
  Result<SampleDistribution> Distribution(std::span<const float> logits,
                                          const TokenMask* mask = nullptr) const;
  // Counts ids for the penalties.
  void Observe(std::span<const TokenId> ids);

  const SamplerOptions& options() const { return options_; }

 private:
  explicit Sampler(SamplerOptions options) : options_(std::move(options)) {}

  SamplerOptions options_;
  std::uint64_t draws_ = 0;
  std::vector<std::pair<TokenId, int>> seen_;  // ascending by id
};

}  // namespace adjudge
