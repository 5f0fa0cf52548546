// CountedSets: the sets of places that a CountedNfa can be in, counters as intervals.
#pragma once

#include <compare>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "constraints/automaton/counted_nfa.h"

namespace adjudge {

// A place and what its counters may be: those of the loops further out in `outer` (an id that
// CountedSets gives), that of the innermost one any number from low to high. Where there is no loop
// around, all are zero. `tag` is the caller's: items of different tags never meet.
struct CountedItem {
  CountedNfa::Place place = 0;
  std::uint32_t tag = 0;
  std::uint32_t outer = 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  friend auto operator<=>(const CountedItem&, const CountedItem&) = default;
};

// Follows the arrows that read nothing. Scratch is reused; one thread.
class CountedSets {
 public:
  explicit CountedSets(const CountedNfa& nfa) : nfa_(nfa) { outers_.push_back({0, 0}); }

  // Adds what can be reached from `item` without reading.
  void Reach(const CountedItem& item);
  // What was reached so far, in the order of finding.
  const std::vector<CountedItem>& found() const { return found_; }
  // What was reached: the places that read, call, need a token or accept; ascending, intervals
  // joined, and without items whose every end another item has too. Clears it.
  std::vector<CountedItem> Take();
  // What an item's `outer` stands for: the next further out, and the counter there.
  std::pair<std::uint32_t, std::uint32_t> outer(std::uint32_t id) const {
    return {outers_[id].outer, outers_[id].value};
  }
  // Steps taken since the last call: the work done.
  std::int64_t TakeWork();

 private:
  struct Outer {
    std::uint32_t outer;
    std::uint32_t value;
  };
  void Follow(const CountedItem& item);
  void Leave(const CountedItem& item, CountedNfa::Place to);
  void Join(std::vector<CountedItem>& items) const;
  std::uint32_t OuterId(std::uint32_t outer, std::uint32_t value);

  const CountedNfa& nfa_;
  std::vector<Outer> outers_;  // by id
  std::unordered_map<std::uint64_t, std::uint32_t> outer_ids_;
  std::vector<CountedItem> open_;
  std::vector<CountedItem> found_;
  std::unordered_map<std::uint64_t, std::vector<CountedItem>> seen_;  // by place and tag
  std::vector<CountedNfa::Place> plain_seen_;  // places without counters that were seen, tag 0
  std::vector<bool> plain_bits_;
  std::int64_t work_ = 0;
};

}  // namespace adjudge
