// PromptFrame: what stands before and after a user's text, so that the text can be tokenised apart.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/tokenizer.h"
#include "heads/decision_head.h"

namespace adjudge {

// A prompt is made of two parts that are tokenised apart, so that the first is the same tokens
// whatever question follows:
//   shared    the template up to the user's text, the state, a blank line
//   question  the question's text, the template's end, the answer's lead ("Answer:")
// The template is rendered once around a stand-in for the user's text, so that no text can change
// what the template does; user text never makes a special token.
class PromptFrame {
 public:
  static Result<PromptFrame> Make(const Tokenizer& tokenizer, PromptStyle style);

  // The shared part, BOS once in front where the file says so. May be empty. Errors: invalid UTF-8;
  // kLimit for a state of so many bytes that no tokens of this vocabulary could fit `window`.
  Result<std::vector<TokenId>> EncodeShared(const Tokenizer& tokenizer, std::string_view state,
                                            int window) const;
  // The question part.
  Result<std::vector<TokenId>> EncodeQuestion(const Tokenizer& tokenizer, std::string_view state,
                                              std::string_view text, std::string_view lead) const;
  // The tokens that `text` adds after the question part's own end and `lead`; empty when it would
  // change tokens before it.
  Result<std::vector<TokenId>> EncodeAnswer(const Tokenizer& tokenizer, std::string_view lead,
                                            std::string_view text) const;

  // Of the vocabulary.
  std::size_t longest_token_bytes() const { return longest_token_bytes_; }
  bool is_chat() const { return is_chat_; }

 private:
  std::vector<TextSpan> head_;
  std::vector<TextSpan> tail_;
  bool is_chat_ = false;
  std::size_t longest_token_bytes_ = 1;
};

}  // namespace adjudge
