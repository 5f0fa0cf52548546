// ScorePacked: log-probabilities of many continuations of many tails of one prefix, in one pass.
#pragma once

#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/cost.h"
#include "heads/decision_session.h"

namespace adjudge {

// What follows the shared prefix for one question, and the continuations to score after it.
struct ContinuationSet {
  std::vector<TokenId> tail;                        // not empty
  std::vector<std::vector<TokenId>> continuations;  // none empty; they may share beginnings
  // Also score the end of the text after each continuation: the probability of any of these ids.
  std::vector<TokenId> end_ids;
};

// Natural logs of the model's probabilities, over the whole vocabulary.
struct ContinuationScores {
  std::vector<std::vector<double>> token_logprobs;  // [continuation][token]
  std::vector<double> end_logprobs;                 // [continuation], or empty without end_ids
};

struct PackOptions {
  int max_pass_tokens = 16384;  // new tokens in one pass; more are split over several
  int max_pass_rows = 8192;     // rows whose logits are read in one pass
};

struct PackedScores {
  std::vector<ContinuationScores> sets;
  Usage usage;  // prompt_tokens counts the prefix once, the tails, and computed option tokens
  Timings timings;
};

// The prefix is computed once (what the session kept of it is reused), each tail is a fork of it,
// and each set's continuations are a token trie of forks whose shared beginnings are computed once,
// all in the same pass. How the work is split into passes, and what else is scored, changes no bit
// of a score. Errors: kInvalidArgument for an empty tail, continuation or set, or an id outside the
// vocabulary; kLimit with both numbers where a path does not fit the window (place "set N");
// kNotFinite when the model gives a logit that is not finite; kCancelled by the session's flag.
Result<PackedScores> ScorePacked(DecisionSession& session, std::span<const TokenId> prefix,
                                 std::span<const ContinuationSet> sets,
                                 const PackOptions& options = {});

// A prefix with the sets that follow it. Views: what they show must outlive the call.
struct ScoredPrompt {
  std::span<const TokenId> prefix;
  std::span<const ContinuationSet> sets;
};

// The same for many prefixes, as few passes as the limits allow: what prefixes have in common is
// computed once (a beginning shared by some of them alone from kSharedTokens tokens on), and the
// session keeps what all of them share. Usage and timings are each prompt's own: prompt_tokens as
// alone, cached_tokens what was not computed for it, forward_passes those it took part in, and its
// share of their time by tokens. An error names the prompt too ("prompt N, set M").
inline constexpr std::size_t kSharedTokens = 16;
Result<std::vector<PackedScores>> ScorePrompts(DecisionSession& session,
                                               std::span<const ScoredPrompt> prompts,
                                               const PackOptions& options = {});

// Tokens of the longest path from the beginning of the prefix to the end of a continuation.
int LongestPath(int prefix_tokens, const ContinuationSet& set);

}  // namespace adjudge
