#include "engine/tokenizer.h"

#include "engine/base/check.h"
#include "engine/base/utf8.h"

namespace adjudge {

Result<std::vector<TokenId>> Tokenizer::Encode(std::string_view text,
                                               const EncodeOptions& options) const {
  std::string repaired;
  if (options.lossy && FirstInvalidUtf8(text)) {
    repaired = RepairUtf8(text);
    text = repaired;
  }
  const TextRange whole{0, text.size()};
  return EncodeRanges(text, {&whole, options.parse_special ? 1U : 0U}, options);
}

Result<std::vector<TokenId>> Tokenizer::EncodeSpans(std::span<const TextSpan> spans,
                                                    const EncodeOptions& options) const {
  std::string joined;
  for (const TextSpan& span : spans) joined += span.text;
  const bool repair = options.lossy && FirstInvalidUtf8(joined).has_value();

  // Repairing moves offsets: a boundary goes to where the characters before it end. A bad part that
  // straddles a boundary is one U+FFFD, which no special token's name holds.
  std::string text;
  std::vector<TextRange> trusted;
  std::size_t consumed = 0;  // of `joined`
  std::size_t boundary = 0;
  for (const TextSpan& span : spans) {
    boundary += span.text.size();
    const std::size_t begin = text.size();
    if (!repair) {
      text += span.text;
    } else {
      while (consumed < boundary) {
        const Utf8Step step = NextUtf8(std::string_view(joined).substr(consumed));
        text += step.valid ? std::string_view(joined).substr(consumed, step.length)
                           : kReplacementCharacter;
        consumed += step.length;
      }
    }
    if (!span.trusted || text.size() == begin) continue;
    if (!trusted.empty() && trusted.back().end == begin) {
      trusted.back().end = text.size();
    } else {
      trusted.push_back({begin, text.size()});
    }
  }
  return EncodeRanges(text, trusted, options);
}

Result<std::vector<TokenId>> Tokenizer::EncodeRanges(std::string_view text,
                                                     std::span<const TextRange> trusted,
                                                     const EncodeOptions& options) const {
  if (text.size() > options.max_text_bytes) {
    return Fail(ErrorCode::kLimit,
                "expected a text of at most " + std::to_string(options.max_text_bytes) +
                    " bytes (max_text_bytes), found " + std::to_string(text.size()));
  }
  if (const auto bad = FirstInvalidUtf8(text)) {
    return Fail(ErrorCode::kMalformed, "expected UTF-8, found bytes that are not",
                "byte " + std::to_string(*bad));
  }
  if (options.add_bos && !bos()) {
    return Fail(ErrorCode::kInvalidArgument,
                "a beginning-of-sequence token was asked for, and this vocabulary has none");
  }
  std::vector<TokenId> ids;
  const std::vector<Special> controls =
      trusted.empty() ? std::vector<Special>{} : FindControls(text, trusted);
  ADJUDGE_RETURN_IF_ERROR(EncodeValid(text, controls, options, ids));
  if (options.add_bos && (ids.empty() || ids.front() != *bos())) ids.insert(ids.begin(), *bos());
  return ids;
}

std::string_view Tokenizer::DecodePiece(TokenId id, bool special, bool& at_start) const {
  const Vocabulary& words = vocabulary();
  std::string_view bytes = words.bytes(id);
  switch (words.kind(id)) {
    case TokenKind::kControl:
    case TokenKind::kUnused:
      return special ? bytes : std::string_view{};
    default:
      break;
  }
  if (!at_start || bytes.empty()) return bytes;
  const bool text = words.kind(id) != TokenKind::kByte && words.kind(id) != TokenKind::kUnknown;
  if (text && bytes.front() == ' ' && (adds_dummy_prefix() || drops_leading_spaces())) {
    bytes.remove_prefix(1);
  }
  at_start = drops_leading_spaces() && bytes.empty();
  return bytes;
}

std::string Tokenizer::Decode(std::span<const TokenId> ids, bool special) const {
  std::string text;
  bool at_start = true;
  for (const TokenId id : ids) text += DecodePiece(id, special, at_start);
  return text;
}

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool special)
    : tokenizer_(&tokenizer), special_(special) {}

std::string StreamDecoder::Push(TokenId id) {
  pending_ += tokenizer_->DecodePiece(id, special_, at_start_);
  std::string out;
  std::size_t i = 0;
  while (i < pending_.size()) {
    const Utf8Step step = NextUtf8(std::string_view(pending_).substr(i));
    if (step.truncated) break;
    out += step.valid ? std::string_view(pending_).substr(i, step.length) : kReplacementCharacter;
    i += step.length;
  }
  pending_.erase(0, i);
  return out;
}

std::string StreamDecoder::Finish() {
  if (pending_.empty()) return {};
  pending_.clear();
  return std::string(kReplacementCharacter);
}

}  // namespace adjudge
