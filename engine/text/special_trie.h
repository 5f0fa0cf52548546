// SpecialTrie: finds the names of special tokens in text.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/token.h"

namespace adjudge {

// A special token as its file describes it.
struct SpecialName {
  std::string_view name;  // not empty; lives as long as the trie is being built
  TokenId id = kNoToken;
  bool takes_left = false;   // swallows the white space before it
  bool takes_right = false;  // and after it
};

// A set of byte strings, each with a token. Immutable; safe to share between threads.
class SpecialTrie {
 public:
  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
    TokenId id = kNoToken;
  };

  explicit SpecialTrie(const std::vector<SpecialName>& names);

  bool empty() const { return nodes_.size() == 1; }

  // Appends every match in text[begin, end), leftmost then longest. Takes time
  // O((end - begin) * longest name).
  void Find(std::string_view text, std::size_t begin, std::size_t end,
            std::vector<Match>& matches) const;

 private:
  struct Node {
    std::vector<std::pair<unsigned char, int>> children;  // ascending by byte
    int name = -1;                                        // index into takes_, ids
  };
  struct Name {
    TokenId id;
    bool takes_left;
    bool takes_right;
  };
  int Child(int node, unsigned char byte) const;

  std::vector<Node> nodes_;
  std::vector<Name> names_;
  std::vector<int> first_;  // [256] child of the root, or -1
};

}  // namespace adjudge
