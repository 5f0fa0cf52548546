#include "tests/testing/listed_tokenizer.h"

namespace adjudge::testing {
namespace {

Vocabulary MakeVocabulary(const std::vector<ListedToken>& tokens, int padding) {
  std::vector<Vocabulary::Entry> entries;
  std::vector<TokenId> stops;
  for (const ListedToken& token : tokens) {
    if (token.stop) stops.push_back(static_cast<TokenId>(entries.size()));
    entries.push_back({token.bytes, token.kind});
  }
  const int width = static_cast<int>(entries.size()) + padding;
  return Vocabulary(std::move(entries), width, std::move(stops));
}

}  // namespace

ListedTokenizer::ListedTokenizer(const std::vector<ListedToken>& tokens,
                                 const ListedSettings& settings)
    : settings_(settings), vocabulary_(MakeVocabulary(tokens, settings.padding)) {}

std::optional<TokenId> ListedTokenizer::FindSpecial(std::string_view name) const {
  for (TokenId id = 0; id < vocabulary_.size(); ++id) {
    if (vocabulary_.kind(id) == TokenKind::kControl && vocabulary_.bytes(id) == name) return id;
  }
  return std::nullopt;
}

TokenId ListedTokenizer::Longest(std::string_view text, bool control) const {
  TokenId best = kNoToken;
  for (TokenId id = 0; id < vocabulary_.size(); ++id) {
    const std::string_view bytes = vocabulary_.bytes(id);
    const bool fits =
        control ? vocabulary_.kind(id) == TokenKind::kControl : !vocabulary_.is_special(id);
    if (!fits || bytes.empty() || !text.starts_with(bytes)) continue;
    if (best == kNoToken || bytes.size() > vocabulary_.bytes(best).size()) best = id;
  }
  return best;
}

std::vector<Tokenizer::Special> ListedTokenizer::FindControls(
    std::string_view text, std::span<const TextRange> trusted) const {
  std::vector<Special> found;
  for (const TextRange& range : trusted) {
    for (std::size_t at = range.begin; at < range.end;) {
      const TokenId id = Longest(text.substr(at, range.end - at), true);
      const std::size_t n = id == kNoToken ? 1 : vocabulary_.bytes(id).size();
      if (id != kNoToken) found.push_back({at, at + n, id});
      at += n;
    }
  }
  return found;
}

Status ListedTokenizer::EncodePlain(std::string_view text, std::vector<TokenId>& ids) const {
  while (!text.empty()) {
    const TokenId id = Longest(text, false);
    if (id == kNoToken) return Fail(ErrorCode::kUnsupported, "no token begins this text");
    ids.push_back(id);
    text.remove_prefix(vocabulary_.bytes(id).size());
  }
  return {};
}

Status ListedTokenizer::EncodeValid(std::string_view text, std::span<const Special> controls,
                                    const EncodeOptions& options, std::vector<TokenId>& ids) const {
  bool needs_prefix = settings_.dummy_prefix && options.starts_text;
  const auto plain = [&](std::string_view part) -> Status {
    if (part.empty()) return {};
    std::string prefixed(needs_prefix ? 1 : 0, ' ');
    prefixed += part;
    needs_prefix = false;
    return EncodePlain(prefixed, ids);
  };
  std::size_t at = 0;
  for (const Special& control : controls) {
    ADJUDGE_RETURN_IF_ERROR(plain(text.substr(at, control.begin - at)));
    ids.push_back(control.id);
    at = control.end;
  }
  return plain(text.substr(at));
}

}  // namespace adjudge::testing
