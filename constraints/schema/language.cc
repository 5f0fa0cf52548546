#include "constraints/schema/language.h"

#include <algorithm>
#include <deque>
#include <map>

namespace adjudge::schema {
namespace {

constexpr std::uint64_t kMany = std::uint64_t{1} << 40;

using Row = std::array<Language::State, 256>;
constexpr Language::State kNone = Language::kNone;

Row EmptyRow() {
  Row row;
  row.fill(kNone);
  return row;
}

// Strict UTF-8: 0 between characters; 1..3 so many plain continuation bytes to come; then the
// second bytes after E0, ED, F0, F4.
Language::Table Utf8Table() {
  Language::Table table;
  table.next.assign(8, EmptyRow());
  table.accepts.assign(8, false);
  table.accepts[0] = true;
  const auto fill = [&](int from, int first, int last, int to) {
    for (int b = first; b <= last; ++b) table.next[from][b] = to;
  };
  fill(0, 0x00, 0x7F, 0);
  fill(0, 0xC2, 0xDF, 1);
  fill(0, 0xE1, 0xEF, 2);
  fill(0, 0xE0, 0xE0, 4);
  fill(0, 0xED, 0xED, 5);
  fill(0, 0xF1, 0xF3, 3);
  fill(0, 0xF0, 0xF0, 6);
  fill(0, 0xF4, 0xF4, 7);
  for (int i = 1; i <= 3; ++i) fill(i, 0x80, 0xBF, i - 1);
  fill(4, 0xA0, 0xBF, 1);
  fill(5, 0x80, 0x9F, 1);
  fill(6, 0x90, 0xBF, 2);
  fill(7, 0x80, 0x8F, 2);
  return table;
}

std::vector<bool> Productive(const Language::Table& table) {
  const std::size_t n = table.next.size();
  std::vector<std::vector<std::int32_t>> into(n);
  for (std::size_t q = 0; q < n; ++q) {
    Language::State last = kNone;
    for (const auto to : table.next[q]) {
      if (to != kNone && to != last)
        into[static_cast<std::size_t>(to)].push_back(static_cast<int>(q));
      last = to;
    }
  }
  std::vector<bool> good = table.accepts;
  std::vector<std::int32_t> work;
  for (std::size_t q = 0; q < n; ++q) {
    if (good[q]) work.push_back(static_cast<int>(q));
  }
  while (!work.empty()) {
    const auto q = static_cast<std::size_t>(work.back());
    work.pop_back();
    for (const auto from : into[q]) {
      if (good[static_cast<std::size_t>(from)]) continue;
      good[static_cast<std::size_t>(from)] = true;
      work.push_back(from);
    }
  }
  return good;
}

// Letters first, then what a string shows as it is.
int Plainness(int byte) {
  if (byte >= 'a' && byte <= 'z') return 2;
  return byte > 0x20 && byte < 0x7F && byte != '"' && byte != '\\' ? 1 : 0;
}

// Hopcroft's minimisation: the block of each good state, from 0; the rest have kNone. A missing
// transition leads to a sink, which is not numbered.
template <typename Target>
std::vector<Language::State> Blocks(std::size_t n, std::size_t n_classes,
                                    const std::vector<bool>& good, const std::vector<bool>& accepts,
                                    const Target& target) {
  const std::size_t sink = n;
  // Predecessors by class: lists laid end to end.
  std::vector<std::uint32_t> first(n_classes * (n + 2), 0);
  std::vector<std::uint32_t> from;
  const auto to_of = [&](std::size_t q, std::size_t c) {
    const auto to = q == sink ? kNone : target(q, c);
    return to == kNone ? sink : static_cast<std::size_t>(to);
  };
  std::vector<std::size_t> states;
  for (std::size_t q = 0; q < n; ++q) {
    if (good[q]) states.push_back(q);
  }
  states.push_back(sink);
  for (std::size_t c = 0; c < n_classes; ++c) {
    for (const std::size_t q : states) ++first[c * (n + 2) + to_of(q, c) + 1];
  }
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (c > 0) first[c * (n + 2)] = first[c * (n + 2) - 1];
    for (std::size_t q = 0; q <= n; ++q) first[c * (n + 2) + q + 1] += first[c * (n + 2) + q];
  }
  from.resize(n_classes * states.size());
  {
    std::vector<std::uint32_t> at = first;
    for (std::size_t c = 0; c < n_classes; ++c) {
      for (const std::size_t q : states) {
        from[at[c * (n + 2) + to_of(q, c)]++] = static_cast<std::uint32_t>(q);
      }
    }
  }
  // Blocks are ranges of `elements`.
  std::vector<std::size_t> elements, place(n + 1, 0), block(n + 1, 0);
  std::vector<std::size_t> begin, end, marked;
  std::vector<bool> waiting;
  for (const int kind : {0, 1, 2}) {  // sink, others, accepting
    const std::size_t start = elements.size();
    for (const std::size_t q : states) {
      const int own = q == sink ? 0 : accepts[q] ? 2 : 1;
      if (own != kind) continue;
      place[q] = elements.size();
      block[q] = begin.size();
      elements.push_back(q);
    }
    if (elements.size() == start) continue;
    begin.push_back(start);
    end.push_back(elements.size());
    marked.push_back(0);
    waiting.push_back(true);
  }
  std::vector<std::size_t> work;
  for (std::size_t b = 0; b < begin.size(); ++b) work.push_back(b);
  std::vector<std::size_t> splitter, touched;
  while (!work.empty()) {
    const std::size_t b = work.back();
    work.pop_back();
    waiting[b] = false;
    splitter.assign(elements.begin() + static_cast<std::ptrdiff_t>(begin[b]),
                    elements.begin() + static_cast<std::ptrdiff_t>(end[b]));
    for (std::size_t c = 0; c < n_classes; ++c) {
      touched.clear();
      for (const std::size_t q : splitter) {
        const std::size_t at = c * (n + 2) + q;
        for (std::uint32_t i = first[at]; i < first[at + 1]; ++i) {
          const std::size_t p = from[i];
          const std::size_t own = block[p];
          if (marked[own] == 0) touched.push_back(own);
          // To the front of its block.
          const std::size_t swap = begin[own] + marked[own];
          if (place[p] < swap) continue;
          ++marked[own];
          const std::size_t other = elements[swap];
          std::swap(elements[swap], elements[place[p]]);
          place[other] = place[p];
          place[p] = swap;
        }
      }
      for (const std::size_t own : touched) {
        const std::size_t n_marked = marked[own];
        marked[own] = 0;
        if (n_marked == end[own] - begin[own]) continue;
        const std::size_t fresh = begin.size();
        begin.push_back(begin[own]);
        end.push_back(begin[own] + n_marked);
        begin[own] += n_marked;
        marked.push_back(0);
        waiting.push_back(false);
        for (std::size_t i = begin[fresh]; i < end[fresh]; ++i) block[elements[i]] = fresh;
        const bool smaller = n_marked <= end[own] - begin[own];
        const std::size_t add = waiting[own] || smaller ? fresh : own;
        waiting[add] = true;
        work.push_back(add);
      }
    }
  }
  std::vector<Language::State> number(begin.size(), kNone), result(n, kNone);
  Language::State next = 0;
  for (std::size_t q = 0; q < n; ++q) {
    if (!good[q]) continue;
    Language::State& id = number[block[q]];
    if (id == kNone) id = next++;
    result[q] = id;
  }
  return result;
}

}  // namespace

