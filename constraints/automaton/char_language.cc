#include "constraints/automaton/char_language.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "constraints/automaton/counted_sets.h"
#include "constraints/automaton/key_hash.h"
#include "engine/base/check.h"
#include "engine/base/utf8.h"

namespace adjudge {
namespace {

using State = CharLanguage::State;
using Op = CountedNfa::Op;

std::vector<SymbolMap::Ranges> SetsOf(const CountedNfa& nfa) {
  std::vector<SymbolMap::Ranges> sets;
  for (const CountedNfa::Set& set : nfa.sets) {
    SymbolMap::Ranges ranges;
    for (const auto& range : set) ranges.emplace_back(range.first, range.last);
    sets.push_back(std::move(ranges));
  }
  return sets;
}

// The sets of places of one counted automaton. Every set but the empty one is live, since the
// automaton is trimmed.
class NfaLanguage final : public CharLanguage {
 public:
  explicit NfaLanguage(CountedNfa nfa)
      : CharLanguage(SymbolMap(SetsOf(nfa))), nfa_(std::move(nfa)), sets_(nfa_) {
    items_.emplace_back();
    reads_.resize(nfa_.sets.size());
    for (std::size_t i = 0; i < nfa_.sets.size(); ++i) {
      reads_[i].resize(symbols().size());
      for (const auto& range : nfa_.sets[i]) MarkRange(reads_[i], range);
    }
    FindLoops();
  }

  bool Accepts(State state) override { return accepts_[state]; }

  const CodePointSet* AlwaysLive(State state) override {
    for (const CountedItem& item : items_[state]) {
      const CountedNfa::Node& node = nfa_.nodes[item.place];
      if (node.op == Op::kRead && loops_[item.place]) return &loop_sets_[node.arg];
    }
    return nullptr;
  }

  std::size_t bytes() const override {
    return CharLanguage::bytes() + n_items_ * sizeof(CountedItem) * 2 +
           nfa_.nodes.size() * sizeof(CountedNfa::Node);
  }

 protected:
  State RawStart() override {
    sets_.Reach({.place = nfa_.starts[0]});
    return Intern();
  }
  State RawStep(State state, std::uint32_t symbol) override {
    for (const CountedItem& item : items_[state]) {
      const CountedNfa::Node& node = nfa_.nodes[item.place];
      if (node.op != Op::kRead || !reads_[node.arg][symbol]) continue;
      CountedItem next = item;
      next.place = node.next;
      sets_.Reach(next);
    }
    return Intern();
  }

 private:
  void MarkRange(std::vector<bool>& marks, const CountedNfa::Range& range) const {
    for (std::size_t i = symbols().IntervalOf(range.first);
         i < symbols().n_intervals() && symbols().first(i) <= range.last; ++i) {
      marks[symbols().symbol(i)] = true;
    }
  }

  // Places outside of counters that one of their own characters leads back to.
  void FindLoops() {
    loops_.resize(nfa_.nodes.size());
    loop_sets_.resize(nfa_.sets.size());
    for (CountedNfa::Place place = 0; place < nfa_.nodes.size(); ++place) {
      const CountedNfa::Node& node = nfa_.nodes[place];
      if (node.op != Op::kRead || node.loop != CountedNfa::kNone) continue;
      // The usual shape, a star: read -> split -> read.
      const CountedNfa::Node& after = nfa_.nodes[node.next];
      loops_[place] = after.op == Op::kSplit && (after.next == place || after.other == place);
      if (!loops_[place] || !loop_sets_[node.arg].empty()) continue;
      for (const auto& range : nfa_.sets[node.arg]) {
        loop_sets_[node.arg].Add(range.first, range.last);
      }
    }
  }

  State Intern() {
    std::vector<CountedItem> items = sets_.Take();
    if (!Burn(4 + 8 * sets_.TakeWork()) || items.empty()) return kDead;
    key_.clear();
    for (const CountedItem& item : items) {
      key_.insert(key_.end(), {item.place, item.outer, item.low, item.high});
    }
    const auto [found, added] = ids_.try_emplace(key_, 0);
    if (added) {
      found->second = NewState(Life::kLive);
      n_items_ += items.size();
      accepts_.resize(found->second + 1);
      accepts_[found->second] = std::any_of(items.begin(), items.end(), [&](const CountedItem& i) {
        return nfa_.nodes[i.place].op == Op::kAccept;
      });
      items_.push_back(std::move(items));
    }
    return found->second;
  }

