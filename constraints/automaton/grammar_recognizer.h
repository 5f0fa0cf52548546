// GrammarRecognizer: a context-free grammar, read byte by byte.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "constraints/automaton/counted_sets.h"
#include "constraints/automaton/key_hash.h"
#include "constraints/automaton/min_bytes.h"
#include "constraints/automaton/recognizer.h"
#include "constraints/automaton/utf8_ranges.h"

namespace adjudge {

// Earley's algorithm with sets that are interned, so that an item's origin is a set and not a place
// in the text: texts that leave the same rules open are one state, and what was read of finished
// rules is forgotten. A call at the end of a rule returns to the caller's caller, so right
// recursion takes no room. Left recursion, ambiguity, empty rules and loops of them are ordinary.
class GrammarRecognizer final : public Recognizer {
 public:
  // `token_masks` are the tokens of nfa.tokens, one mask each.
  GrammarRecognizer(CountedNfa nfa, std::vector<TokenMask> token_masks);

  State Start() override;
  State Next(State state, std::uint8_t byte) override;
  bool Accepts(State state) override { return sets_[state].accepts; }
  Run RunFrom(State state) override;
  const TokenMask* Tokens(State state) override;
  State NextToken(State state, TokenId token, State spelled) override;
  std::optional<std::string> ShortestEnd(State state) override;
  std::size_t bytes() const override { return bytes_; }

 private:
  using Item = CountedItem;
  using Items = std::vector<Item>;
  // What an item's end returns to: those that wait for `rule` in the set `origin`. Tag 0 is the end
  // of the text; tags 1 to n are rules called in the very set that holds them.
  struct Tag {
    std::uint32_t rule;
    State origin;
  };
  struct Set {
    Items kernel;  // what it was made from; tags of other sets only
    Items reads;
    Items calls;  // waiting
    Items tokens;
    bool accepts = false;
  };
  // What one character says of a state.
  struct CharRun {
    CharClass chars;
    State next = kDead;
  };

  State Close(Items kernel);
  void Process(const Item& item);
  void Complete(const Item& item);
  void Advance(const Item& waiting, State origin);
  void Call(const Item& item);
  std::uint32_t TagOf(std::uint32_t rule, State origin);
  bool is_self(std::uint32_t tag) const { return tag != 0 && tag <= n_rules_; }
  // The tag as seen from outside of the set that holds it.
  std::uint32_t Outside(std::uint32_t tag, State set) {
    return is_self(tag) ? TagOf(tag - 1, set) : tag;
  }
  CharRun CharRunOf(State state);
  std::optional<State> WideTarget(State state);
  bool SameTarget(State state, const Utf8Range& range, std::size_t at, State& target);
  bool LivesOn(State state, const CharClass& chars);
  // The fewest bytes to the end from each of the tags that `tag` can return to.
  void CostsOf(std::uint32_t tag);
  std::uint64_t CostOf(const Item& item, State set);

  const CountedNfa nfa_;
  const std::uint32_t n_rules_;
  const MinBytes min_bytes_;
  const std::vector<TokenMask> token_masks_;
  std::vector<bool> tail_;  // by place: a call after which its rule ends
  CountedSets reach_;
  std::vector<Set> sets_;                  // by state
  std::vector<std::vector<State>> rows_;   // by state, byte class
  std::array<std::uint8_t, 256> classes_;  // of bytes
  std::size_t n_classes_ = 0;
  std::vector<std::vector<bool>> reads_;  // by NFA set, byte class
  std::vector<Tag> tags_;                 // from n_rules_ + 1 on
  std::unordered_map<std::uint64_t, std::uint32_t> tag_ids_;
  std::unordered_map<std::vector<std::uint32_t>, State, KeyHash> by_kernel_;
  std::unordered_map<std::vector<std::uint32_t>, State, KeyHash> by_items_;
  std::unordered_map<State, CharRun> runs_;
  std::unordered_map<std::uint32_t, std::uint64_t> tag_costs_;
  TokenMask tokens_;  // what Tokens() gave last
  State start_ = kDead;
  std::size_t bytes_ = 0;

  // Of the set that is being closed.
  std::vector<bool> predicted_;
  std::vector<bool> completed_;
  std::vector<std::uint32_t> touched_;  // rules with either mark
  Items waiting_;
};

class VocabularyIndex;

// What the names and ids of token terminals stand for, given a vocabulary's index; errors name
// them.
Result<std::vector<TokenMask>> ResolveTokens(const CountedNfa& nfa, const VocabularyIndex& index);

}  // namespace adjudge
