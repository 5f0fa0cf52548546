// The label read-out: next-token probabilities of labels that are one token each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/tokenizer.h"
#include "heads/decision_head.h"
#include "heads/question.h"

namespace adjudge {

// A question as a label read-out asks it. The whole prompt is the shared part of its state (see
// LabelPrompts::Shared) and then `tokens`; the label is the next token.
struct LabelPrompt {
  std::vector<TokenId> tokens;
  std::vector<std::string> labels;  // [option] as the prompt spells them
  std::vector<TokenId> label_ids;   // [option] single, distinct
};

// Makes the prompts of the label read-out for one tokenizer and template. Labels are checked to be
// single distinct tokens where they stand, after the prompt's own end: with the space before them
// ("Answer:" then " A") or, where only that gives one token, with the space in the prompt
// ("Answer: " then "7"). Immutable; shared between threads.
class LabelPrompts {
 public:
  static Result<LabelPrompts> Make(std::shared_ptr<const Tokenizer> tokenizer, PromptStyle prompt,
                                   LabelStyle labels);

  // The tokens before every question on this state; `window` is the model's.
  Result<std::vector<TokenId>> Shared(const Entry& state, int window) const;
  // Errors: kLimit where no alphabet has so many single-token labels, with the largest;
  // kUnsupported where words were asked for and are not single distinct tokens. The place points
  // into the question.
  Result<LabelPrompt> Make(const Entry& state, const Question& question) const;

  const Tokenizer& tokenizer() const;

  ~LabelPrompts();
  LabelPrompts(LabelPrompts&&) noexcept;
  LabelPrompts& operator=(LabelPrompts&&) noexcept;

 private:
  struct Impl;
  explicit LabelPrompts(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct LabelReading {
  std::vector<double> logprobs;       // of each label among all tokens, natural log
  std::vector<double> probabilities;  // softmax over the labels
  double label_mass = 0;              // the labels' share of the model's own probability
};

// Reads labels after any prompt of at least one token. The label ids should be distinct.
Result<LabelReading> ReadLabels(DecisionSession& session, std::span<const TokenId> prompt,
                                std::span<const TokenId> label_ids);

// From the labels' log-probabilities.
LabelReading MakeLabelReading(std::vector<double> logprobs);

}  // namespace adjudge