Language Language::FromTable(const Table& table) {
  Language result;
  const std::size_t n = table.next.size();
  if (n == 0) return result;
  const std::vector<bool> good = Productive(table);
  if (!good[0]) return result;
  // Classes of bytes with equal columns, row by row.
  std::array<std::size_t, 256> column{};
  std::size_t n_classes = 1;
  const auto target = [&](std::size_t q, std::size_t byte) {
    const State to = good[q] ? table.next[q][byte] : kNone;
    return to == kNone || !good[static_cast<std::size_t>(to)] ? kNone : to;
  };
  for (std::size_t q = 0; q < n; ++q) {
    if (!good[q]) continue;
    std::unordered_map<std::uint64_t, std::size_t> split;
    std::uint64_t last = ~std::uint64_t{0};
    std::size_t last_class = 0;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint64_t key = (static_cast<std::uint64_t>(column[byte]) << 32) |
                                static_cast<std::uint32_t>(target(q, byte));
      if (key != last) last_class = split.try_emplace(key, split.size()).first->second;
      last = key;
      column[byte] = last_class;
    }
    n_classes = split.size();
  }
  std::vector<std::size_t> example(n_classes);
  for (std::size_t byte = 0; byte < 256; ++byte) example[column[byte]] = byte;
  const std::vector<State> block =
      Blocks(n, n_classes, good, table.accepts,
             [&](std::size_t q, std::size_t c) { return target(q, example[c]); });
  std::size_t n_blocks = 0;
  for (std::size_t q = 0; q < n; ++q) {
    n_blocks = std::max(n_blocks, static_cast<std::size_t>(block[q] + 1));
  }
  // Number blocks breadth first from the start, so that equal languages get equal tables.
  std::vector<State> number(n_blocks, kNone);
  std::vector<std::size_t> order;  // a state of each block
  std::vector<std::size_t> some(n_blocks);
  for (std::size_t q = 0; q < n; ++q) {
    if (good[q]) some[static_cast<std::size_t>(block[q])] = q;
  }
  number[static_cast<std::size_t>(block[0])] = 0;
  order.push_back(0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (int b = 0; b < 256; ++b) {
      const State to = target(order[i], static_cast<std::size_t>(b));
      if (to == kNone) continue;
      State& slot = number[static_cast<std::size_t>(block[static_cast<std::size_t>(to)])];
      if (slot != kNone) continue;
      slot = static_cast<State>(order.size());
      order.push_back(static_cast<std::size_t>(to));
    }
  }
  std::vector<std::uint8_t> final_class(n_classes);
  std::map<std::vector<State>, std::uint8_t> final_classes;
  std::vector<std::vector<State>> rows;
  for (int b = 0; b < 256; ++b) {
    const std::size_t c = column[static_cast<std::size_t>(b)];
    if (example[c] != n_classes + 256) {  // seen first
      std::vector<State> key;
      key.reserve(order.size());
      for (const std::size_t q : order) {
        const State to = target(q, static_cast<std::size_t>(b));
        key.push_back(to == kNone
                          ? kNone
                          : number[static_cast<std::size_t>(block[static_cast<std::size_t>(to)])]);
      }
      const auto [at, fresh] =
          final_classes.try_emplace(key, static_cast<std::uint8_t>(final_classes.size()));
      final_class[c] = at->second;
      if (fresh) {
        rows.push_back(std::move(key));
        result.class_size_.push_back(0);
        result.example_.push_back(static_cast<std::uint8_t>(b));
      }
      example[c] = n_classes + 256;
    }
    const std::uint8_t id = final_class[c];
    result.classes_[static_cast<std::size_t>(b)] = id;
    ++result.class_size_[id];
    if (Plainness(b) > Plainness(result.example_[id])) {
      result.example_[id] = static_cast<std::uint8_t>(b);
    }
  }
  result.n_classes_ = static_cast<int>(final_classes.size());
  result.next_.resize(order.size() * final_classes.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t c = 0; c < final_classes.size(); ++c) {
      result.next_[i * final_classes.size() + c] = rows[c][i];
    }
    result.accepts_.push_back(table.accepts[order[i]]);
  }
  result.FindCycles();
  return result;
}

