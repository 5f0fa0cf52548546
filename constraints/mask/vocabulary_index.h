// VocabularyIndex: all that masks need of a vocabulary, built once and shared by every constraint.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "constraints/automaton/recognizer.h"
#include "constraints/mask/class_mask.h"
#include "constraints/mask/mask_trie.h"
#include "constraints/trie/token_index.h"
#include "engine/base/token_mask.h"
#include "engine/base/vocabulary.h"

namespace adjudge {

// A token's signature says which classes of characters it is made of. A token that holds a quote, a
// backslash, a control byte or bytes that begin no character, that is very long or no text at all,
// has the bit kSpecial and is never part of a class mask; one that ends inside a character counts
// that character.
//
// Immutable but for a cache of class masks behind a mutex; safe to share between threads.
class VocabularyIndex {
 public:
  // Bits of a signature.
  static constexpr std::uint8_t kLower = 1;
  static constexpr std::uint8_t kUpper = 2;
  static constexpr std::uint8_t kDigit = 4;
  static constexpr std::uint8_t kSpace = 8;
  static constexpr std::uint8_t kJoin = 16;   // _ and -
  static constexpr std::uint8_t kOther = 32;  // other printable ASCII, less quote and backslash
  static constexpr std::uint8_t kWide = 64;   // from U+0080 up
  static constexpr std::uint8_t kSpecial = 128;
  static constexpr std::uint8_t kAllClasses = 127;

  explicit VocabularyIndex(const Vocabulary& vocabulary);

  const TokenIndex& tokens() const { return tokens_; }
  int width() const { return tokens_.width(); }
  // Of the vocabulary's bytes, kinds, stop ids and width: equal vocabularies, equal numbers.
  std::uint64_t fingerprint() const { return fingerprint_; }
  // The id of the token that has this name or these bytes: a control token's, or the lowest other.
  TokenId Find(std::string_view name) const;
  // Ids that a negated token terminal stands for: text and control tokens, without stop tokens.
  const std::vector<TokenId>& producible() const { return producible_; }
  // Bytes that no token spells alone.
  const std::vector<std::uint8_t>& missing_bytes() const { return missing_bytes_; }

  // All text tokens; string i is token tokens().ids()[i].
  const MaskTrie& trie() const { return trie_; }

  // By node of trie(): the signatures of all tokens at it and below, joined.
  std::uint8_t signatures_below(std::uint32_t node) const { return below_[node]; }

  // The classes that a class of characters holds whole.
  static std::uint8_t ClassesIn(const CharClass& chars);
  // Text tokens of these classes alone, any length.
  std::size_t n_tokens(std::uint8_t classes) const { return n_tokens_[classes]; }
  // Tokens of these classes alone, of at most `room` characters. Kept where room is kNoLimit.
  void FillClass(std::uint8_t classes, std::uint32_t room, TokenMask& mask) const;
  std::shared_ptr<const TokenMask> ClassMask(std::uint8_t classes) const;
  // Characters of the longest token of a class mask.
  std::uint32_t longest() const { return longest_; }

  // The tokens with kSpecial, cut where the first special byte stands: `before` characters of the
  // classes, then rest number `rest`.
  struct Exit {
    TokenId id;
    std::uint8_t before;
    bool quoted;  // two quotes or more
  };
  // Distinct rests, ascending; string i of the trie is rest i.
  const MaskTrie& rests() const { return rests_; }
  // The tokens that end in rest i, by `before`.
  std::pair<const Exit*, const Exit*> exits(std::uint32_t rest) const {
    return {exits_.data() + first_exit_[rest], exits_.data() + first_exit_[rest + 1]};
  }
  std::uint8_t longest_before() const { return longest_before_; }
  // The special tokens whole: string i is special_ids()[i].
  const MaskTrie& special() const { return special_; }
  const std::vector<TokenId>& special_ids() const { return special_ids_; }
  // Tokens with two quotes or more: string i is quoted_ids()[i].
  const MaskTrie& quoted() const { return quoted_; }
  const std::vector<TokenId>& quoted_ids() const { return quoted_ids_; }

  std::size_t bytes() const;

 private:
  void Sign();
  void CutSpecial();
  void IndexNames(const Vocabulary& vocabulary);

  TokenIndex tokens_;
  MaskTrie trie_;
  std::vector<std::uint8_t> signatures_;  // by id, padded to whole 64s
  std::vector<std::uint8_t> lengths_;     // characters
  std::vector<std::uint8_t> below_;       // by node of trie_
  std::array<std::size_t, 128> n_tokens_{};
  std::uint32_t longest_ = 0;
  MaskIsa isa_ = BestMaskIsa();

  MaskTrie rests_;
  std::vector<Exit> exits_;  // by rest, then `before`
  std::vector<std::uint32_t> first_exit_;
  std::uint8_t longest_before_ = 0;
  MaskTrie special_;
  std::vector<TokenId> special_ids_;
  MaskTrie quoted_;
  std::vector<TokenId> quoted_ids_;

  std::vector<TokenId> producible_;
  std::vector<std::uint8_t> missing_bytes_;
  std::unordered_map<std::string, TokenId> control_names_;
  std::uint64_t fingerprint_ = 0;

  mutable std::mutex mutex_;
  mutable std::array<std::shared_ptr<const TokenMask>, 128> class_masks_;
};

}  // namespace adjudge
