#include "constraints/automaton/text_set.h"

#include <algorithm>

namespace adjudge {
namespace {

std::vector<std::pair<std::string, int>> Sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  std::vector<std::pair<std::string, int>> sorted;
  for (std::string& text : texts) {
    if (!text.empty()) sorted.emplace_back(std::move(text), static_cast<int>(sorted.size()));
  }
  return sorted;
}

}  // namespace

TextSet::TextSet(std::vector<std::string> texts)
    : empty_(std::find(texts.begin(), texts.end(), "") != texts.end()),
      trie_(Sorted(std::move(texts))) {
  to_end_.resize(static_cast<std::size_t>(trie_.n_nodes()));
  for (ByteTrie::Node node = trie_.n_nodes() - 1; node >= 0; --node) {
    const bool ends = node == 0 ? empty_ : trie_.value(node) >= 0;
    std::uint32_t best = ends ? 0 : ~std::uint32_t{0};
    for (auto child = trie_.first_child(node); child != ByteTrie::kNone;
         child = trie_.next_sibling(child)) {
      best = std::min(best, to_end_[static_cast<std::size_t>(child)] + 1);
    }
    to_end_[static_cast<std::size_t>(node)] = best;
  }
}

std::optional<std::string> TextSet::ShortestEnd(State state) {
  std::string text;
  auto node = static_cast<ByteTrie::Node>(state - 1);
  while (to_end_[static_cast<std::size_t>(node)] > 0) {
    const std::uint32_t wanted = to_end_[static_cast<std::size_t>(node)] - 1;
    node = trie_.first_child(node);
    while (to_end_[static_cast<std::size_t>(node)] != wanted) node = trie_.next_sibling(node);
    text += static_cast<char>(trie_.byte(node));
  }
  return text;
}

}  // namespace adjudge