void Language::FindCycles() {
  // A state has endlessly many continuations iff a cycle can be reached (every state is live).
  const std::size_t n = accepts_.size();
  const auto c = static_cast<std::size_t>(n_classes_);
  std::vector<int> out(n, 0);
  std::vector<std::vector<std::size_t>> into(n);
  for (std::size_t q = 0; q < n; ++q) {
    for (std::size_t k = 0; k < c; ++k) {
      const State to = next_[q * c + k];
      if (to == kNone) continue;
      ++out[q];
      into[static_cast<std::size_t>(to)].push_back(q);
    }
  }
  cyclic_.assign(n, true);
  std::vector<std::size_t> work;
  for (std::size_t q = 0; q < n; ++q) {
    if (out[q] == 0) work.push_back(q);
  }
  while (!work.empty()) {
    const std::size_t q = work.back();
    work.pop_back();
    cyclic_[q] = false;
    for (const std::size_t from : into[q]) {
      if (--out[from] == 0) work.push_back(from);
    }
  }
}

bool Language::Contains(std::string_view text) const {
  State q = start();
  for (const char c : text) {
    if (q == kNone) return false;
    q = Next(q, static_cast<std::uint8_t>(c));
  }
  return q != kNone && Accepts(q);
}

const std::vector<std::uint64_t>& Language::Words(std::uint32_t k) const {
  const auto c = static_cast<std::size_t>(n_classes_);
  while (words_.size() <= k) {
    const std::size_t n = accepts_.size();
    std::vector<std::uint64_t> row(n, 0);
    const bool zero = words_.empty();
    // Lead bytes use one of the k code points, continuation bytes none; those are at most three.
    for (std::size_t q = 0; q < n; ++q) {
      if (zero) row[q] = accepts_[q] ? 1 : 0;
    }
    const auto add = [&](bool lead, const std::vector<std::uint64_t>& from,
                         std::vector<std::uint64_t>& to) {
      for (std::size_t q = 0; q < n; ++q) {
        for (std::size_t x = 0; x < c; ++x) {
          const State next = next_[q * c + x];
          if (next == kNone || IsLead(example_[x]) != lead) continue;
          to[q] = std::min(kMany, to[q] + static_cast<std::uint64_t>(class_size_[x]) *
                                              from[static_cast<std::size_t>(next)]);
        }
      }
    };
    if (!zero) add(true, words_.back(), row);
    std::vector<std::uint64_t> step = row;
    for (int depth = 0; depth < 3; ++depth) {
      std::vector<std::uint64_t> before(n, 0);
      add(false, step, before);
      for (std::size_t q = 0; q < n; ++q) row[q] = std::min(kMany, row[q] + before[q]);
      step = std::move(before);
    }
    words_.push_back(std::move(row));
  }
  return words_[k];
}

