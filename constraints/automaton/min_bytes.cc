#include "constraints/automaton/min_bytes.h"

#include <algorithm>

namespace adjudge {

using Op = CountedNfa::Op;

MinBytes::MinBytes(const CountedNfa& nfa)
    : nfa_(nfa),
      to_end_(nfa.nodes.size(), kNever),
      body_(nfa.loops.size(), kNever),
      exit_(nfa.loops.size(), 0) {
  for (const CountedNfa::Node& node : nfa.nodes) {
    if (node.op == Op::kHead) exit_[node.arg] = node.other;
  }
  const auto add = [](std::uint64_t a, std::uint64_t b) { return std::min(a + b, kNever); };
  // Sweeps until nothing falls any more; most arrows go to lower numbers, so few are needed.
  for (bool changed = true; changed;) {
    changed = false;
    for (CountedNfa::Place i = 0; i < nfa.nodes.size(); ++i) {
      const CountedNfa::Node& node = nfa.nodes[i];
      std::uint64_t best = kNever;
      switch (node.op) {
        case Op::kRead:
          best = add(1, to_end_[node.next]);
          break;
        case Op::kSplit:
          best = std::min(to_end_[node.next], to_end_[node.other]);
          break;
        case Op::kEnter: {
          const std::uint64_t least = nfa.loops[node.arg].least;
          const std::uint64_t turns = least == 0 ? 0
                                      : std::min(kNever, body_[node.arg]) < kNever / least
                                          ? least * body_[node.arg]
                                          : kNever;
          best = add(turns, to_end_[exit_[node.arg]]);
          break;
        }
        case Op::kHead:
          body_[node.arg] = std::min(body_[node.arg], to_end_[node.next]);
          break;
        case Op::kCount:
        case Op::kAccept:
          best = 0;
          break;
        case Op::kCall:
          best = add(to_end_[nfa.starts[node.arg]], to_end_[node.next]);
          break;
        default:
          break;
      }
      if (best < to_end_[i]) {
        to_end_[i] = best;
        changed = true;
      }
    }
  }
}

}  // namespace adjudge
