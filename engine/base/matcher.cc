#include "engine/base/matcher.h"

#include "engine/base/check.h"

namespace adjudge {
namespace {

// Nodes by parent, as first child and next sibling; the tree's own order is kept.
struct Links {
  explicit Links(std::span<const int> parents) : first(parents.size() + 1, -1), next(first) {
    for (std::size_t i = parents.size(); i-- > 0;) {
      ADJUDGE_CHECK(parents[i] >= -1 && parents[i] < static_cast<int>(i));
      const std::size_t parent = parents[i] < 0 ? 0 : static_cast<std::size_t>(parents[i]) + 1;
      next[i + 1] = first[parent];
      first[parent] = static_cast<int>(i + 1);
    }
  }
  std::vector<int> first;  // by node + 1; 0 is the text so far
  std::vector<int> next;
};

}  // namespace

Status FillDraftMasks(Matcher& matcher, std::span<const TokenId> tokens,
                      std::span<const int> parents, std::span<TokenMask> masks) {
  ADJUDGE_CHECK(tokens.size() == parents.size() && tokens.size() == masks.size());
  for (TokenMask& mask : masks) mask.clear_all();
  const Links links(parents);
  Status status;
  int depth = 0;
  std::vector<int> open = {links.first[0]};  // next node to try at each depth
  while (!open.empty() && status) {
    const int node = open.back();
    if (node < 0) {
      open.pop_back();
      if (!open.empty()) matcher.Rollback(1), --depth;
      continue;
    }
    const auto at = static_cast<std::size_t>(node);
    open.back() = links.next[at];
    if (!matcher.Accept(tokens[at - 1])) {
      status = matcher.status();
      continue;
    }
    ++depth;
    status = matcher.FillMask(masks[at - 1]);
    open.push_back(links.first[at]);
  }
  matcher.Rollback(depth);
  return status;
}

}  // namespace adjudge
