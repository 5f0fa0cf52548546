#include "constraints/mask/forced_tokens.h"

#include <algorithm>

namespace adjudge {
namespace {

// Some token begins with `begun` and goes on with bytes that are live from `state`.
bool Overhangs(Recognizer& recognizer, const VocabularyIndex& index, std::string_view begun,
               Recognizer::State state) {
  TokenIndex::Range range = index.tokens().all();
  for (const char c : begun) {
    range = index.tokens().Narrow(range, static_cast<unsigned char>(c));
    if (range.empty()) return false;
  }
  for (std::size_t i = index.tokens().Ending(range).second; i < range.end; ++i) {
    const std::string_view text = index.tokens().text(index.tokens().ids()[i]);
    const auto next = static_cast<std::uint8_t>(text[begun.size()]);
    // Tokens that go on with a byte that is dead are passed over together.
    if (recognizer.Next(state, next) == Recognizer::kDead) {
      const auto narrow = index.tokens().Narrow(range, next);
      i = narrow.end - 1;
      continue;
    }
    if (Walk(recognizer, state, text.substr(begun.size())) != Recognizer::kDead) return true;
  }
  return false;
}

}  // namespace

std::vector<TokenId> CanonicalForced(Recognizer& recognizer, const VocabularyIndex& index,
                                     const Tokenize& tokenize,
                                     const std::vector<TokenId>& before_tokens,
                                     Recognizer::State state, const std::string& forced) {
  std::string before;
  for (const TokenId id : before_tokens) before += index.tokens().text(id);
  const std::vector<TokenId> all = tokenize(before + forced);
  if (all.size() < before_tokens.size() ||
      !std::equal(before_tokens.begin(), before_tokens.end(), all.begin())) {
    return {};
  }
  std::vector<TokenId> kept(all.begin() + static_cast<std::ptrdiff_t>(before_tokens.size()),
                            all.end());
  std::size_t end = 0;
  for (const TokenId id : kept) {
    const std::string_view text = index.tokens().text(id);
    if (text.empty() || forced.compare(end, text.size(), text) != 0) return {};
    end += text.size();
  }
  if (end != forced.size()) return {};
  const Recognizer::State after = Walk(recognizer, state, forced);
  if (after == Recognizer::kDead) return {};
  // From the end back: a token goes as long as a longer one may begin inside of it.
  std::size_t first_overhang = forced.size();
  const std::size_t reach = std::min<std::size_t>(forced.size(), index.trie().max_depth());
  for (std::size_t n = 1; n <= reach; ++n) {
    const std::size_t at = forced.size() - n;
    if (Overhangs(recognizer, index, std::string_view(forced).substr(at), after)) {
      first_overhang = at;
    }
  }
  while (!kept.empty() && end > first_overhang) {
    end -= index.tokens().text(kept.back()).size();
    kept.pop_back();
  }
  return kept;
}

}  // namespace adjudge
