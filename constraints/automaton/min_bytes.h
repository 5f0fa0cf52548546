// MinBytes: how few symbols a place of an automaton is from the end of its rule.
#pragma once

#include <cstdint>
#include <vector>

#include "constraints/automaton/counted_sets.h"

namespace adjudge {

// A token terminal counts as no end at all (kNever), since it spells no bytes.
class MinBytes {
 public:
  static constexpr std::uint64_t kNever = std::uint64_t{1} << 60;

  explicit MinBytes(const CountedNfa& nfa);

  // Symbols from the item to the end of its rule, at least; outer(id) gives the counters around.
  template <typename Outer>
  std::uint64_t Of(const CountedItem& item, Outer outer) const {
    std::uint64_t sum = to_end_[item.place];
    std::uint32_t loop = nfa_.nodes[item.place].loop;
    std::uint64_t done = item.high;
    std::uint32_t around = item.outer;
    while (loop != CountedNfa::kNone) {
      const std::uint64_t least = nfa_.loops[loop].least;
      if (done + 1 < least) sum += (least - done - 1) * body_[loop];
      sum += to_end_[exit_[loop]];
      loop = nfa_.loops[loop].outer;
      if (loop == CountedNfa::kNone) break;
      const auto [next, value] = outer(around);
      around = next;
      done = value;
    }
    return sum < kNever ? sum : kNever;
  }
  std::uint64_t rule(std::uint32_t r) const { return to_end_[nfa_.starts[r]]; }

 private:
  const CountedNfa& nfa_;
  // To the end of the rule, or of one turn of the innermost loop around.
  std::vector<std::uint64_t> to_end_;
  std::vector<std::uint64_t> body_;      // by loop: one turn
  std::vector<CountedNfa::Place> exit_;  // by loop
};

}  // namespace adjudge
