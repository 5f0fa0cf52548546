// Vocabulary: what every token of a model spells, byte for byte.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/token.h"

namespace adjudge {

enum class TokenKind : unsigned char {
  kNormal,       // a piece of text
  kByte,         // one raw byte (byte fallback)
  kUserDefined,  // text that is cut out whole before ordinary tokenisation
  kControl,      // special: begins, ends, delimits; spells no text of its own
  kUnknown,      // stands for text that the vocabulary cannot spell
  kUnused,       // never produced
};

// id -> exact bytes. Immutable once built; safe to share between threads.
class Vocabulary {
 public:
  struct Entry {
    std::string bytes;  // what the token adds to the text; for a control token its name
    TokenKind kind = TokenKind::kNormal;
  };

  Vocabulary() = default;
  // `width` is the number of logits of the model: at least entries.size(); the ids from size() to
  // width() - 1 are padding and may never be sampled. `stop_ids` end a generation.
  Vocabulary(std::vector<Entry> entries, int width, std::vector<TokenId> stop_ids);

  int size() const { return static_cast<int>(entries_.size()); }
  int width() const { return width_; }

  // REQUIRES: 0 <= id < size(), here and below. The view lives as long as the Vocabulary.
  std::string_view bytes(TokenId id) const;
  TokenKind kind(TokenId id) const;

  // Control tokens and tokens that spell nothing: not part of generated text.
  bool is_special(TokenId id) const;
  // May come out of a sampler: inside size(), and neither unused nor unknown.
  bool is_producible(TokenId id) const;
  bool is_stop(TokenId id) const;
  const std::vector<TokenId>& stop_ids() const { return stop_ids_; }  // ascending

  bool contains(TokenId id) const { return id >= 0 && id < size(); }

 private:
  std::vector<Entry> entries_;
  int width_ = 0;
  std::vector<TokenId> stop_ids_;
};

}  // namespace adjudge
