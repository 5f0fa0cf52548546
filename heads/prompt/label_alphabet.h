// LabelAlphabet: labels that are single distinct tokens after a prompt's end.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/tokenizer.h"
#include "heads/prompt/prompt_frame.h"

namespace adjudge {

struct LabelAlphabet {
  std::string lead;                 // the answer's beginning that the prompt ends with
  std::vector<std::string> labels;  // in the order they are given out
  std::vector<TokenId> ids;
};

// A to Z, then AA to ZZ as far as they are single tokens.
Result<LabelAlphabet> LetterAlphabet(const Tokenizer& tokenizer, const PromptFrame& frame);
// 0, 1, 2, ... up to the first that is not a single token, at most `n`.
Result<LabelAlphabet> NumberAlphabet(const Tokenizer& tokenizer, const PromptFrame& frame, int n);
// The given words, or an alphabet without labels when they are not all single distinct tokens.
Result<LabelAlphabet> WordAlphabet(const Tokenizer& tokenizer, const PromptFrame& frame,
                                   const std::vector<std::string>& words);

}  // namespace adjudge
