#include "constraints/automaton/grammar_recognizer.h"

#include <algorithm>
#include <map>

#include "constraints/automaton/utf8_ranges.h"
#include "constraints/mask/vocabulary_index.h"
#include "engine/base/check.h"

namespace adjudge {
namespace {

using Op = CountedNfa::Op;
constexpr Recognizer::State kUnknown = ~Recognizer::State{0};

void Append(std::vector<std::uint32_t>& key, const CountedItem& item) {
  key.insert(key.end(), {item.place, item.tag, item.outer, item.low, item.high});
}

const std::vector<Utf8Range>& WideSequences() {
  static const std::vector<Utf8Range> sequences = Utf8Ranges(CodePointSet(0x80, kLastCodePoint));
  return sequences;
}

}  // namespace

GrammarRecognizer::GrammarRecognizer(CountedNfa nfa, std::vector<TokenMask> token_masks)
    : nfa_(std::move(nfa)),
      n_rules_(static_cast<std::uint32_t>(nfa_.starts.size())),
      min_bytes_(nfa_),
      token_masks_(std::move(token_masks)),
      reach_(nfa_),
      sets_(1),
      rows_(1),
      predicted_(n_rules_),
      completed_(n_rules_) {
  // Bytes that no set tells apart are one class.
  std::map<std::vector<bool>, std::uint8_t> ids;
  std::vector<std::array<bool, 256>> members(nfa_.sets.size());
  for (std::size_t s = 0; s < nfa_.sets.size(); ++s) {
    members[s].fill(false);
    for (const auto& range : nfa_.sets[s]) {
      for (std::uint32_t b = range.first; b <= range.last; ++b) members[s][b] = true;
    }
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::vector<bool> in;
    for (const auto& set : members) in.push_back(set[byte]);
    classes_[byte] = ids.try_emplace(in, static_cast<std::uint8_t>(ids.size())).first->second;
  }
  n_classes_ = ids.size();
  reads_.assign(nfa_.sets.size(), std::vector<bool>(n_classes_));
  for (std::size_t s = 0; s < members.size(); ++s) {
    for (std::size_t byte = 0; byte < 256; ++byte) reads_[s][classes_[byte]] = members[s][byte];
  }
  tail_.resize(nfa_.nodes.size());
  for (std::size_t i = 0; i < nfa_.nodes.size(); ++i) {
    const CountedNfa::Node& node = nfa_.nodes[i];
    tail_[i] = node.op == Op::kCall && node.loop == CountedNfa::kNone &&
               nfa_.nodes[node.next].op == Op::kAccept;
  }
  bytes_ = nfa_.nodes.size() * 2 * sizeof(CountedNfa::Node) + sizeof(*this);
}

std::uint32_t GrammarRecognizer::TagOf(std::uint32_t rule, State origin) {
  const std::uint64_t key = (std::uint64_t{rule} << 32) | origin;
  const auto [found, added] =
      tag_ids_.try_emplace(key, n_rules_ + 1 + static_cast<std::uint32_t>(tags_.size()));
  if (added) tags_.push_back({rule, origin});
  return found->second;
}

Recognizer::State GrammarRecognizer::Start() {
  if (start_ == kDead) {
    if (nfa_.dead(0)) {
      SetError({ErrorCode::kInvalidArgument, "no text at all is accepted", "root"});
      return kDead;
    }
    start_ = Close({{.place = nfa_.starts[0]}});
  }
  return start_;
}

Recognizer::State GrammarRecognizer::Next(State state, std::uint8_t byte) {
  std::vector<State>& row = rows_[state];
  if (row.empty()) {
    row.assign(n_classes_, kUnknown);
    bytes_ += n_classes_ * sizeof(State);
  }
  const std::uint8_t symbol = classes_[byte];
  if (row[symbol] != kUnknown) return row[symbol];
  Items kernel;
  for (const Item& item : sets_[state].reads) {
    const CountedNfa::Node& node = nfa_.nodes[item.place];
    if (!reads_[node.arg][symbol]) continue;
    Item next = item;
    next.place = node.next;
    next.tag = Outside(item.tag, state);
    kernel.push_back(next);
  }
  if (!Burn(4 + static_cast<std::int64_t>(sets_[state].reads.size()))) return kDead;
  const State next = kernel.empty() ? kDead : Close(std::move(kernel));
  if (status()) rows_[state][symbol] = next;
  return next;
}

// The set of a kernel: all that follows without reading.
Recognizer::State GrammarRecognizer::Close(Items kernel) {
  std::sort(kernel.begin(), kernel.end());
  kernel.erase(std::unique(kernel.begin(), kernel.end()), kernel.end());
  std::vector<std::uint32_t> key;
  for (const Item& item : kernel) Append(key, item);
  if (const auto found = by_kernel_.find(key); found != by_kernel_.end()) return found->second;
  for (const Item& item : kernel) reach_.Reach(item);
  for (std::size_t i = 0; i < reach_.found().size(); ++i) {
    const Item item = reach_.found()[i];
    Process(item);
    if (!Burn(2)) break;
  }
  for (const std::uint32_t rule : touched_) predicted_[rule] = completed_[rule] = false;
  touched_.clear();
  waiting_.clear();
  Items items = reach_.Take();
  if (!Burn(8 * reach_.TakeWork())) return kDead;

  Set set;
  for (const Item& item : items) {
    const Op op = nfa_.nodes[item.place].op;
    if (op == Op::kAccept) set.accepts = set.accepts || item.tag == 0;
    if (op == Op::kRead) set.reads.push_back(item);
    if (op == Op::kToken) set.tokens.push_back(item);
    if (op == Op::kCall && !tail_[item.place]) set.calls.push_back(item);
  }
  std::vector<std::uint32_t> whole = {set.accepts ? 1U : 0U};
  for (const Items* part : {&set.reads, &set.calls, &set.tokens}) {
    for (const Item& item : *part) Append(whole, item);
  }
  const auto [found, added] = by_items_.try_emplace(std::move(whole), 0);
  if (added) {
    found->second = static_cast<State>(sets_.size());
    const std::size_t n = set.reads.size() + set.calls.size() + set.tokens.size();
    bytes_ += (n * 2 + kernel.size() * 2) * sizeof(Item) + sizeof(Set) + 160;
    set.kernel = std::move(kernel);
    sets_.push_back(std::move(set));
    rows_.emplace_back();
  } else {
    bytes_ += key.size() * sizeof(std::uint32_t) + 64;
  }
  by_kernel_.emplace(std::move(key), found->second);
  return found->second;
}

void GrammarRecognizer::Process(const Item& item) {
  const Op op = nfa_.nodes[item.place].op;
  if (op == Op::kAccept) Complete(item);
  if (op == Op::kCall) Call(item);
}

void GrammarRecognizer::Complete(const Item& item) {
  if (item.tag == 0) return;
  if (!is_self(item.tag)) {
    const Tag tag = tags_[item.tag - n_rules_ - 1];
    for (const Item& waiting : sets_[tag.origin].calls) {
      if (nfa_.nodes[waiting.place].arg == tag.rule) Advance(waiting, tag.origin);
    }
    return;
  }
  const std::uint32_t rule = item.tag - 1;
  if (completed_[rule]) return;
  completed_[rule] = true;
  touched_.push_back(rule);
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const Item waiting = waiting_[i];
    if (nfa_.nodes[waiting.place].arg == rule) Advance(waiting, kDead);
  }
}

