#include "constraints/trie/byte_trie.h"

#include <algorithm>

#include "engine/base/check.h"

namespace adjudge {

ByteTrie::ByteTrie(const std::vector<std::pair<std::string, int>>& sorted) {
  const auto add = [this](unsigned char byte) {
    bytes_.push_back(byte);
    has_child_.push_back(false);
    siblings_.push_back(kNone);
    values_.push_back(-1);
    return static_cast<Node>(bytes_.size() - 1);
  };
  add(0);
  std::vector<Node> path = {root()};  // the nodes of the last string's prefixes
  std::string_view last;
  for (const auto& [text, value] : sorted) {
    ADJUDGE_CHECK(!text.empty() && (last.empty() || last < text));
    const auto shared = static_cast<std::size_t>(
        std::mismatch(last.begin(), last.end(), text.begin(), text.end()).first - last.begin());
    const Node elder = path.size() > shared + 1 ? path[shared + 1] : kNone;
    path.resize(shared + 1);
    for (std::size_t i = shared; i < text.size(); ++i) {
      const Node child = add(static_cast<unsigned char>(text[i]));
      if (i == shared && elder != kNone) {
        siblings_[static_cast<std::size_t>(elder)] = child;
      } else {
        has_child_[static_cast<std::size_t>(path.back())] = true;
      }
      path.push_back(child);
    }
    values_[static_cast<std::size_t>(path.back())] = value;
    last = text;
  }
}

ByteTrie::Node ByteTrie::Child(Node node, unsigned char byte) const {
  Node child = first_child(node);
  while (child != kNone && this->byte(child) < byte) child = next_sibling(child);
  return child != kNone && this->byte(child) == byte ? child : kNone;
}

ByteTrie::Node ByteTrie::Walk(Node node, std::string_view text) const {
  for (const char c : text) {
    if (node == kNone) return kNone;
    node = Child(node, static_cast<unsigned char>(c));
  }
  return node;
}

}  // namespace adjudge
