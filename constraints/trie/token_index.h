// TokenIndex: the text tokens of a vocabulary, sorted by their bytes.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/token.h"
#include "engine/base/vocabulary.h"

namespace adjudge {

// A trie without nodes: the tokens that share a prefix are a range of the sorted list, and reading
// one more byte narrows the range. Holds normal, byte and user-defined tokens that spell something
// and are no stop tokens. Immutable.
class TokenIndex {
 public:
  // Tokens [begin, end) of the sorted list share their first `depth` bytes.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t depth = 0;
    bool empty() const { return begin == end; }
  };

  explicit TokenIndex(const Vocabulary& vocabulary);

  Range all() const { return {0, ids_.size(), 0}; }
  // The tokens of the range whose next byte is `byte`.
  Range Narrow(const Range& range, unsigned char byte) const;
  // The ids in the range that end at its depth: [first, last) of ids().
  std::pair<std::size_t, std::size_t> Ending(const Range& range) const;
  const std::vector<TokenId>& ids() const { return ids_; }

  int width() const { return width_; }
  const std::vector<TokenId>& stop_ids() const { return stop_ids_; }
  // The bytes of a text token; empty for every other id, ids outside the vocabulary included.
  std::string_view text(TokenId id) const;
  bool is_stop(TokenId id) const;

 private:
  std::string_view sorted_text(std::size_t i) const { return text(ids_[i]); }

  int width_ = 0;
  std::vector<TokenId> stop_ids_;            // ascending
  std::string bytes_;                        // of all text tokens, by id
  std::vector<std::size_t> offsets_;         // [vocabulary size + 1] into bytes_
  std::vector<TokenId> ids_;                 // by bytes, then id
  std::array<std::size_t, 257> first_byte_;  // where tokens of each first byte begin
};

}  // namespace adjudge