// Goes on behind a call that has returned; origin kDead is the set that is being closed.
void GrammarRecognizer::Advance(const Item& waiting, State origin) {
  Item next = waiting;
  next.place = nfa_.nodes[waiting.place].next;
  if (origin != kDead) next.tag = Outside(waiting.tag, origin);
  reach_.Reach(next);
}

void GrammarRecognizer::Call(const Item& item) {
  const std::uint32_t rule = nfa_.nodes[item.place].arg;
  if (tail_[item.place]) {
    reach_.Reach({.place = nfa_.starts[rule], .tag = item.tag});
    return;
  }
  waiting_.push_back(item);
  if (!predicted_[rule]) {
    predicted_[rule] = true;
    touched_.push_back(rule);
    reach_.Reach({.place = nfa_.starts[rule], .tag = rule + 1});
  }
  if (completed_[rule]) Advance(item, kDead);
}

const TokenMask* GrammarRecognizer::Tokens(State state) {
  const Items& items = sets_[state].tokens;
  if (items.empty()) return nullptr;
  if (tokens_.width() != token_masks_[0].width()) tokens_ = TokenMask(token_masks_[0].width());
  tokens_.clear_all();
  for (const Item& item : items) {
    const TokenMask& mask = token_masks_[nfa_.nodes[item.place].arg];
    for (std::size_t w = 0; w < mask.words().size(); ++w) tokens_.words()[w] |= mask.words()[w];
  }
  return &tokens_;
}

