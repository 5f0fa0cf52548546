#include "constraints/mask/mask_trie.h"

#include <algorithm>

#include "engine/base/check.h"

namespace adjudge {

MaskTrie::MaskTrie(const std::vector<std::string_view>& sorted) {
  nodes_.clear();
  std::vector<std::uint32_t> path;  // of the last string
  std::string_view last;
  const auto close = [&](std::size_t depth) {
    for (; path.size() > depth; path.pop_back()) {
      nodes_[path.back()].end = static_cast<std::uint32_t>(nodes_.size());
    }
  };
  for (std::uint32_t s = 0; s < sorted.size(); ++s) {
    const std::string_view text = sorted[s];
    ADJUDGE_CHECK(!text.empty() && text.size() < 65536 && last <= text);
    const auto shared = static_cast<std::size_t>(
        std::mismatch(last.begin(), last.end(), text.begin(), text.end()).first - last.begin());
    close(shared);
    for (std::size_t i = shared; i < text.size(); ++i) {
      path.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back({.end = 0,
                        .first_string = s,
                        .depth = static_cast<std::uint16_t>(i + 1),
                        .byte = static_cast<std::uint8_t>(text[i])});
    }
    max_depth_ = std::max(max_depth_, static_cast<std::uint16_t>(text.size()));
    last = text;
  }
  close(0);
  nodes_.push_back({.end = static_cast<std::uint32_t>(nodes_.size() + 1),
                    .first_string = static_cast<std::uint32_t>(sorted.size()),
                    .depth = 0,
                    .byte = 0});
  nodes_.shrink_to_fit();
}

}  // namespace adjudge
