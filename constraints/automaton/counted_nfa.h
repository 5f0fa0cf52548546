// CountedNfa: a nondeterministic automaton whose big repeats are counters, not copies.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "grammars/grammar.h"

namespace adjudge {

// Symbols are code points or bytes, as the builder was told. Places are joined by arrows that read
// nothing, except out of kRead, kCall and kToken. Trimmed: from every place the end can be reached.
struct CountedNfa {
  using Place = std::uint32_t;
  static constexpr Place kNone = ~Place{0};

  enum class Op : std::uint8_t {
    kRead,    // one symbol of sets[arg], then next
    kSplit,   // next or other
    kEnter,   // a counter at zero, then next (a kHead)
    kHead,    // loop arg: next (the body) below most; from least on, the counter gone, other
    kCount,   // one more, then next (a kHead)
    kCall,    // rule arg, then next
    kToken,   // one token of token set arg, then next
    kAccept,  // the end
    kDead,    // nothing
    // Before Settle() only:
    kTextStart,
    kTextEnd,
  };
  struct Node {
    Op op = Op::kDead;
    Place next = kNone;
    Place other = kNone;
    std::uint32_t arg = 0;
    std::uint32_t loop = kNone;  // the innermost loop around, whose counter a place here has
  };
  struct Loop {
    std::uint32_t least = 0;
    std::uint32_t most = 0;       // kUnbounded: the counter stays at least
    std::uint32_t outer = kNone;  // the loop around
  };
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
    friend bool operator==(const Range&, const Range&) = default;
  };
  using Set = std::vector<Range>;  // ascending

  std::vector<Node> nodes;
  std::vector<Loop> loops;
  std::vector<Set> sets;
  std::vector<TokenTerminal> tokens;
  std::vector<Place> starts;  // by rule

  bool dead(std::uint32_t rule) const { return nodes[starts[rule]].op == Op::kDead; }
};

enum class NfaSymbols { kCodePoints, kBytes };

struct NfaLimits {
  std::size_t max_places = 2'000'000;
};

// The automaton of a grammar's rules. Rules that accept nothing are dead, and so is what needs
// them. With kCodePoints every text of the grammar must be UTF-8 (a regex's is).
Result<CountedNfa> BuildNfa(const Grammar& grammar, NfaSymbols symbols,
                            const NfaLimits& limits = {});

}  // namespace adjudge