bool Language::CanEnd(State q, std::uint32_t least, std::uint32_t most) const {
  if (least > most) return false;
  if (least == 0 && most == kNoBound) return true;
  // Beyond as many code points as there are states everything repeats: a continuation that long
  // has a cycle, and one of at least `least` exists iff the state has endlessly many.
  const auto n = static_cast<std::uint32_t>(accepts_.size());
  if (most == kNoBound) {
    if (cyclic_[static_cast<std::size_t>(q)]) return true;
    most = n;
  }
  for (std::uint32_t k = least; k <= most; ++k) {
    if (Words(k)[static_cast<std::size_t>(q)] > 0) return true;
    if (!cyclic_[static_cast<std::size_t>(q)] && k > n) return false;
  }
  return false;
}

std::uint64_t Language::Count(State q, std::uint32_t least, std::uint32_t most,
                              std::uint64_t cap) const {
  const bool cyclic = cyclic_[static_cast<std::size_t>(q)];
  if (most == kNoBound && cyclic) return cap;
  const auto last = std::min(most, cyclic ? most : static_cast<std::uint32_t>(n_states()));
  std::uint64_t count = 0;
  for (std::uint32_t k = least; k <= last && count < cap; ++k) {
    count += Words(k)[static_cast<std::size_t>(q)];
  }
  return std::min(count, cap);
}

