#include "constraints/schema/string_case.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace adjudge::schema {
namespace {

std::uint32_t CodePoints(std::string_view text) {
  std::uint32_t n = 0;
  for (const char c : text) n += IsLead(static_cast<std::uint8_t>(c)) ? 1 : 0;
  return n;
}

}  // namespace

TextRange NarrowRange(const std::vector<std::string>& texts, TextRange range, std::int32_t depth,
                      std::uint8_t byte) {
  const auto at = static_cast<std::size_t>(depth);
  // Texts of exactly `depth` bytes come first.
  const auto order = [at](const std::string& text) {
    return text.size() <= at ? -1 : static_cast<int>(static_cast<std::uint8_t>(text[at]));
  };
  const auto begin = texts.begin() + range.first;
  const auto end = texts.begin() + range.last;
  const auto first = std::partition_point(begin, end, [&](auto& t) { return order(t) < byte; });
  const auto last = std::partition_point(first, end, [&](auto& t) { return order(t) <= byte; });
  return {static_cast<std::int32_t>(first - texts.begin()),
          static_cast<std::int32_t>(last - texts.begin())};
}

bool StringCase::Contains(const LanguagePool& pool, std::string_view text) const {
  const auto in = [&](const std::vector<std::string>& texts) {
    return std::binary_search(texts.begin(), texts.end(), text);
  };
  if (listed) return in(*listed);
  const std::uint32_t n = CodePoints(text);
  return n >= least && n <= most && pool.Get(language).Contains(text) && !in(excluded);
}

bool StringCase::Alive(const LanguagePool& pool, const Position& at) const {
  if (listed) return !at.range.empty();
  if (at.length > most) return false;
  const Language& texts = pool.Get(language);
  const std::uint32_t low = LeastLeft(at);
  const std::uint32_t high = MostLeft(at);
  if (at.range.empty()) return texts.CanEnd(at.state, low, high);
  const auto n = static_cast<std::uint64_t>(at.range.size());
  return texts.Count(at.state, low, high, n + 1) > n;
}

std::optional<StringCase::Position> StringCase::Start(const LanguagePool& pool) const {
  Position at;
  const auto& texts = listed ? *listed : excluded;
  at.range = {0, static_cast<std::int32_t>(texts.size())};
  if (!listed && pool.Get(language).empty()) return {};
  if (!Alive(pool, at)) return {};
  return at;
}

std::optional<StringCase::Position> StringCase::Step(const LanguagePool& pool, const Position& at,
                                                     std::uint8_t byte) const {
  Position next = at;
  if (listed) {
    next.range = NarrowRange(*listed, at.range, at.depth, byte);
    next.depth = at.depth + 1;
    if (next.range.empty()) return {};
    return next;
  }
  next.state = pool.Get(language).Next(at.state, byte);
  if (next.state == Language::kNone) return {};
  if (IsLead(byte) && (least > 0 || most != kNoBound)) {
    ++next.length;
    if (most == kNoBound) next.length = std::min(next.length, least);
  }
  if (!at.range.empty()) {
    next.range = NarrowRange(excluded, at.range, at.depth, byte);
    next.depth = next.range.empty() ? 0 : at.depth + 1;
    if (next.range.empty()) next.range = {};
  }
  if (!Alive(pool, next)) return {};
  return next;
}

bool StringCase::Accepts(const LanguagePool& pool, const Position& at) const {
  const auto ends = [&](const std::vector<std::string>& texts) {
    return !at.range.empty() && texts[static_cast<std::size_t>(at.range.first)].size() ==
                                    static_cast<std::size_t>(at.depth);
  };
  if (listed) return ends(*listed);
  return at.length >= least && pool.Get(language).Accepts(at.state) && !ends(excluded);
}

std::string StringCase::Shortest(const LanguagePool& pool, const Position& at) const {
  if (listed) {
    std::string best;
    bool found = false;
    for (std::int32_t i = at.range.first; i < at.range.last; ++i) {
      const std::string& text = (*listed)[static_cast<std::size_t>(i)];
      const auto rest = text.substr(static_cast<std::size_t>(at.depth));
      if (!found || rest.size() < best.size()) best = rest;
      found = true;
    }
    return best;
  }
  const Language& texts = pool.Get(language);
  if (at.range.empty()) return texts.Shortest(at.state, LeastLeft(at), MostLeft(at));
  // Breadth first around the excluded texts, which few bytes leave behind.
  std::vector<std::pair<Position, std::string>> items{{at, ""}};
  for (std::size_t i = 0; i < items.size() && i < 100'000; ++i) {
    if (Accepts(pool, items[i].first)) return items[i].second;
    if (items[i].first.range.empty()) {
      return items[i].second + texts.Shortest(items[i].first.state, LeastLeft(items[i].first),
                                              MostLeft(items[i].first));
    }
    for (int b = 0x20; b < 0x120; ++b) {
      const auto byte = static_cast<std::uint8_t>(b);
      if (auto next = Step(pool, items[i].first, byte)) {
        items.emplace_back(*next, items[i].second + static_cast<char>(byte));
      }
    }
  }
  return {};
}

std::string StringCase::Key() const {
  std::string key =
      std::to_string(language) + ";" + std::to_string(least) + ";" + std::to_string(most);
  const auto add = [&](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) key += std::to_string(text.size()) + ":" + text;
  };
  key += ";";
  add(excluded);
  if (listed) {
    key += ";=";
    add(*listed);
  }
  return key;
}

Result<std::optional<StringCase>> Intersect(LanguagePool& pool, const StringCase& a,
                                            const StringCase& b) {
  StringCase result;
  if (a.listed || b.listed) {
    const StringCase& list = a.listed ? a : b;
    const StringCase& other = a.listed ? b : a;
    result.listed.emplace();
    for (const std::string& text : *list.listed) {
      if (other.Contains(pool, text)) result.listed->push_back(text);
    }
    if (result.listed->empty()) return std::optional<StringCase>();
    return std::optional<StringCase>(std::move(result));
  }
  ADJUDGE_ASSIGN_OR_RETURN(result.language, pool.And(a.language, b.language));
  result.least = std::max(a.least, b.least);
  result.most = std::min(a.most, b.most);
  std::vector<std::string> excluded;
  std::set_union(a.excluded.begin(), a.excluded.end(), b.excluded.begin(), b.excluded.end(),
                 std::back_inserter(excluded));
  for (std::string& text : excluded) {
    if (result.Contains(pool, text)) result.excluded.push_back(std::move(text));
  }
  if (result.least > result.most || !result.Start(pool)) return std::optional<StringCase>();
  return std::optional<StringCase>(std::move(result));
}

}  // namespace adjudge::schema
