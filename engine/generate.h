// Generate: the decode loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/matcher.h"
#include "engine/base/result.h"
#include "engine/cost.h"
#include "engine/model.h"
#include "engine/sampler.h"
#include "engine/stop_strings.h"
#include "engine/tokenizer.h"

namespace adjudge {

enum class FinishReason {
  kStop,        // a stop id or a stop string
  kLength,      // max_tokens were made
  kContext,     // the context window or the cache has no room for another token
  kConstraint,  // the text satisfies the constraint and nothing can follow it
  kCancelled,
};
std::string_view ToString(FinishReason reason);  // stop | length | context | constraint | cancelled

// One token of the story of a generation.
struct GenerateStep {
  TokenId token = kNoToken;
  bool forced = false;
  // Natural log of the model's own probability of the token: of the raw logits, before temperature,
  // penalties and mask, over every logit that the model gives.
  double logprob = 0;
  // The best ids that may be sampled at all, whatever the constraint, with their raw logprobs.
  std::vector<std::pair<TokenId, double>> alternatives;
  // Since the step before. Forced tokens take none: their pass counts for the sampled one after.
  double ms = 0;
};

struct GenerateOptions {
  int max_tokens = 256;  // sampled and forced; 0 computes the prompt alone
  SamplerOptions sampler;
  std::vector<std::string> stop_strings;
  StopStringLimits stop_limits;
  // Added to the vocabulary's; end the text. Under a matcher these too are allowed where it can
  // stop, and only there.
  std::vector<TokenId> stop_ids;
  bool ignore_stop_ids = false;  // run on to max_tokens (stop ids are masked out)
  // Not owned; must be fresh or hold this text's state, and be of the tokenizer's vocabulary.
  Matcher* matcher = nullptr;
  int n_alternatives = 0;  // > 0 records this many in each step
  bool record_steps = false;
  int prefill_chunk = 0;  // most tokens in one pass; 0 = whatever there is
  // Whole UTF-8 characters as they come, never part of a stop string; returning false cancels.
  std::function<bool(std::string_view)> on_text;
  std::function<void(const GenerateStep&)> on_step;     // in order, as soon as the logprob is known
  std::function<void(int done, int total)> on_prefill;  // tokens of the prompt, after each pass
  const std::atomic<bool>* cancel = nullptr;            // looked at before and in every pass
};

struct GenerateResult {
  // Without the stop string or stop id. Prompt and text joined are the whole text, so where a
  // SentencePiece model begins a word, the text begins with a space, unless the prompt holds
  // control tokens alone.
  std::string text;
  std::vector<TokenId> token_ids;  // all that were made, the stop id included
  FinishReason finish_reason = FinishReason::kStop;
  std::string stop_string;  // the one that ended it, if one did
  // One for each token id, if record_steps. After a cancellation forced tokens whose pass did not
  // run are left out.
  std::vector<GenerateStep> steps;
  Usage usage;
  Timings timings;
};

// Continues `sequence` (which may hold a computed prefix of `prompt`: the longest common prefix is
// reused, never all of it, and what is behind it is dropped) with `prompt`, then samples.
//
// N sampled tokens take N passes (unless prefill_chunk splits the prompt): the prompt's pass gives
// the first, and the last one made is not run. Tokens that a matcher forces are appended without
// sampling and run together with the tokens around them. At the end the sequence holds the prompt
// and the text as far as they were run. A prompt that fills the window exactly is run and gives one
// token, which ends the text with kContext. Padding, unused and unknown ids are never sampled.
//
// Errors: an empty prompt (kInvalidArgument); a prompt longer than the window (kLimit, with both
// numbers); bad options by field; a constraint that allows no token; what the model's pass refuses.
Result<GenerateResult> Generate(const Model& model, const Tokenizer& tokenizer, Sequence& sequence,
                                std::span<const TokenId> prompt, const GenerateOptions& options);

// Longest common prefix of cached and wanted tokens that may be reused: at most wanted.size() - 1,
// since the last token must run to give logits.
int ReusablePrefix(std::span<const TokenId> cached, std::span<const TokenId> wanted);

}  // namespace adjudge
