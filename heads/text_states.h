// TextStates: one vector of hidden states for a text, as a trained head reads it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/cost.h"
#include "engine/model.h"
#include "engine/tokenizer.h"

namespace adjudge {

enum class Pooling {
  kMean,  // over the text's tokens
  kLast,  // the last token of the row, behind the suffix
  kMax,   // each dimension's largest over the text's tokens
  kRow,   // mean over the tokens of text and suffix
};
Result<Pooling> ParsePooling(std::string_view name);  // mean | last | max | row
std::string_view ToString(Pooling pooling);

// What is read of a text. Layer k is the residual stream behind k layers of the model, from 1, so
// that only as many layers run as the highest one named.
struct StateSpec {
  std::vector<int> layers;  // ascending; the vectors of several are joined in this order
  Pooling pooling = Pooling::kMean;
  std::string prefix;  // stands before each text; makes no special tokens
  std::string suffix;  // and behind it

  friend bool operator==(const StateSpec&, const StateSpec&) = default;
};

struct StateOptions {
  int max_pass_tokens = 4096;  // new tokens in one pass
  // Looked at between parts of the work; then kCancelled. Not owned; null = never.
  const std::atomic<bool>* cancel = nullptr;
};

struct StateRows {
  std::vector<float> values;  // [texts, width]
  std::vector<int> tokens;    // [texts] of each and its suffix, the shared prefix not counted
  Usage usage;
  Timings timings;
};

// Computes states. Immutable; shared between threads.
class TextStates {
 public:
  // Errors: kInvalidArgument for layers that the model does not have, are not ascending, or are
  // none; what the tokenizer refuses of prefix and suffix.
  static Result<TextStates> Make(std::shared_ptr<const Model> model,
                                 std::shared_ptr<const Tokenizer> tokenizer, StateSpec spec);

  const StateSpec& spec() const { return spec_; }
  // Tokens of the prefix, which Compute counts once.
  int prefix_tokens() const { return static_cast<int>(prefix_.size()); }
  // What Compute would refuse of this text before any pass.
  Status Check(std::string_view text) const;
  int width() const { return static_cast<int>(spec_.layers.size()) * model_->config().dim; }

  // Many texts as forks of the prefix, in as few passes as max_pass_tokens allows. A text's vector
  // depends on the model, the spec and the text alone, to the bit. Errors: kInvalidArgument for a
  // text without tokens, kLimit for one that does not fit the window, with both numbers;
  // kNotFinite; invalid UTF-8. The place is "text N", counted from 0.
  Result<StateRows> Compute(std::span<const std::string_view> texts,
                            const StateOptions& options = {}) const;

 private:
  class Passes;
  TextStates(std::shared_ptr<const Model> model, std::shared_ptr<const Tokenizer> tokenizer,
             StateSpec spec);

  Result<std::vector<TokenId>> Encode(std::string_view text) const;
  void Pool(std::span<const float> rows, std::size_t n_rows, float* out) const;

  std::shared_ptr<const Model> model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  StateSpec spec_;
  std::vector<TokenId> prefix_;
  std::vector<TokenId> suffix_;
  std::size_t longest_token_bytes_ = 1;
};

}  // namespace adjudge
