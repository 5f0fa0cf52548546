// MaskTrie: byte strings as a tree in one array, for walks in step with an automaton.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace adjudge {

// Nodes in preorder, so that a node's children follow it and `end` jumps over what is below.
// Immutable. The strings' numbers are those of their order given.
class MaskTrie {
 public:
  MaskTrie() = default;
  // REQUIRES: ascending by bytes (equal ones allowed), none empty.
  explicit MaskTrie(const std::vector<std::string_view>& sorted);

  struct Node {
    std::uint32_t end;           // the first node that is not below this one
    std::uint32_t first_string;  // strings that end here: up to the next node's first_string
    std::uint16_t depth;         // 1 for a first byte
    std::uint8_t byte;
  };
  // One more than the nodes there are: the last ends the strings.
  const std::vector<Node>& nodes() const { return nodes_; }
  std::uint32_t n_nodes() const { return static_cast<std::uint32_t>(nodes_.size()) - 1; }
  std::uint16_t max_depth() const { return max_depth_; }

  // Calls visit(string, live state) for each string that leads from `state` to a live one, in
  // order. next(state, byte) gives 0 for what is dead; skip(node) passes over a node and what is
  // below.
  template <typename Next, typename Visit, typename Skip>
  void Walk(std::uint32_t state, Next next, Visit visit, Skip skip) const {
    std::vector<std::uint32_t> states(std::size_t{max_depth_} + 1);
    states[0] = state;
    const std::uint32_t n = n_nodes();
    for (std::uint32_t i = 0; i < n;) {
      const Node& node = nodes_[i];
      const std::uint32_t to = skip(i) ? 0 : next(states[node.depth - 1u], node.byte);
      if (to == 0) {
        i = node.end;
        continue;
      }
      states[node.depth] = to;
      for (std::uint32_t s = node.first_string; s < nodes_[i + 1].first_string; ++s) visit(s, to);
      ++i;
    }
  }
  template <typename Next, typename Visit>
  void Walk(std::uint32_t state, Next next, Visit visit) const {
    Walk(state, next, visit, [](std::uint32_t) { return false; });
  }

 private:
  std::vector<Node> nodes_ = {{}};
  std::uint16_t max_depth_ = 0;
};

}  // namespace adjudge
