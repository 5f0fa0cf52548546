#include "constraints/automaton/symbol_map.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace adjudge {
namespace {

constexpr char32_t kFirstSurrogate = 0xD800;
constexpr char32_t kAfterSurrogates = 0xE000;

std::uint64_t Mix(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

SymbolMap::SymbolMap(const std::vector<Ranges>& sets) {
  // A sweep over the sets' borders; which sets are open is a sum of two random numbers a set.
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  std::map<char32_t, Key> changes = {{0, {0, 0}}, {0x80, {0, 0}}, {kAfterSurrogates, {0, 0}}};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const Key key = {Mix(2 * i), Mix(2 * i + 1)};
    for (const auto& [first, last] : sets[i]) {
      Key& opening = changes[first];
      opening = {opening.first + key.first, opening.second + key.second};
      Key& closing = changes[last + 1];
      closing = {closing.first - key.first, closing.second - key.second};
    }
  }
  std::map<Key, std::uint32_t> ids;
  Key open = {0, 0};
  for (const auto& [first, change] : changes) {
    open = {open.first + change.first, open.second + change.second};
    if (first > kLastCodePoint) break;
    if (first >= kFirstSurrogate && first < kAfterSurrogates) continue;
    const auto id = ids.try_emplace(open, static_cast<std::uint32_t>(ids.size())).first->second;
    firsts_.push_back(first);
    symbols_.push_back(id);
  }
  Finish();
}

SymbolMap::SymbolMap(const std::vector<const SymbolMap*>& maps) {
  std::vector<char32_t> firsts;
  for (const SymbolMap* map : maps) {
    firsts.insert(firsts.end(), map->firsts_.begin(), map->firsts_.end());
  }
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  std::map<std::vector<std::uint32_t>, std::uint32_t> ids;
  for (const char32_t first : firsts) {
    std::vector<std::uint32_t> key;
    for (const SymbolMap* map : maps) key.push_back(map->Of(first));
    firsts_.push_back(first);
    symbols_.push_back(
        ids.try_emplace(std::move(key), static_cast<std::uint32_t>(ids.size())).first->second);
  }
  Finish();
}

void SymbolMap::Finish() {
  for (std::size_t i = 0; i < firsts_.size(); ++i) {
    if (symbols_[i] == example_.size()) example_.push_back(firsts_[i]);
    if (firsts_[i] >= 0x80) non_ascii_.push_back(symbols_[i]);
  }
  std::sort(non_ascii_.begin(), non_ascii_.end());
  non_ascii_.erase(std::unique(non_ascii_.begin(), non_ascii_.end()), non_ascii_.end());
  for (char32_t code = 0; code < 0x80; ++code) ascii_[code] = symbols_[IntervalOf(code)];
}

std::size_t SymbolMap::IntervalOf(char32_t code) const {
  return static_cast<std::size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), code) -
                                  firsts_.begin()) -
         1;
}

}  // namespace adjudge
