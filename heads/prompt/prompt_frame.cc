#include "heads/prompt/prompt_frame.h"

#include <algorithm>
#include <utility>

#include "engine/prompt.h"

namespace adjudge {
namespace {

// Stands for the user's text while the template is rendered: plain words, so that templates that
// trim or look for markers leave it alone.
constexpr std::string_view kStandIn = "The text of the user stands here.";

Result<std::vector<TextSpan>> RenderStandIn(const Tokenizer& tokenizer) {
  ADJUDGE_ASSIGN_OR_RETURN(const ChatTemplate chat_template, LoadChatTemplate(tokenizer));
  ChatRequest request{.messages = {{.role = "user", .content = std::string(kStandIn)}}};
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  if (tokenizer.bos()) request.bos_token = vocabulary.bytes(*tokenizer.bos());
  if (tokenizer.eos()) request.eos_token = vocabulary.bytes(*tokenizer.eos());
  // Labels are read at the beginning of the answer, so nothing may be thought before it.
  request.variables_json = R"({"enable_thinking": false})";
  auto spans = chat_template.Render(request);
  if (!spans) {
    Error error = std::move(spans).error();
    error.message = ToString(error);
    error.place = "chat template";
    return tl::unexpected<Error>(std::move(error));
  }
  return spans;
}

void Append(std::vector<TextSpan>& spans, std::string_view text, bool trusted) {
  if (!text.empty()) spans.push_back({.text = std::string(text), .trusted = trusted});
}

}  // namespace

Result<PromptFrame> PromptFrame::Make(const Tokenizer& tokenizer, PromptStyle style) {
  PromptFrame frame;
  for (TokenId id = 0; id < tokenizer.vocabulary().size(); ++id) {
    frame.longest_token_bytes_ =
        std::max(frame.longest_token_bytes_, tokenizer.vocabulary().bytes(id).size());
  }
  frame.is_chat_ = style == PromptStyle::kChat ||
                   (style == PromptStyle::kAuto && tokenizer.chat_template().has_value());
  if (!frame.is_chat_) {
    frame.tail_ = {{.text = "\n", .trusted = true}};
    return frame;
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<TextSpan> spans, RenderStandIn(tokenizer));
  bool found = false;
  for (const TextSpan& span : spans) {
    const std::size_t at = found ? std::string::npos : span.text.find(kStandIn);
    std::vector<TextSpan>& side = found ? frame.tail_ : frame.head_;
    if (at == std::string::npos) {
      side.push_back(span);
      continue;
    }
    found = true;
    Append(frame.head_, std::string_view(span.text).substr(0, at), span.trusted);
    Append(frame.tail_, std::string_view(span.text).substr(at + kStandIn.size()), span.trusted);
  }
  if (!found) {
    return Fail(ErrorCode::kUnsupported,
                "the chat template does not put the user's text into the prompt as it stands; use "
                "the plain prompt");
  }
  return frame;
}

Result<std::vector<TokenId>> PromptFrame::EncodeShared(const Tokenizer& tokenizer,
                                                       std::string_view state, int window) const {
  const std::size_t least_tokens = state.size() / longest_token_bytes_;
  // Cheaper than tokenising a hundred megabytes to learn the same.
  if (least_tokens > static_cast<std::size_t>(window)) {
    return Fail(ErrorCode::kLimit,
                "the state has " + std::to_string(state.size()) + " bytes, at least " +
                    std::to_string(least_tokens) + " tokens; the model's window holds " +
                    std::to_string(window),
                "/state");
  }
  std::vector<TextSpan> spans = head_;
  Append(spans, state, false);
  if (!state.empty()) Append(spans, "\n\n", false);
  auto ids = tokenizer.EncodeSpans(spans);
  if (!ids) {
    ids.error().place = "/state";
    return ids;
  }
  if (tokenizer.wants_bos() && tokenizer.bos() &&
      (ids->empty() || ids->front() != *tokenizer.bos())) {
    ids->insert(ids->begin(), *tokenizer.bos());
  }
  return ids;
}

Result<std::vector<TokenId>> PromptFrame::EncodeQuestion(const Tokenizer& tokenizer,
                                                         std::string_view state,
                                                         std::string_view text,
                                                         std::string_view lead) const {
  std::vector<TextSpan> spans;
  Append(spans, text, false);
  spans.insert(spans.end(), tail_.begin(), tail_.end());
  Append(spans, lead, true);
  return tokenizer.EncodeSpans(spans, {.starts_text = state.empty() && head_.empty()});
}

Result<std::vector<TokenId>> PromptFrame::EncodeAnswer(const Tokenizer& tokenizer,
                                                       std::string_view lead,
                                                       std::string_view text) const {
  std::vector<TextSpan> spans = tail_;
  Append(spans, lead, true);
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<TokenId> before,
                           tokenizer.EncodeSpans(spans, {.starts_text = false}));
  Append(spans, text, false);
  ADJUDGE_ASSIGN_OR_RETURN(std::vector<TokenId> both,
                           tokenizer.EncodeSpans(spans, {.starts_text = false}));
  if (both.size() <= before.size() || !std::equal(before.begin(), before.end(), both.begin())) {
    return std::vector<TokenId>();
  }
  both.erase(both.begin(), both.begin() + static_cast<std::ptrdiff_t>(before.size()));
  return both;
}

}  // namespace adjudge