std::string Language::Shortest(State q, std::uint32_t least, std::uint32_t most) const {
  // Breadth first over (state, code points so far); few bytes first.
  struct Item {
    State q;
    std::uint32_t n;
    std::int64_t from;
    std::uint8_t byte;
  };
  std::vector<Item> items{{q, 0, -1, 0}};
  std::map<std::pair<State, std::uint32_t>, bool> seen{{{q, 0}, true}};
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item item = items[i];
    if (Accepts(item.q) && item.n >= least && item.n <= most) {
      std::string text;
      for (auto at = static_cast<std::int64_t>(i); items[static_cast<std::size_t>(at)].from >= 0;
           at = items[static_cast<std::size_t>(at)].from) {
        text.push_back(static_cast<char>(items[static_cast<std::size_t>(at)].byte));
      }
      std::reverse(text.begin(), text.end());
      return text;
    }
    for (int c = 0; c < n_classes_; ++c) {
      const std::uint8_t byte = example_[static_cast<std::size_t>(c)];
      const State to = Next(item.q, byte);
      if (to == kNone) continue;
      const std::uint32_t n = item.n + (IsLead(byte) ? 1 : 0);
      if (n > most) continue;
      const std::uint32_t key = std::min(n, least);  // beyond least only the upper bound counts
      if (!seen.try_emplace({to, most == kNoBound ? key : n}, true).second) continue;
      items.push_back({to, n, static_cast<std::int64_t>(i), byte});
    }
  }
  return {};
}

std::string Language::Key() const {
  std::string key(reinterpret_cast<const char*>(classes_.data()), classes_.size());
  key.append(reinterpret_cast<const char*>(next_.data()), next_.size() * sizeof(State));
  for (const bool accept : accepts_) key.push_back(accept ? '1' : '0');
  return key;
}

LanguagePool::LanguagePool(std::size_t max_states) : max_states_(max_states) {
  Add(Language::FromTable(Utf8Table()));
  Add(Language());
}

LanguageId LanguagePool::Add(Language language) {
  const auto [at, fresh] =
      ids_.try_emplace(language.Key(), static_cast<LanguageId>(languages_.size()));
  if (fresh) {
    bytes_ += 2 * at->first.size() + sizeof(Language);
    languages_.push_back(std::make_unique<Language>(std::move(language)));
  }
  return at->second;
}

Result<LanguageId> LanguagePool::Product(LanguageId a, LanguageId b, bool (*accept)(bool, bool)) {
  // Both run beside each other inside valid UTF-8; a side that has left stays kNone.
  using Key = std::array<Language::State, 3>;
  const Language& all = Get(kAll);
  const Language& x = Get(a);
  const Language& y = Get(b);
  std::map<Key, Language::State> ids;
  std::vector<Key> work;
  Language::Table table;
  const auto id = [&](const Key& key) {
    const auto [at, fresh] = ids.try_emplace(key, static_cast<Language::State>(ids.size()));
    if (fresh) work.push_back(key);
    return at->second;
  };
  id({0, x.start(), y.start()});
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (work.size() > max_states_) {
      return Fail(ErrorCode::kLimit,
                  "the automaton of these strings needs more than max_states = " +
                      std::to_string(max_states_));
    }
    const Key key = work[i];
    Row row = EmptyRow();
    std::map<std::array<int, 3>, Language::State> done;
    std::array<int, 3> last{-1, -1, -1};
    for (int byte = 0; byte < 256; ++byte) {
      const auto b8 = static_cast<std::uint8_t>(byte);
      const std::array<int, 3> cls{all.classes_[b8], x.empty() ? 0 : x.classes_[b8],
                                   y.empty() ? 0 : y.classes_[b8]};
      if (cls == last) {
        row[b8] = row[static_cast<std::size_t>(byte - 1)];
        continue;
      }
      last = cls;
      const auto [at, fresh] = done.try_emplace(cls, kNone);
      if (fresh) {
        const auto u = all.Next(key[0], b8);
        if (u != kNone) {
          const auto p = key[1] == kNone ? kNone : x.Next(key[1], b8);
          const auto q = key[2] == kNone ? kNone : y.Next(key[2], b8);
          const bool useless = p == kNone && q == kNone && !accept(false, false);
          if (!useless) at->second = id({u, p, q});
        }
      }
      row[b8] = at->second;
    }
    table.next.push_back(row);
    table.accepts.push_back(all.Accepts(key[0]) && accept(key[1] != kNone && x.Accepts(key[1]),
                                                          key[2] != kNone && y.Accepts(key[2])));
  }
  return Add(Language::FromTable(table));
}