  const CountedNfa nfa_;
  CountedSets sets_;
  std::vector<std::vector<bool>> reads_;         // by set, symbol
  std::vector<bool> loops_;                      // by place
  std::vector<CodePointSet> loop_sets_;          // by set, where a looping place reads it
  std::vector<std::vector<CountedItem>> items_;  // by state
  std::vector<bool> accepts_;
  std::unordered_map<std::vector<std::uint32_t>, State, KeyHash> ids_;
  std::vector<std::uint32_t> key_;
  std::size_t n_items_ = 0;
};

std::vector<const SymbolMap*> MapsOf(const std::vector<CharLanguage::Ptr>& parts) {
  std::vector<const SymbolMap*> maps;
  for (const auto& part : parts) maps.push_back(&part->symbols());
  return maps;
}

enum class Join { kAnd, kOr, kNot };

// States of the parts, side by side. A part that is dead stands as kDead.
class JoinedLanguage final : public CharLanguage {
 public:
  JoinedLanguage(Join join, std::vector<Ptr> parts)
      : CharLanguage(SymbolMap(MapsOf(parts))), join_(join), parts_(std::move(parts)) {
    states_.emplace_back();
    for (const Ptr& part : parts_) {
      std::vector<std::uint32_t> map;
      for (std::uint32_t s = 0; s < symbols().size(); ++s) {
        map.push_back(part->symbols().Of(symbols().example(s)));
      }
      symbol_maps_.push_back(std::move(map));
    }
  }

  bool Accepts(State state) override {
    const auto accepts = [&](std::size_t i) {
      return states_[state][i] != kDead && parts_[i]->Accepts(states_[state][i]);
    };
    std::size_t n = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) n += accepts(i) ? 1 : 0;
    return join_ == Join::kAnd ? n == parts_.size() : join_ == Join::kOr ? n > 0 : n == 0;
  }

  std::size_t bytes() const override {
    std::size_t sum = CharLanguage::bytes() + states_.size() * (parts_.size() * 8 + 48);
    for (const Ptr& part : parts_) sum += part->bytes();
    return sum;
  }

 protected:
  State RawStart() override {
    std::vector<State> next;
    for (const Ptr& part : parts_) next.push_back(Lent(*part, [&] { return part->Start(); }));
    return Intern(std::move(next));
  }
  State RawStep(State state, std::uint32_t symbol) override {
    std::vector<State> next = states_[state];
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (next[i] == kDead) continue;
      next[i] =
          Lent(*parts_[i], [&] { return parts_[i]->StepSymbol(next[i], symbol_maps_[i][symbol]); });
      if (next[i] == kDead && join_ == Join::kAnd) return kDead;
    }
    return Intern(std::move(next));
  }

 private:
  // Lets a part work on this language's fuel.
  template <typename Work>
  State Lent(CharLanguage& part, Work work) {
    part.Refuel(fuel());
    const State state = work();
    if (!part.status()) SetStatus(part.status());
    Burn(fuel() - part.fuel());
    return state;
  }

  State Intern(std::vector<State> next) {
    if (!Burn(4) || !status()) return kDead;
    const std::size_t n_dead =
        static_cast<std::size_t>(std::count(next.begin(), next.end(), kDead));
    if (join_ == Join::kAnd && n_dead > 0) return kDead;
    if (join_ == Join::kOr && n_dead == next.size()) return kDead;
    const auto [found, added] = ids_.try_emplace(next, 0);
    if (added) {
      const bool live = join_ == Join::kOr || (join_ == Join::kAnd && next.size() <= 1);
      found->second = NewState(live ? Life::kLive : Life::kUnknown);
      states_.push_back(std::move(next));
    }
    return found->second;
  }

  const Join join_;
  const std::vector<Ptr> parts_;
  std::vector<std::vector<std::uint32_t>> symbol_maps_;  // by part, symbol
  std::vector<std::vector<State>> states_;               // by state
  std::unordered_map<std::vector<State>, State, KeyHash> ids_;
};

