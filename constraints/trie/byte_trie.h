// ByteTrie: a set of strings as a tree of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adjudge {

// Immutable. Node 0 is the empty text. Nodes are in preorder, so a node's descendants have larger
// numbers, and a node's first child is the node after it.
class ByteTrie {
 public:
  using Node = std::int32_t;
  static constexpr Node kNone = -1;

  // Each string with the value that its end carries. REQUIRES: strictly ascending by bytes, no
  // string empty, fewer than 2^31 bytes in all.
  explicit ByteTrie(const std::vector<std::pair<std::string, int>>& sorted);

  int n_nodes() const { return static_cast<int>(bytes_.size()); }
  static constexpr Node root() { return 0; }
  // Children ascend by byte; kNone ends the list.
  Node first_child(Node node) const {
    return has_child_[static_cast<std::size_t>(node)] ? node + 1 : kNone;
  }
  Node next_sibling(Node node) const { return siblings_[static_cast<std::size_t>(node)]; }
  unsigned char byte(Node node) const { return bytes_[static_cast<std::size_t>(node)]; }
  // The value of the string that ends here, or -1.
  int value(Node node) const { return values_[static_cast<std::size_t>(node)]; }

  Node Child(Node node, unsigned char byte) const;
  // The node of `node`'s text followed by `text`, or kNone.
  Node Walk(Node node, std::string_view text) const;

 private:
  std::vector<unsigned char> bytes_;
  std::vector<bool> has_child_;
  std::vector<Node> siblings_;
  std::vector<int> values_;
};

}  // namespace adjudge
