// TokenTrie: continuations laid out as forks, so that shared beginnings are computed once.
#pragma once

#include <vector>

#include "engine/base/token.h"
#include "heads/packed_scores.h"

namespace adjudge {

// A stretch of tokens that is one fork: it continues its parent, and nothing branches inside it.
struct TrieSegment {
  // One log-probability to be read at a row of the segment.
  struct Read {
    int row = 0;
    int node = 0;       // of token: whose probability is read; of end: where the text ends
    TokenId token = 0;  // kNoToken = the end
  };

  int parent = -1;  // index of a segment before this one; -1 = continues the shared prefix
  std::vector<TokenId> tokens;
  std::vector<Read> reads;  // rows ascending
};

// The trie of one set. Node 0 is the end of the tail; every other node is a token of some
// continuation. A parent comes before its children, in nodes and in segments.
struct TokenTrie {
  struct Node {
    TokenId token = kNoToken;
    int parent = -1;
    std::vector<int> children;
    bool terminal = false;  // a continuation ends here
  };

  std::vector<Node> nodes;
  std::vector<int> terminals;  // [continuation] -> its last node
  std::vector<TrieSegment> segments;
};

// REQUIRES: a tail, and no empty continuation.
TokenTrie BuildTokenTrie(const ContinuationSet& set);

}  // namespace adjudge
