// ForEachToken: walks the sorted vocabulary and a trie of strings in step.
#pragma once

#include <vector>

#include "constraints/trie/byte_trie.h"
#include "constraints/trie/token_index.h"

namespace adjudge {

// Calls visit(id, target) for every text token whose bytes lead from `node` to another node of the
// trie. The time follows the part of the trie below the node that tokens reach, not the vocabulary.
// `visit` returns false to end the walk.
template <typename Visit>
void ForEachToken(const ByteTrie& trie, const TokenIndex& index, ByteTrie::Node node, Visit visit) {
  struct Open {
    ByteTrie::Node child;  // not yet tried, nor its later siblings
    TokenIndex::Range range;
  };
  std::vector<Open> open = {{trie.first_child(node), index.all()}};
  while (!open.empty()) {
    Open& top = open.back();
    if (top.child == ByteTrie::kNone) {
      open.pop_back();
      continue;
    }
    const ByteTrie::Node child = top.child;
    top.child = trie.next_sibling(child);
    const TokenIndex::Range range = index.Narrow(top.range, trie.byte(child));
    if (range.empty()) continue;
    const auto [first, last] = index.Ending(range);
    for (std::size_t i = first; i < last; ++i) {
      if (!visit(index.ids()[i], child)) return;
    }
    if (last < range.end) open.push_back({trie.first_child(child), range});
  }
}

}  // namespace adjudge
