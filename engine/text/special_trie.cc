#include "engine/text/special_trie.h"

#include <algorithm>

#include "engine/base/utf8.h"

namespace adjudge {
namespace {

std::size_t SkipSpacesBack(std::string_view text, std::size_t begin, std::size_t at) {
  while (at > begin) {
    std::size_t lead = at - 1;
    while (lead > begin && (static_cast<unsigned char>(text[lead]) & 0xC0) == 0x80) --lead;
    if (!IsUnicodeSpace(DecodeUtf8(text.data() + lead, at - lead))) break;
    at = lead;
  }
  return at;
}

std::size_t SkipSpaces(std::string_view text, std::size_t at, std::size_t end) {
  while (at < end) {
    const std::size_t length = Utf8Length(text[at]);
    if (!IsUnicodeSpace(DecodeUtf8(text.data() + at, length))) break;
    at += length;
  }
  return at;
}

}  // namespace

SpecialTrie::SpecialTrie(const std::vector<SpecialName>& names) : nodes_(1), first_(256, -1) {
  for (const SpecialName& name : names) {
    int node = 0;
    for (const char c : name.name) {
      const auto byte = static_cast<unsigned char>(c);
      int child = Child(node, byte);
      if (child < 0) {
        child = static_cast<int>(nodes_.size());
        auto& children = nodes_[static_cast<std::size_t>(node)].children;
        children.insert(std::lower_bound(children.begin(), children.end(),
                                         std::pair<unsigned char, int>(byte, 0)),
                        {byte, child});
        nodes_.emplace_back();
      }
      node = child;
    }
    nodes_[static_cast<std::size_t>(node)].name = static_cast<int>(names_.size());
    names_.push_back({name.id, name.takes_left, name.takes_right});
  }
  for (const auto& [byte, child] : nodes_[0].children) first_[byte] = child;
}

int SpecialTrie::Child(int node, unsigned char byte) const {
  const auto& children = nodes_[static_cast<std::size_t>(node)].children;
  const auto it =
      std::lower_bound(children.begin(), children.end(), std::pair<unsigned char, int>(byte, 0));
  return it != children.end() && it->first == byte ? it->second : -1;
}

void SpecialTrie::Find(std::string_view text, std::size_t begin, std::size_t end,
                       std::vector<Match>& matches) const {
  std::size_t free = begin;  // text before this belongs to an earlier match
  for (std::size_t i = begin; i < end;) {
    int node = first_[static_cast<unsigned char>(text[i])];
    int found = -1;
    std::size_t found_end = i;
    for (std::size_t j = i + 1; node >= 0; ++j) {
      if (const int name = nodes_[static_cast<std::size_t>(node)].name; name >= 0) {
        found = name;
        found_end = j;
      }
      if (j == end) break;
      node = Child(node, static_cast<unsigned char>(text[j]));
    }
    if (found < 0) {
      ++i;
      continue;
    }
    const Name& name = names_[static_cast<std::size_t>(found)];
    const std::size_t left = name.takes_left ? SkipSpacesBack(text, free, i) : i;
    const std::size_t right = name.takes_right ? SkipSpaces(text, found_end, end) : found_end;
    matches.push_back({left, right, name.id});
    free = i = right;
  }
}

}  // namespace adjudge