Result<Grammar> SearchGrammar(std::string_view regex, const RegexLimits& limits) {
  return ParseRegex("(?:[^])*(?:" + std::string(regex) + ")(?:[^])*", limits);
}

}  // namespace

Result<CharLanguage::Ptr> CharLanguage::FromGrammar(const Grammar& grammar) {
  ADJUDGE_CHECK(grammar.rules().size() == 1);
  ADJUDGE_ASSIGN_OR_RETURN(CountedNfa nfa, BuildNfa(grammar, NfaSymbols::kCodePoints));
  return std::make_shared<NfaLanguage>(std::move(nfa));
}

Result<CharLanguage::Ptr> CharLanguage::FromRegex(std::string_view regex, RegexMatch match,
                                                  const RegexLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(Grammar grammar, ParseRegex(regex, limits));
  if (match == RegexMatch::kSearch) {
    RegexLimits wider = limits;
    wider.max_bytes += 32;
    wider.max_depth += 1;
    ADJUDGE_ASSIGN_OR_RETURN(grammar, SearchGrammar(regex, wider));
  }
  return FromGrammar(grammar);
}

CharLanguage::Ptr CharLanguage::All() { return Lengths(0, kUnbounded); }

CharLanguage::Ptr CharLanguage::Lengths(std::uint32_t least, std::uint32_t most) {
  GrammarBuilder builder;
  builder.AddRule("root");
  builder.SetBody(0, builder.Repeat(builder.Chars(CodePointSet::All()), least, most));
  return *FromGrammar(std::move(builder).Build());
}

CharLanguage::Ptr CharLanguage::Texts(const std::vector<std::string>& texts) {
  GrammarBuilder builder;
  builder.AddRule("root");
  std::vector<Grammar::Node> parts;
  for (const std::string& text : texts) parts.push_back(builder.Text(text));
  builder.SetBody(0, builder.Choice(parts));
  return *FromGrammar(std::move(builder).Build());
}

CharLanguage::Ptr CharLanguage::Not(Ptr a) {
  return std::make_shared<JoinedLanguage>(Join::kNot, std::vector<Ptr>{std::move(a)});
}
CharLanguage::Ptr CharLanguage::And(std::vector<Ptr> parts) {
  if (parts.empty()) return All();
  if (parts.size() == 1) return parts[0];
  return std::make_shared<JoinedLanguage>(Join::kAnd, std::move(parts));
}
CharLanguage::Ptr CharLanguage::Or(std::vector<Ptr> parts) {
  if (parts.empty()) return Texts({});
  if (parts.size() == 1) return parts[0];
  return std::make_shared<JoinedLanguage>(Join::kOr, std::move(parts));
}

bool CharLanguage::Burn(std::int64_t units) {
  fuel_ -= units;
  if (fuel_ >= 0) return true;
  if (status_) {
    status_ = Fail(ErrorCode::kLimit,
                   "the automaton's work limit is spent before its answer was known", "pattern");
  }
  return false;
}

CharLanguage::State CharLanguage::Start() {
  if (start_ == kUnknown) {
    const State start = RawStart();
    if (!status_) return kDead;
    const bool live = start != kDead && IsLive(start);
    if (!status_) return kDead;
    start_ = live ? start : kDead;
  }
  return start_;
}

CharLanguage::State CharLanguage::RawCached(State state, std::uint32_t symbol) {
  if (rows_[state].empty()) rows_[state].assign(symbols_.size(), kUnknown);
  State next = rows_[state][symbol];
  if (next != kUnknown) return next;
  next = RawStep(state, symbol);
  if (status_) rows_[state][symbol] = next;
  return next;
}

CharLanguage::State CharLanguage::StepSymbol(State state, std::uint32_t symbol) {
  const State next = RawCached(state, symbol);
  if (next == kDead || life_[next] == Life::kLive) return next;
  if (!IsLive(next)) {
    if (status_) rows_[state][symbol] = kDead;
    return kDead;
  }
  return next;
}