Result<LanguageId> LanguagePool::And(LanguageId a, LanguageId b) {
  if (a > b) std::swap(a, b);
  if (a == b || a == kAll) return b;
  if (a == kEmpty || b == kEmpty) return kEmpty;
  const std::uint64_t key = (std::uint64_t{1} << 60) | (static_cast<std::uint64_t>(a) << 30) |
                            static_cast<std::uint64_t>(b);
  if (const auto at = memo_.find(key); at != memo_.end()) return at->second;
  ADJUDGE_ASSIGN_OR_RETURN(const LanguageId id,
                           Product(a, b, [](bool p, bool q) { return p && q; }));
  return memo_[key] = id;
}

Result<LanguageId> LanguagePool::Or(LanguageId a, LanguageId b) {
  if (a > b) std::swap(a, b);
  if (a == b || b == kEmpty) return a;
  if (a == kAll || b == kAll) return kAll;
  if (a == kEmpty) return b;
  const std::uint64_t key = (std::uint64_t{2} << 60) | (static_cast<std::uint64_t>(a) << 30) |
                            static_cast<std::uint64_t>(b);
  if (const auto at = memo_.find(key); at != memo_.end()) return at->second;
  ADJUDGE_ASSIGN_OR_RETURN(const LanguageId id,
                           Product(a, b, [](bool p, bool q) { return p || q; }));
  return memo_[key] = id;
}

Result<LanguageId> LanguagePool::Not(LanguageId a) {
  if (a == kAll) return kEmpty;
  if (a == kEmpty) return kAll;
  const std::uint64_t key = (std::uint64_t{3} << 60) | static_cast<std::uint64_t>(a);
  if (const auto at = memo_.find(key); at != memo_.end()) return at->second;
  ADJUDGE_ASSIGN_OR_RETURN(const LanguageId id,
                           Product(a, kEmpty, [](bool p, bool) { return !p; }));
  return memo_[key] = id;
}

Result<LanguageId> LanguagePool::OfLength(std::uint32_t least, std::uint32_t most) {
  if (least == 0 && most == kNoBound) return kAll;
  if (least > most) return kEmpty;
  const std::uint32_t levels = most == kNoBound ? least : most;
  if (levels * std::uint64_t{8} > max_states_) {
    return Fail(ErrorCode::kLimit,
                "a length of " + std::to_string(levels) +
                    " needs more than max_states = " + std::to_string(max_states_) + " here");
  }
  const Language::Table utf8 = Utf8Table();
  Language::Table table;
  for (std::uint32_t n = 0; n <= levels; ++n) {
    for (std::size_t u = 0; u < 8; ++u) {
      Row row = EmptyRow();
      for (int b = 0; b < 256; ++b) {
        const auto to = utf8.next[u][static_cast<std::size_t>(b)];
        if (to == kNone) continue;
        std::uint32_t m = n + (IsLead(static_cast<std::uint8_t>(b)) ? 1 : 0);
        if (m > levels && most != kNoBound) continue;
        m = std::min(m, levels);
        row[static_cast<std::size_t>(b)] = static_cast<Language::State>(m * 8) + to;
      }
      table.next.push_back(row);
      table.accepts.push_back(u == 0 && n >= least);
    }
  }
  return Add(Language::FromTable(table));
}

Result<LanguageId> LanguagePool::OfTexts(const std::vector<std::string>& texts) {
  Language::Table table;
  table.next.push_back(EmptyRow());
  table.accepts.push_back(false);
  for (const std::string& text : texts) {
    std::size_t q = 0;
    for (const char c : text) {
      const auto b = static_cast<std::uint8_t>(c);
      if (table.next[q][b] == kNone) {
        if (table.next.size() >= max_states_) {
          return Fail(ErrorCode::kLimit,
                      "these strings need more than max_states = " + std::to_string(max_states_));
        }
        table.next[q][b] = static_cast<Language::State>(table.next.size());
        table.next.push_back(EmptyRow());
        table.accepts.push_back(false);
      }
      q = static_cast<std::size_t>(table.next[q][b]);
    }
    table.accepts[q] = true;
  }
  return Add(Language::FromTable(table));
}

}  // namespace adjudge::schema
