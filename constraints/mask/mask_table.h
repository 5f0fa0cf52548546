// MaskTable: the masks of a recogniser's states over one vocabulary, made when first asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "constraints/automaton/recognizer.h"
#include "constraints/mask/vocabulary_index.h"
#include "engine/base/result.h"
#include "engine/base/token_mask.h"

namespace adjudge {

// One thread at a time.
class MaskTable {
 public:
  using State = Recognizer::State;

  // Neither is owned. Kept masks take at most `max_bytes`.
  MaskTable(Recognizer& recognizer, const VocabularyIndex& index, std::size_t max_bytes)
      : recognizer_(recognizer), index_(index), max_bytes_(max_bytes) {}

  // The mask of a live state, stop tokens where it accepts. The recogniser has its fuel; an error
  // where that was not enough.
  Status Fill(State state, TokenMask& mask);
  // Calls use(token, state after it) for every text token allowed, tokens as terminals left out.
  template <typename Use>
  Status ForEach(State state, Use use) {
    index_.trie().Walk(
        state, [this](State s, std::uint8_t byte) { return recognizer_.Next(s, byte); },
        [&](std::uint32_t string, State to) { use(index_.tokens().ids()[string], to); });
    return recognizer_.status();
  }

  std::size_t bytes() const { return bytes_; }

 private:
  // The tokens of `base` and of `more`.
  struct Entry {
    State owner = 0;
    std::shared_ptr<const TokenMask> base;  // null: none
    std::vector<TokenId> more;
  };

  Result<const Entry*> Find(State twin, State state);
  Entry Make(State state);
  void MakeByClass(const Recognizer::Run& run, std::uint8_t classes, Entry& entry);
  bool AddExits(const Recognizer::Run& run, Entry& entry);
  void AddWalk(const MaskTrie& trie, const std::vector<TokenId>& ids, State state, Entry& entry);
  const std::vector<std::uint32_t>& RestsFrom(State state);
  void MendQuoted(State state, TokenMask& mask);
  void Forget();

  Recognizer& recognizer_;
  const VocabularyIndex& index_;
  const std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::unordered_map<State, Entry> entries_;
  std::unordered_map<State, std::vector<std::uint32_t>> rests_;  // allowed rests by state
};

}  // namespace adjudge
