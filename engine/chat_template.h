// ChatTemplate: the Jinja text in a model file, rendered without letting users forge special
// tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/tokenizer.h"

namespace adjudge {

struct ChatMessage {
  // system, user, assistant, tool; also developer, function, observation, model. These eight count
  // as trusted words, since many templates spell a special token with them ("<|" + role + "|>").
  std::string role;
  std::string content;
};

struct ChatLimits {
  std::size_t max_source_bytes = 1 << 20;
  // Nesting of blocks and expressions, of macro calls, and of values; 200 at most.
  int max_depth = 100;
  // Work: one for each statement, expression and list item, and for each 128 bytes of text made.
  std::int64_t max_steps = 5'000'000;
  std::size_t max_output_bytes = 64 << 20;  // of any text, the output among them
};

struct ChatRequest {
  std::vector<ChatMessage> messages;
  bool add_generation_prompt = true;
  std::string bos_token;  // names of the special tokens, as the template's variables
  std::string eos_token;
  // More variables: a JSON object, for example {"tools": [...]}; its keys win over the above, and
  // the order of keys is kept as written. Strings in it are untrusted, the roles of "messages"
  // aside. `tools` and `documents` are none where it does not give them. Empty for none.
  std::string variables_json;
  std::int64_t now_unix_seconds = 0;  // the clock of strftime_now, UTC
};

// Immutable; safe to share between threads. The subset of Jinja2 that real templates use, with
// trim_blocks and lstrip_blocks on. Values print and compare as in Python.
class ChatTemplate {
 public:
  // Errors: kMalformed or kUnsupported with place "line N" and the construct's name.
  static Result<ChatTemplate> Parse(std::string_view source, const ChatLimits& limits = {});

  // Errors have place "line N", or the message or variable at fault; where Python would raise an
  // exception, the message begins with its type and words ("UndefinedError: 'x' is undefined"), and
  // a template's raise_exception gives "TemplateError: ...". Beyond the limits: kLimit.
  //
  // The rendered text as spans: trusted where it is the template's own literal text or
  // bos/eos_token, untrusted where any part of it came from messages or variables. Adjacent spans
  // differ in trust.
  Result<std::vector<TextSpan>> Render(const ChatRequest& request) const;

  // Renders with an arbitrary context (a JSON object), all of it untrusted; the joined text.
  Result<std::string> RenderJson(std::string_view context_json,
                                 std::int64_t now_unix_seconds = 0) const;

  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;

 private:
  struct Impl;
  explicit ChatTemplate(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace adjudge
