#include "tests/testing/option_twin.h"

#include <algorithm>

namespace adjudge::testing {
namespace {

bool IsText(const Vocabulary& vocabulary, TokenId id) {
  const TokenKind kind = vocabulary.kind(id);
  const bool spells =
      kind == TokenKind::kNormal || kind == TokenKind::kByte || kind == TokenKind::kUserDefined;
  return spells && !vocabulary.is_stop(id) && !vocabulary.bytes(id).empty();
}

}  // namespace

bool TwinSpells(const Vocabulary& vocabulary, std::string_view bytes) {
  std::vector<bool> from(bytes.size() + 1, false);
  from[bytes.size()] = true;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    for (TokenId id = 0; id < vocabulary.size() && !from[i]; ++id) {
      const std::string_view token = vocabulary.bytes(id);
      from[i] =
          IsText(vocabulary, id) && bytes.substr(i).starts_with(token) && from[i + token.size()];
    }
  }
  return from[0];
}

TokenMask TwinOptionMask(const Vocabulary& vocabulary, const std::vector<std::string>& options,
                         const std::string& text) {
  TokenMask mask(vocabulary.width());
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.is_stop(id)) {
      if (std::find(options.begin(), options.end(), text) != options.end()) mask.set(id);
      continue;
    }
    if (!IsText(vocabulary, id)) continue;
    const std::string longer = text + std::string(vocabulary.bytes(id));
    for (const std::string& option : options) {
      if (option.starts_with(longer) &&
          TwinSpells(vocabulary, std::string_view(option).substr(longer.size()))) {
        mask.set(id);
        break;
      }
    }
  }
  return mask;
}

}  // namespace adjudge::testing
