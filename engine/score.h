// Score: the log-likelihood of given continuations after given contexts.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/cost.h"
#include "engine/model.h"
#include "engine/tokenizer.h"

namespace adjudge {

struct ScoreRequest {
  std::string context;
  std::string continuation;
};

// The same as tokens. Every token of continuation_ids is scored, none of context_ids.
struct ScoreTokens {
  std::vector<TokenId> context_ids;
  std::vector<TokenId> continuation_ids;
};

struct ScoreOptions {
  bool parse_special = false;                 // text that spells a control token becomes that token
  bool lossy = false;                         // invalid UTF-8 becomes U+FFFD instead of an error
  int max_pass_tokens = 512;                  // most tokens in one forward pass
  const std::atomic<bool>* cancel = nullptr;  // looked at before and in every pass
  std::function<void(int done, int total)> on_progress;  // requests, after each pass
};

struct ScoreResult {
  double logprob = 0;                  // sum of token_logprobs, natural log
  std::vector<double> token_logprobs;  // raw: of the model's own logits, in double
  std::vector<TokenId> token_ids;      // the continuation's
  // Greedy decoding after the context would write exactly these tokens.
  bool is_greedy = false;
  int context_tokens = 0;  // BOS or what stands for an empty context included
};

struct ScoreOutput {
  std::vector<ScoreResult> results;  // in the order of the requests
  // prompt_tokens: those that all requests look at; cached_tokens: of these, shared with another
  // request instead of computed again.
  Usage usage;
  Timings timings;  // prefill_ms alone
};

// How a request becomes tokens:
// - The context begins with BOS, once, where the file says so. An empty context without one is the
//   end-of-sequence id alone (as lm-evaluation-harness does), so that the first token has a row to
//   be predicted from; without that either it is refused.
// - Context and continuation are tokenised joined. Where the context's own tokens are the beginning
//   of that, the rest is scored. Where a token would span the join, the continuation is tokenised
//   on its own, without a dummy prefix, and put after the context's own tokens. Either way the
//   scored tokens spell the whole continuation and nothing else (up to the tokenizer's normaliser).
// Errors: an empty continuation, or one that makes no tokens; as Tokenizer::Encode.
Result<ScoreTokens> TokenizeScore(const Tokenizer& tokenizer, const ScoreRequest& request,
                                  const ScoreOptions& options = {});

// Scores any number of requests. Equal contexts are computed once and other contexts share their
// common beginnings; many requests go in one forward pass. On the CPU the numbers do not depend on
// which requests are scored together. Errors have the place "requests[i]": an empty list, an id
// outside the vocabulary, more tokens than the context window (kLimit, with both numbers).
Result<ScoreOutput> ScoreIds(const Model& model, const Vocabulary& vocabulary,
                             std::span<const ScoreTokens> requests,
                             const ScoreOptions& options = {});

// TokenizeScore and ScoreIds.
Result<ScoreOutput> Score(const Model& model, const Tokenizer& tokenizer,
                          std::span<const ScoreRequest> requests, const ScoreOptions& options = {});

}  // namespace adjudge