Recognizer::State GrammarRecognizer::NextToken(State state, TokenId token, State spelled) {
  if (sets_[state].tokens.empty() || token < 0) return spelled;
  Items kernel;
  for (const Item& item : sets_[state].tokens) {
    const CountedNfa::Node& node = nfa_.nodes[item.place];
    if (token >= token_masks_[node.arg].width() || !token_masks_[node.arg].test(token)) continue;
    Item next = item;
    next.place = node.next;
    next.tag = Outside(item.tag, state);
    kernel.push_back(next);
  }
  if (kernel.empty()) return spelled;
  if (spelled != kDead) {
    const Items& more = sets_[spelled].kernel;
    kernel.insert(kernel.end(), more.begin(), more.end());
  }
  return Close(std::move(kernel));
}

// All sequences of bytes below `range` from byte `at` on lead to one state.
bool GrammarRecognizer::SameTarget(State state, const Utf8Range& range, std::size_t at,
                                   State& target) {
  if (at == range.n) {
    if (target == kUnknown) target = state;
    return target == state;
  }
  std::uint32_t last_class = 256;
  State last = kDead;
  for (std::uint32_t b = range.bytes[at].first; b <= range.bytes[at].last; ++b) {
    if (classes_[b] == last_class) continue;
    last_class = classes_[b];
    const State next = Next(state, static_cast<std::uint8_t>(b));
    if (next == kDead) return false;
    if (next == last) continue;
    last = next;
    if (!SameTarget(next, range, at + 1, target)) return false;
  }
  return true;
}

// Where every character from U+0080 up leads, if that is one live state.
std::optional<Recognizer::State> GrammarRecognizer::WideTarget(State state) {
  State target = kUnknown;
  for (const Utf8Range& range : WideSequences()) {
    if (!SameTarget(state, range, 0, target)) return std::nullopt;
  }
  return target;
}

GrammarRecognizer::CharRun GrammarRecognizer::CharRunOf(State state) {
  if (const auto found = runs_.find(state); found != runs_.end()) return found->second;
  CharRun run;
  std::map<State, int> weights;
  const auto wide = WideTarget(state);
  if (wide) weights[*wide] += 64;
  for (std::uint8_t c = 0; c < 0x80; ++c) {
    if (const State to = Next(state, c); to != kDead) ++weights[to];
  }
  int best = 0;
  for (const auto& [target, weight] : weights) {
    if (weight <= best) continue;
    best = weight;
    run.next = target;
  }
  if (run.next != kDead) {
    for (std::uint8_t c = 0; c < 0x80; ++c) {
      if (Next(state, c) == run.next) run.chars.add(c);
    }
    run.chars.non_ascii = wide && *wide == run.next;
  }
  if (status()) runs_.emplace(state, run);
  return run;
}

bool GrammarRecognizer::LivesOn(State state, const CharClass& chars) {
  for (std::uint8_t c = 0; c < 0x80; ++c) {
    if (chars.has(c) && Next(state, c) != kDead) return true;
  }
  for (std::uint32_t c = 0xC2; chars.non_ascii && c <= 0xF4; ++c) {
    if (Next(state, static_cast<std::uint8_t>(c)) != kDead) return true;
  }
  return false;
}

Recognizer::Run GrammarRecognizer::RunFrom(State state) {
  const CharRun first = CharRunOf(state);
  if (first.chars.empty() || !status()) return {};
  Run run{.chars = first.chars, .room = 0, .ends = true, .next = first.next};
  State at = state;
  CharRun step = first;
  while (step.chars == first.chars && run.room < kRunHorizon && status()) {
    ++run.room;
    if (step.next == at) run.room = kNoLimit;
    if (step.next == at) break;
    at = step.next;
    step = CharRunOf(at);
  }
  run.ends = run.room >= kRunHorizon || !LivesOn(at, first.chars);
  return status() ? run : Run{};
}

