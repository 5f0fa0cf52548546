// Generate: the decode loop.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/matcher.h"
#include "engine/base/result.h"
#include "engine/cost.h"
#include "engine/model.h"
#include "engine/sampler.h"
#include "engine/tokenizer.h"

namespace adjudge {

enum class FinishReason { kStop, kLength, kContext, kConstraint, kCancelled };
std::string_view ToString(FinishReason reason);  // stop | length | context | constraint | cancelled

// One token of the story of a generation.
struct GenerateStep {
  TokenId token = kNoToken;
  bool forced = false;
  // Natural log of the model's own probability of the token: of the raw logits, before temperature,
  // penalties and mask.
  double logprob = 0;
  std::vector<std::pair<TokenId, double>> alternatives;  // the best ids with their raw logprobs
  double ms = 0;
};

struct GenerateOptions {
  int max_tokens = 256;
  SamplerOptions sampler;
  std::vector<std::string> stop_strings;
  std::vector<TokenId> stop_ids;  // added to the vocabulary's; end the text
  bool ignore_stop_ids = false;   // run on to max_tokens (the vocabulary's stop ids are masked out)
  Matcher* matcher = nullptr;     // not owned; must be fresh or hold this text's state
  int n_alternatives = 0;         // > 0 records this many in each step
  bool record_steps = false;
  int prefill_chunk = 512;  // most prompt tokens in one pass
  // Whole UTF-8 characters as they come, never part of a stop string; returning false cancels.
  std::function<bool(std::string_view)> on_text;
  std::function<void(const GenerateStep&)> on_step;
  const std::atomic<bool>* cancel = nullptr;  // looked at before every pass
};

struct GenerateResult {
  std::string text;                // without the stop string or stop id
  std::vector<TokenId> token_ids;  // all that were made, the stop id included
  FinishReason finish_reason = FinishReason::kStop;
  std::string stop_string;  // the one that ended it, if one did
  std::vector<GenerateStep> steps;
  Usage usage;
  Timings timings;
};

// Continues `sequence` (which may hold a computed prefix of `prompt`: the longest common prefix is
// reused, never all of it) with `prompt`, then samples. At the end the sequence holds the prompt
// and the computed part of the text. Errors: an empty prompt; a prompt that does not fit the
// window, with both numbers; sampler errors.
Result<GenerateResult> Generate(const Model& model, const Tokenizer& tokenizer, Sequence& sequence,
                                std::span<const TokenId> prompt, const GenerateOptions& options);

// Longest common prefix of cached and wanted tokens that may be reused: at most wanted.size() - 1,
// since the last token must run to give logits.
int ReusablePrefix(std::span<const TokenId> cached, std::span<const TokenId> wanted);

}  // namespace adjudge
