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
// Logits that are changed by bias or penalty are rounded to float and held within its finite range.
struct SamplerOptions {
  double temperature = 0.0;         // 0 = the largest logit, lowest id on a tie
  int top_k = 0;                    // 0 = off
  double top_p = 1.0;               // smallest set whose mass reaches top_p; always keeps one
  double min_p = 0.0;               // keep p >= min_p * p_max
  double repetition_penalty = 1.0;  // divides positive, multiplies negative logits of seen ids
  double presence_penalty = 0.0;    // subtracted once from an id that the text holds
  double frequency_penalty = 0.0;   // subtracted for each time that the text holds an id
  std::vector<std::pair<TokenId, double>> logit_bias;  // added; each id at most once
  std::uint64_t seed = 0;
};

// The distribution that a draw is taken from: kept ids with probabilities above zero, highest first
// (ties: lower id first). Probabilities sum to one.
struct SampleDistribution {
  std::vector<TokenId> ids;
  std::vector<double> probabilities;
};

// A value: the n-th draw depends on the options, the logits, masks and ids given so far, and n
// alone, so a seed's text is the same in every process and whatever runs beside it. Not shared
// between threads.
class Sampler {
 public:
  // Errors: kInvalidArgument naming the field and its value.
  static Result<Sampler> Make(const SamplerOptions& options);

  // Draws a token and counts it as part of the text. Ids at or past the mask's width are not
  // allowed. Errors: NaN or +infinity in the logits; a logit bias for an id past them; no allowed
  // token with a logit above -infinity.
  Result<TokenId> Sample(std::span<const float> logits, const TokenMask* mask = nullptr);
  // The distribution that Sample would draw from; draws nothing.
  Result<SampleDistribution> Distribution(std::span<const float> logits,
                                          const TokenMask* mask = nullptr) const;

  // Ids that the repetition penalty sees: those of the prompt.
  void ObservePrompt(std::span<const TokenId> ids);
  // Ids that became part of the text without being drawn: seen by all three penalties.
  void ObserveText(std::span<const TokenId> ids);

  const SamplerOptions& options() const { return options_; }

 private:
  struct Seen {
    TokenId id;
    int times_in_text;
  };
  struct Candidate {
    float logit;
    TokenId id;
  };
  struct Weighted {
    double weight;  // probability over the largest one's
    TokenId id;
  };
  // Kept between draws only to save the allocations.
  struct Scratch {
    std::vector<float> row;
    std::vector<Candidate> candidates;
    std::vector<Candidate> ordered;
    std::vector<Weighted> kept;
    std::vector<Weighted> weighted;
  };

  explicit Sampler(SamplerOptions options) : options_(std::move(options)) {}

  void Count(std::span<const TokenId> ids, int times);
  bool adjusts() const;
  Status Adjust(std::span<const float>& row, Scratch& scratch) const;
  void KeepTopK(Scratch& scratch) const;
  void KeepTopP(Scratch& scratch) const;
  // Leaves the kept ids, ascending, in scratch.kept.
  Status Keep(std::span<const float> logits, const TokenMask* mask, Scratch& scratch) const;

  SamplerOptions options_;
  std::uint64_t draws_ = 0;
  std::vector<Seen> seen_;  // ascending by id
  Scratch scratch_;
};

}  // namespace adjudge
