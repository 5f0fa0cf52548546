#include "engine/base/vocabulary.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace adjudge {

Vocabulary::Vocabulary(std::vector<Entry> entries, int width, std::vector<TokenId> stop_ids)
    : entries_(std::move(entries)), width_(width), stop_ids_(std::move(stop_ids)) {
  ADJUDGE_CHECK(width_ >= size());
  std::sort(stop_ids_.begin(), stop_ids_.end());
  stop_ids_.erase(std::unique(stop_ids_.begin(), stop_ids_.end()), stop_ids_.end());
  for (TokenId id : stop_ids_) ADJUDGE_CHECK(contains(id));
}

std::string_view Vocabulary::bytes(TokenId id) const {
  ADJUDGE_CHECK(contains(id));
  return entries_[static_cast<std::size_t>(id)].bytes;
}

TokenKind Vocabulary::kind(TokenId id) const {
  ADJUDGE_CHECK(contains(id));
  return entries_[static_cast<std::size_t>(id)].kind;
}

bool Vocabulary::is_special(TokenId id) const {
  const TokenKind k = kind(id);
  return k == TokenKind::kControl || k == TokenKind::kUnknown || k == TokenKind::kUnused;
}

bool Vocabulary::is_producible(TokenId id) const {
  if (!contains(id)) return false;
  const TokenKind k = kind(id);
  return k != TokenKind::kUnused && k != TokenKind::kUnknown;
}

bool Vocabulary::is_stop(TokenId id) const {
  return std::binary_search(stop_ids_.begin(), stop_ids_.end(), id);
}

}  // namespace adjudge
