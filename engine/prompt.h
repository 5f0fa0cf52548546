// Prompts: from a text or a chat to the tokens that a model is given.
#pragma once

#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/chat_template.h"
#include "engine/tokenizer.h"

namespace adjudge {

// The tokens of a plain text that begins a sequence: BOS once in front where the file says that a
// text begins with it (a text that spells it already, read with parse_special, gets no second one).
// `options.add_bos` is ignored. May be empty. Errors: as Tokenizer::Encode.
Result<std::vector<TokenId>> EncodePrompt(const Tokenizer& tokenizer, std::string_view text,
                                          const EncodeOptions& options = {});

// The model's own chat template. Errors: kNotFound when its file has none.
Result<ChatTemplate> LoadChatTemplate(const Tokenizer& tokenizer);

// The tokens of a chat: rendered (with the tokenizer's BOS and EOS names where the request leaves
// them empty), BOS once in front where the file says so. Only the template's own text makes special
// tokens, unless options.parse_special. Errors: as Render and EncodeSpans.
Result<std::vector<TokenId>> EncodeChat(const Tokenizer& tokenizer,
                                        const ChatTemplate& chat_template, ChatRequest request,
                                        const EncodeOptions& options = {});

}  // namespace adjudge
