// DecisionHead: typed questions on one state -> probabilities, in one forward pass.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/cost.h"
#include "engine/tokenizer.h"
#include "heads/abstention.h"
#include "heads/answer.h"
#include "heads/debias.h"
#include "heads/decision_session.h"
#include "heads/packed_scores.h"
#include "heads/question.h"

namespace adjudge {

struct Decisions {
  std::vector<Answer> answers;  // one for each question, in their order
  Usage usage;
  Timings timings;
};

struct DecisionRequest {
  Entry state;
  std::vector<Question> questions;
};

// One way of reading an answer from a model. Immutable; shared between threads, each with its own
// session.
class DecisionHead {
 public:
  virtual ~DecisionHead() = default;
  virtual std::string_view name() const = 0;

  // Answers every question about the state. An answer depends on the model, the state and its
  // question alone: not on ids, on other questions or their order, on how the work is packed, or on
  // what the session kept. Errors: the rules of ValidateQuestions; invalid UTF-8; kLimit where the
  // state or a question does not fit the window, with both numbers; kUnsupported where the head
  // cannot read a question of this kind; kCancelled by the session's flag. The place is "/state" or
  // a pointer to the question. REQUIRES: the session's model is the one whose tokenizer the head
  // was made with.
  virtual Result<Decisions> Decide(DecisionSession& session, const Entry& state,
                                   std::span<const Question> questions) const = 0;

  // The answers to every request in their order, each with its own error; the bits are those of
  // Decide. Heads that can compute many requests in one pass do; here they come one by one. Usage
  // and timings are each request's own part. A request that is cancelled ends with kCancelled, and
  // so do those behind it.
  virtual std::vector<Result<Decisions>> DecideMany(
      DecisionSession& session, std::span<const DecisionRequest> requests) const;
};

// The text around a question.
enum class PromptStyle {
  kAuto,   // the model's chat template where its file has one, else plain
  kChat,   // one user message in the chat template; the answer begins the assistant's turn
  kPlain,  // no template: the text, a line break, "Answer:"
};

// What options are called in the prompt of a label read-out.
enum class LabelStyle {
  kAuto,     // noul: words; score: numbers; choice: letters; each else the next that will do
  kLetters,  // A to Z, then AA to ZZ where these are single tokens
  kNumbers,  // 0, 1, 2, ...
  kWords,    // the options' own names; Yes and No
  kCodes,    // 00, 01, ...: two or more tokens each; what the label head takes where others are few
};

// Which ends count in a likelihood.
enum class EndRule {
  kAuto,  // none, unless one option's tokens begin another's: then the end counts for all of them
  kNone,  // the option's own tokens alone
  kStop,  // the option's tokens and then a token that stops
};

enum class LikelihoodNorm {
  kSum,               // of the tokens' log-probabilities: exact
  kMeanPerToken,      // divided by the number of tokens scored (the end among them)
  kMeanPerByte,       // divided by the bytes of the option's text
  kMeanPerCharacter,  // divided by its characters (code points)
};

// What is cut out of a state that is too long for a question, as much as must be.
enum class Truncate {
  kNone,       // nothing: it is refused, with both counts
  kStateHead,  // its beginning
  kStateTail,  // its end
  kMiddle,     // its middle, with a mark in its place
};

struct HeadOptions {
  PromptStyle prompt = PromptStyle::kAuto;
  LabelStyle labels = LabelStyle::kAuto;
  EndRule end = EndRule::kAuto;
  LikelihoodNorm norm = LikelihoodNorm::kSum;
  Debias debias = Debias::kNone;
  // Orders are averaged as probabilities, two more at a time, until DisagreementBound is at most
  // this; 0 stops only where nothing can change any more.
  std::optional<double> adaptive;
  std::string pmi_state;                         // x0 of Debias::kPmi
  std::shared_ptr<const PositionPriors> priors;  // of Debias::kPride
  // The head "auto" reads labels that hold less of the model's probability by likelihood instead.
  double min_label_mass = 0;
  std::optional<std::string> none_option;  // offered behind the options of every choice
  AbstainRule abstain;
  std::optional<ConformalThreshold> conformal;  // answers carry its sets
  Truncate truncate = Truncate::kNone;
  QuestionLimits limits;
  PackOptions pack;
};

// "label": next-token probabilities of single-token labels (label_head.h). "likelihood": exact
// log-likelihood of each option's tokens (likelihood_head.h). "auto": label where the labels can
// name all options of a question, else likelihood; the answer says which. Errors: kInvalidArgument
// for another name; kNotFound for the chat style without a template; what the template refuses.
Result<std::unique_ptr<DecisionHead>> MakeDecisionHead(std::string_view name,
                                                       std::shared_ptr<const Tokenizer> tokenizer,
                                                       const HeadOptions& options = {});

Result<PromptStyle> ParsePromptStyle(std::string_view name);  // auto | chat | plain
Result<LabelStyle> ParseLabelStyle(
    std::string_view name);                           // auto | letters | numbers | words | codes
Result<EndRule> ParseEndRule(std::string_view name);  // auto | none | stop
// sum | mean_per_token | mean_per_byte | mean_per_character
Result<LikelihoodNorm> ParseLikelihoodNorm(std::string_view name);
Result<Truncate> ParseTruncate(std::string_view name);  // none | state-head | state-tail | middle
std::string_view ToString(Truncate truncate);

}  // namespace adjudge