std::uint64_t GrammarRecognizer::CostOf(const Item& item, State set) {
  const auto own = min_bytes_.Of(item, [this](std::uint32_t id) { return reach_.outer(id); });
  const std::uint32_t tag = Outside(item.tag, set);
  if (tag == 0) return own;
  const auto found = tag_costs_.find(tag);
  const std::uint64_t rest = found == tag_costs_.end() ? MinBytes::kNever : found->second;
  return std::min(own + rest, MinBytes::kNever);
}

void GrammarRecognizer::CostsOf(std::uint32_t tag) {
  if (tag == 0 || tag_costs_.contains(tag)) return;
  // Every tag that a return can come to; then sweeps until no cost falls any more.
  std::vector<std::uint32_t> all = {tag};
  tag_costs_.emplace(tag, MinBytes::kNever);
  const auto waiting = [this](std::uint32_t t, auto use) {
    const Tag at = tags_[t - n_rules_ - 1];
    const Items calls = sets_[at.origin].calls;
    for (Item item : calls) {
      if (nfa_.nodes[item.place].arg != at.rule) continue;
      item.place = nfa_.nodes[item.place].next;
      use(item, at.origin);
    }
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    waiting(all[i], [&](const Item& item, State origin) {
      const std::uint32_t next = Outside(item.tag, origin);
      if (next != 0 && tag_costs_.emplace(next, MinBytes::kNever).second) all.push_back(next);
    });
  }
  for (bool changed = true; changed && Burn(static_cast<std::int64_t>(all.size()) * 8);) {
    changed = false;
    for (std::size_t i = all.size(); i-- > 0;) {
      std::uint64_t best = MinBytes::kNever;
      waiting(all[i],
              [&](const Item& item, State origin) { best = std::min(best, CostOf(item, origin)); });
      if (best < tag_costs_[all[i]]) {
        tag_costs_[all[i]] = best;
        changed = true;
      }
    }
  }
  if (!status()) {
    for (const std::uint32_t t : all) tag_costs_.erase(t);
  }
}

std::optional<std::string> GrammarRecognizer::ShortestEnd(State state) {
  std::string text;
  while (!sets_[state].accepts) {
    const Items reads = sets_[state].reads;
    const Item* best = nullptr;
    std::uint64_t least = MinBytes::kNever;
    for (const Item& item : reads) {
      CostsOf(Outside(item.tag, state));
      const std::uint64_t cost = CostOf(item, state);
      if (cost >= least) continue;
      least = cost;
      best = &item;
    }
    if (!status() || best == nullptr || !Burn(16)) return std::nullopt;
    const auto byte = static_cast<std::uint8_t>(nfa_.sets[nfa_.nodes[best->place].arg][0].first);
    state = Next(state, byte);
    if (state == kDead) return std::nullopt;
    text += static_cast<char>(byte);
  }
  return text;
}

Result<std::vector<TokenMask>> ResolveTokens(const CountedNfa& nfa, const VocabularyIndex& index) {
  std::vector<TokenMask> masks;
  for (const TokenTerminal& token : nfa.tokens) {
    TokenMask named(index.width());
    std::vector<TokenId> ids = token.ids;
    for (const std::string& name : token.names) {
      // <think> is the token "<think>", or one whose name has no brackets.
      const TokenId bracketed = index.Find("<" + name + ">");
      ids.push_back(bracketed != kNoToken ? bracketed : index.Find(name));
      if (ids.back() != kNoToken) continue;
      return Fail(ErrorCode::kNotFound, "the vocabulary has no token <" + name + ">", "grammar");
    }
    for (const TokenId id : ids) {
      if (id < 0 || id >= index.width()) {
        return Fail(ErrorCode::kInvalidArgument,
                    "token id " + std::to_string(id) + " is outside the vocabulary of " +
                        std::to_string(index.width()),
                    "grammar");
      }
      if (index.tokens().is_stop(id)) {
        return Fail(ErrorCode::kUnsupported,
                    "token id " + std::to_string(id) + " is a stop token, which ends the text",
                    "grammar");
      }
      named.set(id);
    }
    TokenMask mask = named;
    if (token.negated) {
      mask.clear_all();
      for (const TokenId id : index.producible()) {
        if (!named.test(id)) mask.set(id);
      }
    }
    masks.push_back(std::move(mask));
  }
  return masks;
}

}  // namespace adjudge
