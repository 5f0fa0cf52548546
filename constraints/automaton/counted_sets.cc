#include "constraints/automaton/counted_sets.h"

#include <algorithm>
#include <utility>

namespace adjudge {

using Op = CountedNfa::Op;

std::uint32_t CountedSets::OuterId(std::uint32_t outer, std::uint32_t value) {
  const std::uint64_t key = (std::uint64_t{outer} << 32) | value;
  const auto [found, added] =
      outer_ids_.try_emplace(key, static_cast<std::uint32_t>(outers_.size()));
  if (added) outers_.push_back({outer, value});
  return found->second;
}

void CountedSets::Reach(const CountedItem& item) {
  open_.push_back(item);
  while (!open_.empty()) {
    const CountedItem next = open_.back();
    open_.pop_back();
    ++work_;
    Follow(next);
  }
}

// Goes on behind the loop of `item`, whose counter it drops.
void CountedSets::Leave(const CountedItem& item, CountedNfa::Place to) {
  CountedItem out = item;
  out.place = to;
  const bool counted = nfa_.loops[nfa_.nodes[item.place].arg].outer != CountedNfa::kNone;
  const Outer outer = outers_[item.outer];
  out.outer = counted ? outer.outer : 0;
  out.low = out.high = counted ? outer.value : 0;
  open_.push_back(out);
}

void CountedSets::Follow(const CountedItem& item) {
  const CountedNfa::Node& node = nfa_.nodes[item.place];
  if (node.op == Op::kDead) return;
  if (node.loop == CountedNfa::kNone && item.tag == 0) {
    if (plain_bits_.empty()) plain_bits_.resize(nfa_.nodes.size());
    if (plain_bits_[item.place]) return;
    plain_bits_[item.place] = true;
    plain_seen_.push_back(item.place);
  } else {
    std::vector<CountedItem>& seen = seen_[(std::uint64_t{item.tag} << 32) | item.place];
    const bool open_ended = node.loop != CountedNfa::kNone && nfa_.loops[node.loop].least == 0;
    for (const CountedItem& other : seen) {
      if (other.outer != item.outer || other.low > item.low) continue;
      if (other.high >= item.high || open_ended) return;
    }
    seen.push_back(item);
  }
  CountedItem next = item;
  next.place = node.next;
  switch (node.op) {
    case Op::kSplit:
      open_.push_back(next);
      next.place = node.other;
      open_.push_back(next);
      return;
    case Op::kEnter: {
      next.low = next.high = 0;
      if (node.loop == CountedNfa::kNone) {
        open_.push_back(next);
        return;
      }
      for (std::uint32_t value = item.low; value <= item.high; ++value) {
        ++work_;
        next.outer = OuterId(item.outer, value);
        open_.push_back(next);
      }
      return;
    }
    case Op::kHead: {
      const CountedNfa::Loop& loop = nfa_.loops[node.arg];
      if (item.high >= loop.least) Leave(item, node.other);
      if (loop.most != kUnbounded && item.low >= loop.most) return;
      if (loop.most != kUnbounded) next.high = std::min(item.high, loop.most - 1);
      open_.push_back(next);
      return;
    }
    case Op::kCount: {
      const CountedNfa::Loop& loop = nfa_.loops[node.arg];
      ++next.low;
      ++next.high;
      if (loop.most == kUnbounded) {
        next.low = std::min(next.low, loop.least);
        next.high = std::min(next.high, loop.least);
      }
      open_.push_back(next);
      return;
    }
    default:
      found_.push_back(item);
      return;
  }
}

// `items` of one place, tag and outer, ascending: joins intervals, and of the numbers from least on
// keeps the lowest, after which everything can follow that can follow a higher one.
void CountedSets::Join(std::vector<CountedItem>& items) const {
  const std::uint32_t loop = nfa_.nodes[items[0].place].loop;
  const std::uint32_t least = loop == CountedNfa::kNone ? 0 : nfa_.loops[loop].least;
  std::vector<CountedItem> joined;
  for (CountedItem item : items) {
    if (!joined.empty() && item.low <= joined.back().high + 1) {
      joined.back().high = std::max(joined.back().high, item.high);
    } else if (joined.empty() || joined.back().high < least) {
      joined.push_back(item);
    }
    if (joined.back().high > least) joined.back().high = std::max(joined.back().low, least);
  }
  items = std::move(joined);
}

std::vector<CountedItem> CountedSets::Take() {
  std::sort(found_.begin(), found_.end());
  std::vector<CountedItem> taken;
  std::vector<CountedItem> group;
  for (std::size_t i = 0; i < found_.size();) {
    group.clear();
    const CountedItem& first = found_[i];
    while (i < found_.size() && found_[i].place == first.place && found_[i].tag == first.tag &&
           found_[i].outer == first.outer) {
      group.push_back(found_[i++]);
    }
    Join(group);
    taken.insert(taken.end(), group.begin(), group.end());
  }
  found_.clear();
  seen_.clear();
  for (const CountedNfa::Place place : plain_seen_) plain_bits_[place] = false;
  plain_seen_.clear();
  return taken;
}

std::int64_t CountedSets::TakeWork() { return std::exchange(work_, 0); }

}  // namespace adjudge
