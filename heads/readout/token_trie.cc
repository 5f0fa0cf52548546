#include "heads/readout/token_trie.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace adjudge {
namespace {

// Rows of one segment are read over one list of ids, so that a long text costs rows x ids numbers;
// cutting it into several forks bounds that and changes no bit.
constexpr std::size_t kMaxReadRows = 128;

void AddNodes(const ContinuationSet& set, TokenTrie& trie) {
  std::vector<int> order(set.continuations.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return set.continuations[static_cast<std::size_t>(a)] <
           set.continuations[static_cast<std::size_t>(b)];
  });
  trie.nodes.push_back({});
  trie.terminals.assign(set.continuations.size(), 0);
  for (const int i : order) {
    int at = 0;
    for (const TokenId token : set.continuations[static_cast<std::size_t>(i)]) {
      // In sorted order a token that is there already is the last child.
      const std::vector<int>& children = trie.nodes[static_cast<std::size_t>(at)].children;
      if (!children.empty() &&
          trie.nodes[static_cast<std::size_t>(children.back())].token == token) {
        at = children.back();
        continue;
      }
      const int node = static_cast<int>(trie.nodes.size());
      trie.nodes[static_cast<std::size_t>(at)].children.push_back(node);
      trie.nodes.push_back({.token = token, .parent = at});
      at = node;
    }
    trie.nodes[static_cast<std::size_t>(at)].terminal = true;
    trie.terminals[static_cast<std::size_t>(i)] = at;
  }
}

class SegmentBuilder {
 public:
  SegmentBuilder(TokenTrie& trie, bool end) : trie_(trie), end_(end) {}

  void Run(const std::vector<TokenId>& tail) {
    trie_.segments.push_back({.parent = -1, .tokens = tail});
    Extend(0, 0);
    while (!pending_.empty()) {
      const auto [node, parent] = pending_.back();
      pending_.pop_back();
      const int segment = static_cast<int>(trie_.segments.size());
      trie_.segments.push_back({.parent = parent, .tokens = {Node(node).token}});
      Extend(segment, node);
    }
  }

 private:
  const TokenTrie::Node& Node(int i) const { return trie_.nodes[static_cast<std::size_t>(i)]; }

  // Something is read after this node, so its token must be computed.
  bool IsComputed(int i) const { return !Node(i).children.empty() || (end_ && Node(i).terminal); }

  // `node` is the segment's last token; takes in what follows without a branch.
  void Extend(int index, int node) {
    for (std::size_t rows = 1;; ++rows) {
      TrieSegment& segment = trie_.segments[static_cast<std::size_t>(index)];
      const int row = static_cast<int>(segment.tokens.size()) - 1;
      std::vector<int> computed;
      for (const int child : Node(node).children) {
        segment.reads.push_back({.row = row, .node = child, .token = Node(child).token});
        if (IsComputed(child)) computed.push_back(child);
      }
      if (end_ && Node(node).terminal) {
        segment.reads.push_back({.row = row, .node = node, .token = kNoToken});
      }
      if (computed.size() != 1 || rows >= kMaxReadRows) {
        // Reversed, so that segments come in the order of the trie.
        for (auto it = computed.rbegin(); it != computed.rend(); ++it) {
          pending_.emplace_back(*it, index);
        }
        return;
      }
      node = computed.front();
      segment.tokens.push_back(Node(node).token);
    }
  }

  TokenTrie& trie_;
  bool end_;
  std::vector<std::pair<int, int>> pending_;  // node, parent segment
};

}  // namespace

TokenTrie BuildTokenTrie(const ContinuationSet& set) {
  TokenTrie trie;
  AddNodes(set, trie);
  SegmentBuilder(trie, !set.end_ids.empty()).Run(set.tail);
  return trie;
}

}  // namespace adjudge
