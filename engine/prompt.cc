#include "engine/prompt.h"

#include <optional>
#include <string>
#include <utility>

namespace adjudge {
namespace {

void PutBosOnce(const Tokenizer& tokenizer, std::vector<TokenId>& ids) {
  const std::optional<TokenId> bos = tokenizer.bos();
  if (!tokenizer.wants_bos() || !bos) return;
  if (ids.empty() || ids.front() != *bos) ids.insert(ids.begin(), *bos);
}

void NameIfEmpty(const Tokenizer& tokenizer, std::optional<TokenId> id, std::string& name) {
  if (name.empty() && id) name = std::string(tokenizer.vocabulary().bytes(*id));
}

}  // namespace

Result<std::vector<TokenId>> EncodePrompt(const Tokenizer& tokenizer, std::string_view text,
                                          const EncodeOptions& options) {
  EncodeOptions plain = options;
  plain.add_bos = false;
  ADJUDGE_ASSIGN_OR_RETURN(std::vector<TokenId> ids, tokenizer.Encode(text, plain));
  PutBosOnce(tokenizer, ids);
  return ids;
}

Result<ChatTemplate> LoadChatTemplate(const Tokenizer& tokenizer) {
  if (!tokenizer.chat_template()) {
    return Fail(ErrorCode::kNotFound, "the model's file has no chat template");
  }
  return ChatTemplate::Parse(*tokenizer.chat_template());
}

Result<std::vector<TokenId>> EncodeChat(const Tokenizer& tokenizer,
                                        const ChatTemplate& chat_template, ChatRequest request,
                                        const EncodeOptions& options) {
  NameIfEmpty(tokenizer, tokenizer.bos(), request.bos_token);
  NameIfEmpty(tokenizer, tokenizer.eos(), request.eos_token);
  ADJUDGE_ASSIGN_OR_RETURN(std::vector<TextSpan> spans, chat_template.Render(request));
  EncodeOptions plain = options;
  plain.add_bos = false;
  if (plain.parse_special) {
    for (TextSpan& span : spans) span.trusted = true;
  }
  ADJUDGE_ASSIGN_OR_RETURN(std::vector<TokenId> ids, tokenizer.EncodeSpans(spans, plain));
  PutBosOnce(tokenizer, ids);
  return ids;
}

}  // namespace adjudge
