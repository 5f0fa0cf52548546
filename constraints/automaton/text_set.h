// TextSet: a recogniser of a list of texts.
#pragma once

#include <string>
#include <vector>

#include "constraints/automaton/recognizer.h"
#include "constraints/trie/byte_trie.h"

namespace adjudge {

// A state is a node of the texts' trie, plus one.
class TextSet final : public Recognizer {
 public:
  // REQUIRES: at least one text; the empty text and repeated ones are allowed.
  explicit TextSet(std::vector<std::string> texts);

  State Start() override { return 1; }
  State Next(State state, std::uint8_t byte) override {
    if (!Burn(1)) return kDead;
    return static_cast<State>(trie_.Child(static_cast<ByteTrie::Node>(state - 1), byte) + 1);
  }
  bool Accepts(State state) override {
    return state == 1 ? empty_ : trie_.value(static_cast<ByteTrie::Node>(state - 1)) >= 0;
  }
  std::optional<std::string> ShortestEnd(State state) override;
  std::size_t bytes() const override { return static_cast<std::size_t>(trie_.n_nodes()) * 14; }

 private:
  bool empty_ = false;  // the empty text belongs
  ByteTrie trie_;
  std::vector<std::uint32_t> to_end_;  // bytes, by node
};

}  // namespace adjudge
