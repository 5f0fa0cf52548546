#include "constraints/trie/token_index.h"

#include <algorithm>

namespace adjudge {

TokenIndex::TokenIndex(const Vocabulary& vocabulary)
    : width_(vocabulary.width()), stop_ids_(vocabulary.stop_ids()) {
  offsets_.reserve(static_cast<std::size_t>(vocabulary.size()) + 1);
  offsets_.push_back(0);
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const bool is_text = !vocabulary.is_special(id) && !vocabulary.is_stop(id);
    if (is_text) bytes_ += vocabulary.bytes(id);
    offsets_.push_back(bytes_.size());
    if (is_text && !vocabulary.bytes(id).empty()) ids_.push_back(id);
  }
  std::sort(ids_.begin(), ids_.end(), [this](TokenId a, TokenId b) {
    const int order = text(a).compare(text(b));
    return order != 0 ? order < 0 : a < b;
  });
  first_byte_.fill(ids_.size());
  for (std::size_t i = ids_.size(); i-- > 0;) {
    first_byte_[static_cast<unsigned char>(sorted_text(i)[0])] = i;
  }
  for (std::size_t byte = 256; byte-- > 0;) {
    first_byte_[byte] = std::min(first_byte_[byte], first_byte_[byte + 1]);
  }
}

std::string_view TokenIndex::text(TokenId id) const {
  if (id < 0 || static_cast<std::size_t>(id) + 1 >= offsets_.size()) return {};
  const std::size_t begin = offsets_[static_cast<std::size_t>(id)];
  return std::string_view(bytes_).substr(begin, offsets_[static_cast<std::size_t>(id) + 1] - begin);
}

bool TokenIndex::is_stop(TokenId id) const {
  return std::binary_search(stop_ids_.begin(), stop_ids_.end(), id);
}

TokenIndex::Range TokenIndex::Narrow(const Range& range, unsigned char byte) const {
  if (range.depth == 0) {
    return {first_byte_[byte], first_byte_[static_cast<std::size_t>(byte) + 1], 1};
  }
  // Tokens that end here sort first and have no next byte.
  const auto next = [&](TokenId id) {
    const std::string_view token = text(id);
    return token.size() == range.depth
               ? -1
               : static_cast<int>(static_cast<unsigned char>(token[range.depth]));
  };
  const auto begin = ids_.begin() + static_cast<std::ptrdiff_t>(range.begin);
  const auto end = ids_.begin() + static_cast<std::ptrdiff_t>(range.end);
  const auto low =
      std::lower_bound(begin, end, byte, [&](TokenId id, int value) { return next(id) < value; });
  const auto high =
      std::upper_bound(low, end, byte, [&](int value, TokenId id) { return value < next(id); });
  return {static_cast<std::size_t>(low - ids_.begin()),
          static_cast<std::size_t>(high - ids_.begin()), range.depth + 1};
}

std::pair<std::size_t, std::size_t> TokenIndex::Ending(const Range& range) const {
  std::size_t last = range.begin;
  while (last < range.end && sorted_text(last).size() == range.depth) ++last;
  return {range.begin, last};
}

}  // namespace adjudge
