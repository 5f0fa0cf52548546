#include "engine/text/bpe_merger.h"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>

#include "engine/base/check.h"

namespace adjudge {
namespace {

constexpr std::size_t kShortWord = 32;  // symbols; longer words use a heap

std::uint64_t PairOf(TokenId left, TokenId right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}

}  // namespace

BpeMerger::BpeMerger(const std::vector<BpeRule>& rules) {
  int bits = 4;
  while ((std::size_t{1} << bits) < 2 * rules.size() + 1) ++bits;
  slots_.resize(std::size_t{1} << bits);
  shift_ = 64 - bits;
  std::uint32_t rank = 0;
  for (const BpeRule& rule : rules) {
    const std::uint64_t pair = PairOf(rule.left, rule.right);
    std::size_t at = Place(pair);
    while (slots_[at].pair != kEmpty) {
      ADJUDGE_CHECK(slots_[at].pair != pair);
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = {pair, rank++, rule.merged};
  }
}

std::size_t BpeMerger::Place(std::uint64_t pair) const {
  pair ^= pair >> 29;
  return static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15U) >> shift_);
}

const BpeMerger::Slot* BpeMerger::Find(TokenId left, TokenId right) const {
  const std::uint64_t pair = PairOf(left, right);
  for (std::size_t at = Place(pair);; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].pair == pair) return &slots_[at];
    if (slots_[at].pair == kEmpty) return nullptr;
  }
}

void BpeMerger::Merge(std::vector<TokenId>& symbols, std::size_t begin) const {
  const std::size_t n = symbols.size() - begin;
  if (n < 2) return;
  if (n <= kShortWord) {
    MergeShort(symbols, begin);
  } else {
    MergeLong(symbols, begin);
  }
}

void BpeMerger::MergeShort(std::vector<TokenId>& symbols, std::size_t begin) const {
  TokenId* word = symbols.data() + begin;
  std::size_t n = symbols.size() - begin;
  std::array<const Slot*, kShortWord> rule{};  // of symbol i and the one after it
  for (std::size_t i = 0; i + 1 < n; ++i) rule[i] = Find(word[i], word[i + 1]);
  while (n > 1) {
    std::uint32_t best = kNoRank;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (rule[i] != nullptr && rule[i]->rank < best) {
        best = rule[i]->rank;
        at = i;
      }
    }
    if (best == kNoRank) break;
    word[at] = rule[at]->merged;
    for (std::size_t i = at + 1; i + 1 < n; ++i) {
      word[i] = word[i + 1];
      rule[i] = rule[i + 1];
    }
    --n;
    rule[at] = at + 1 < n ? Find(word[at], word[at + 1]) : nullptr;
    if (at > 0) rule[at - 1] = Find(word[at - 1], word[at]);
  }
  symbols.resize(begin + n);
}

void BpeMerger::MergeLong(std::vector<TokenId>& symbols, std::size_t begin) const {
  struct Node {
    const Slot* rule;  // of this symbol and the next
    std::uint32_t previous;
    std::uint32_t next;
  };
  constexpr std::uint32_t kEnd = 0xFFFFFFFF;
  TokenId* word = symbols.data() + begin;
  const auto n = static_cast<std::uint32_t>(symbols.size() - begin);
  std::vector<Node> nodes(n);
  std::vector<std::uint64_t> heap;  // rank << 32 | place: lowest rank first, then leftmost
  heap.reserve(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const Slot* rule = i + 1 < n ? Find(word[i], word[i + 1]) : nullptr;
    nodes[i] = {rule, i == 0 ? kEnd : i - 1, i + 1 < n ? i + 1 : kEnd};
    if (rule != nullptr) heap.push_back(static_cast<std::uint64_t>(rule->rank) << 32 | i);
  }
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> agenda(
      std::greater<>{}, std::move(heap));
  const auto renew = [&](std::uint32_t i) {
    Node& node = nodes[i];
    node.rule = node.next == kEnd ? nullptr : Find(word[i], word[node.next]);
    if (node.rule != nullptr) agenda.push(static_cast<std::uint64_t>(node.rule->rank) << 32 | i);
  };
  while (!agenda.empty()) {
    const std::uint64_t top = agenda.top();
    agenda.pop();
    const auto i = static_cast<std::uint32_t>(top);
    Node& node = nodes[i];
    // A pair that has changed since has another rank: a rank belongs to one pair.
    if (node.rule == nullptr || node.rule->rank != top >> 32) continue;
    const std::uint32_t gone = node.next;
    word[i] = node.rule->merged;
    node.next = nodes[gone].next;
    nodes[gone].rule = nullptr;
    if (node.next != kEnd) nodes[node.next].previous = i;
    renew(i);
    if (node.previous != kEnd) renew(node.previous);
  }
  std::size_t out = begin;
  for (std::uint32_t i = 0; i != kEnd; i = nodes[i].next) symbols[out++] = word[i];
  symbols.resize(out);
}

}  // namespace adjudge