// Looks for an accepting or live state, nearest first. What is found on the way there is live; when
// nothing is found, all that was seen is dead.
bool CharLanguage::IsLive(State state) {
  if (life_[state] != Life::kUnknown) return life_[state] == Life::kLive;
  std::unordered_map<State, State> from = {{state, state}};
  std::deque<State> open = {state};
  while (!open.empty() && status_) {
    const State at = open.front();
    open.pop_front();
    if (life_[at] == Life::kLive || Accepts(at)) {
      for (State s = at;; s = from[s]) {
        life_[s] = Life::kLive;
        if (s == state) return true;
      }
    }
    for (std::uint32_t symbol = 0; symbol < symbols_.size() && status_; ++symbol) {
      const State next = RawCached(at, symbol);
      if (next == kDead || life_[next] == Life::kDead) continue;
      if (from.try_emplace(next, at).second) open.push_back(next);
    }
    if (!Burn(symbols_.size())) return false;
  }
  if (!status_) return false;
  for (const auto& [seen, parent] : from) life_[seen] = Life::kDead;
  return false;
}

bool CharLanguage::AnyLive(State state, char32_t first, char32_t last) {
  for (std::size_t i = symbols_.IntervalOf(first);
       i < symbols_.n_intervals() && symbols_.first(i) <= last; ++i) {
    if (StepSymbol(state, symbols_.symbol(i)) != kDead) return true;
  }
  return false;
}

bool CharLanguage::Matches(std::string_view utf8) {
  State state = Start();
  for (std::size_t at = 0; at < utf8.size() && state != kDead;) {
    const std::size_t length = Utf8Length(utf8[at]);
    state = Step(state, DecodeUtf8(utf8.data() + at, length));
    at += length;
  }
  return state != kDead && Accepts(state);
}

Result<bool> CharLanguage::IsEmpty() {
  const State start = Start();
  ADJUDGE_RETURN_IF_ERROR(status_);
  return start == kDead;
}

Result<bool> CharLanguage::IsUniversal() {
  // A walk over all states: one that does not accept, or a step that is dead, is the answer.
  State state = Start();
  ADJUDGE_RETURN_IF_ERROR(status_);
  if (state == kDead) return false;
  std::vector<bool> seen(rows_.size());
  std::vector<State> open = {state};
  seen[state] = true;
  while (!open.empty()) {
    const State at = open.back();
    open.pop_back();
    if (!Accepts(at)) return false;
    for (std::uint32_t symbol = 0; symbol < symbols_.size(); ++symbol) {
      const State next = StepSymbol(at, symbol);
      ADJUDGE_RETURN_IF_ERROR(status_);
      if (next == kDead) return false;
      if (next >= seen.size()) seen.resize(rows_.size());
      if (seen[next]) continue;
      seen[next] = true;
      open.push_back(next);
    }
  }
  return true;
}

Result<std::string> CharLanguage::ShortestEnd(State state) {
  std::unordered_map<State, std::pair<State, std::uint32_t>> from = {{state, {state, 0}}};
  std::deque<State> open = {state};
  while (!open.empty()) {
    const State at = open.front();
    open.pop_front();
    if (Accepts(at)) {
      std::vector<std::uint32_t> symbols;
      for (State s = at; s != state; s = from[s].first) symbols.push_back(from[s].second);
      std::string text;
      for (std::size_t i = symbols.size(); i-- > 0;) AppendUtf8(symbols_.example(symbols[i]), text);
      return text;
    }
    for (std::uint32_t symbol = 0; symbol < symbols_.size(); ++symbol) {
      const State next = StepSymbol(at, symbol);
      ADJUDGE_RETURN_IF_ERROR(status_);
      if (next == kDead) continue;
      if (from.try_emplace(next, std::pair{at, symbol}).second) open.push_back(next);
    }
    if (!Burn(symbols_.size())) break;
  }
  ADJUDGE_RETURN_IF_ERROR(status_);
  ADJUDGE_CHECK_MSG(false, "a live state without an end");
  return std::string();
}

Result<std::optional<std::string>> CharLanguage::Shortest() {
  const State start = Start();
  ADJUDGE_RETURN_IF_ERROR(status_);
  if (start == kDead) return std::optional<std::string>();
  ADJUDGE_ASSIGN_OR_RETURN(std::string text, ShortestEnd(start));
  return std::make_optional(std::move(text));
}

std::size_t CharLanguage::bytes() const {
  std::size_t sum = rows_.size() * (sizeof(rows_[0]) + 1);
  for (const auto& row : rows_) sum += row.capacity() * sizeof(State);
  return sum;
}

}  // namespace adjudge
