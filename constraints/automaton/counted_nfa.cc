#include "constraints/automaton/counted_nfa.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "constraints/automaton/utf8_ranges.h"
#include "engine/base/utf8.h"

namespace adjudge {
namespace {

using Kind = GrammarNode::Kind;
using Op = CountedNfa::Op;
using Place = CountedNfa::Place;

// Copies of a small part take less than a counter does.
constexpr std::size_t kMostCopied = 24;

// What is known of each grammar node before building: whether it accepts anything, the empty text,
// and how many places it takes.
struct NodeFacts {
  bool productive = false;
  bool nullable = false;
  bool asserts = false;  // holds ^ or $
  std::size_t size = 0;
};

// How often a repeat's body is written out; 0 where a counter takes its place. ^ and $ depend on
// what was read, so a body with either has no counter.
std::size_t Copies(const GrammarNode& repeat, const NodeFacts& body) {
  const std::uint32_t least = body.nullable && !body.asserts ? 0 : repeat.least;
  const std::size_t copies =
      std::max<std::size_t>(repeat.most == kUnbounded ? std::size_t{least} + 1 : repeat.most, 1);
  const bool few = copies <= 1 || copies * (body.size + 1) <= kMostCopied ||
                   (repeat.most == kUnbounded && least <= 1);
  return few || body.asserts ? copies : 0;
}

class Facts {
 public:
  explicit Facts(const Grammar& grammar) : grammar_(grammar), nodes_(grammar.n_nodes()) {
    rules_.resize(grammar.rules().size());
    // Children come before their parents, so a sweep is a pass over the nodes in order; rules need
    // as many as their chains are long.
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t i = 0; i < grammar.n_nodes(); ++i) nodes_[i] = Of(grammar.node(i));
      for (std::size_t r = 0; r < rules_.size(); ++r) {
        const NodeFacts& body = nodes_[grammar.rules()[r].body];
        if (body.productive != rules_[r].productive || body.nullable != rules_[r].nullable) {
          rules_[r] = body;
          changed = true;
        }
      }
    }
  }
  const NodeFacts& operator[](Grammar::Node node) const { return nodes_[node]; }
  bool productive_rule(std::uint32_t rule) const { return rules_[rule].productive; }

 private:
  NodeFacts Of(const GrammarNode& node) const {
    NodeFacts facts;
    switch (node.kind) {
      case Kind::kText:
        return {true, node.text.empty(), false, node.text.size()};
      case Kind::kChars:
        return {true, false, false, 4};
      case Kind::kToken:
        return {true, false, false, 1};
      case Kind::kTextStart:
      case Kind::kTextEnd:
        return {true, true, true, 1};
      case Kind::kRule:
        return {rules_[node.rule].productive, rules_[node.rule].nullable, false, 1};
      case Kind::kSequence:
        facts = {true, true, false, 0};
        for (const auto child : node.children) {
          facts.productive = facts.productive && nodes_[child].productive;
          facts.nullable = facts.nullable && nodes_[child].nullable;
          Join(facts, nodes_[child]);
        }
        return facts;
      case Kind::kChoice:
        for (const auto child : node.children) {
          facts.productive = facts.productive || nodes_[child].productive;
          facts.nullable = facts.nullable || nodes_[child].nullable;
          Join(facts, nodes_[child]);
        }
        return facts;
      case Kind::kRepeat: {
        const NodeFacts& body = nodes_[node.children[0]];
        const std::size_t copies = Copies(node, body);
        return {node.least == 0 || body.productive, node.least == 0 || body.nullable, body.asserts,
                copies > 0 ? copies * (body.size + 1) : body.size + 3};
      }
    }
    return facts;
  }
  static void Join(NodeFacts& facts, const NodeFacts& child) {
    facts.asserts = facts.asserts || child.asserts;
    facts.size += child.size + 1;
  }

  const Grammar& grammar_;
  std::vector<NodeFacts> nodes_;
  std::vector<NodeFacts> rules_;
};

class Builder {
 public:
  Builder(const Grammar& grammar, NfaSymbols symbols, const NfaLimits& limits)
      : grammar_(grammar), symbols_(symbols), limits_(limits), facts_(grammar) {}

  Result<CountedNfa> Build() {
    for (std::uint32_t rule = 0; rule < grammar_.rules().size(); ++rule) {
      const Place accept = Add({.op = Op::kAccept});
      ADJUDGE_ASSIGN_OR_RETURN(const Place start, Of(grammar_.rules()[rule].body, accept));
      nfa_.starts.push_back(start);
    }
    return std::move(nfa_);
  }

 private:
  Place Add(CountedNfa::Node node) {
    node.loop = loop_;
    nfa_.nodes.push_back(node);
    return static_cast<Place>(nfa_.nodes.size() - 1);
  }
  Place Dead() { return Add({.op = Op::kDead}); }

  std::uint32_t SetId(CountedNfa::Set set) {
    std::vector<std::uint32_t> key;
    for (const auto& range : set) key.insert(key.end(), {range.first, range.last});
    const auto [found, added] =
        set_ids_.try_emplace(std::move(key), static_cast<std::uint32_t>(nfa_.sets.size()));
    if (added) nfa_.sets.push_back(std::move(set));
    return found->second;
  }
  Place Read(CountedNfa::Set set, Place next) {
    return Add({.op = Op::kRead, .next = next, .arg = SetId(std::move(set))});
  }

  // The place from which `node` leads to `next`.
  Result<Place> Of(Grammar::Node id, Place next) {
    if (nfa_.nodes.size() > limits_.max_places) {
      return Fail(ErrorCode::kLimit, "the automaton needs more than max_places, " +
                                         std::to_string(limits_.max_places) + ", places");
    }
    const GrammarNode& node = grammar_.node(id);
    if (!facts_[id].productive) return Dead();
    switch (node.kind) {
      case Kind::kText:
        return Text(node.text, next);
      case Kind::kChars:
        return Chars(node.chars, next);
      case Kind::kSequence:
        for (std::size_t i = node.children.size(); i-- > 0;) {
          ADJUDGE_ASSIGN_OR_RETURN(next, Of(node.children[i], next));
        }
        return next;
      case Kind::kChoice:
        return Choice(node, next);
      case Kind::kRepeat:
        return Repeat(node, next);
      case Kind::kRule:
        return Add({.op = Op::kCall, .next = next, .arg = node.rule});
      case Kind::kToken:
        nfa_.tokens.push_back(node.token);
        return Add({.op = Op::kToken,
                    .next = next,
                    .arg = static_cast<std::uint32_t>(nfa_.tokens.size() - 1)});
      case Kind::kTextStart:
        return Add({.op = Op::kTextStart, .next = next});
      case Kind::kTextEnd:
        return Add({.op = Op::kTextEnd, .next = next});
    }
    return Dead();
  }

  Place Text(const std::string& text, Place next) {
    std::vector<std::uint32_t> symbols;
    if (symbols_ == NfaSymbols::kBytes) {
      for (const char c : text) symbols.push_back(static_cast<unsigned char>(c));
    } else {
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = Utf8Length(text[at]);
        symbols.push_back(DecodeUtf8(text.data() + at, length));
        at += length;
      }
    }
    for (std::size_t i = symbols.size(); i-- > 0;) next = Read({{symbols[i], symbols[i]}}, next);
    return next;
  }

  Place Chars(const CodePointSet& chars, Place next) {
    CountedNfa::Set set;
    if (symbols_ == NfaSymbols::kCodePoints) {
      for (const auto& range : chars.ranges()) set.push_back({range.first, range.last});
      return Read(std::move(set), next);
    }
    return Utf8Chars(Utf8Ranges(chars), next);
  }

  // Sequences of byte ranges that agree so far share their places from the end on.
  Place Utf8Chars(const std::vector<Utf8Range>& sequences, Place next) {
    std::map<std::pair<Place, std::array<std::uint32_t, 2>>, Place> shared;
    std::map<Place, CountedNfa::Set> heads;  // first bytes by where they lead
    for (const Utf8Range& sequence : sequences) {
      Place at = next;
      for (std::size_t i = sequence.n; i-- > 1;) {
        const auto key = std::pair{
            at, std::array<std::uint32_t, 2>{sequence.bytes[i].first, sequence.bytes[i].last}};
        const auto found = shared.find(key);
        at = found != shared.end() ? found->second : Read({{key.second[0], key.second[1]}}, at);
        shared.emplace(key, at);
      }
      heads[at].push_back({sequence.bytes[0].first, sequence.bytes[0].last});
    }
    Place all = CountedNfa::kNone;
    for (auto& [at, set] : heads) {
      const Place one = Read(std::move(set), at);
      all = all == CountedNfa::kNone ? one : Add({.op = Op::kSplit, .next = one, .other = all});
    }
    return all;
  }

  Result<Place> Choice(const GrammarNode& node, Place next) {
    Place all = CountedNfa::kNone;
    for (std::size_t i = node.children.size(); i-- > 0;) {
      if (!facts_[node.children[i]].productive) continue;
      ADJUDGE_ASSIGN_OR_RETURN(const Place one, Of(node.children[i], next));
      all = all == CountedNfa::kNone ? one : Add({.op = Op::kSplit, .next = one, .other = all});
    }
    return all;
  }

  Result<Place> Repeat(const GrammarNode& node, Place next) {
    const Grammar::Node body = node.children[0];
    const NodeFacts& facts = facts_[body];
    if (!facts.productive) return next;  // least is 0
    // As often as it likes, the empty text included: none at all is one of them.
    const std::uint32_t least = facts.nullable && !facts.asserts ? 0 : node.least;
    if (Copies(node, facts) > 0) return Copied(body, least, node.most, next);
    return Counted(body, least, node.most, next);
  }

  Result<Place> Star(Grammar::Node body, Place next) {
    const Place split = Add({.op = Op::kSplit, .other = next});
    ADJUDGE_ASSIGN_OR_RETURN(const Place inner, Of(body, split));
    nfa_.nodes[split].next = inner;
    return split;
  }

  Result<Place> Copied(Grammar::Node body, std::uint32_t least, std::uint32_t most, Place next) {
    if (most == kUnbounded) {
      ADJUDGE_ASSIGN_OR_RETURN(next, Star(body, next));
    } else {
      const Place end = next;
      for (std::uint32_t i = least; i < most; ++i) {
        ADJUDGE_ASSIGN_OR_RETURN(const Place one, Of(body, next));
        next = Add({.op = Op::kSplit, .next = one, .other = end});
      }
    }
    for (std::uint32_t i = 0; i < least; ++i) {
      ADJUDGE_ASSIGN_OR_RETURN(next, Of(body, next));
    }
    return next;
  }

  Result<Place> Counted(Grammar::Node body, std::uint32_t least, std::uint32_t most, Place next) {
    const std::uint32_t outer = loop_;
    nfa_.loops.push_back({least, most, outer});
    const auto loop = static_cast<std::uint32_t>(nfa_.loops.size() - 1);
    loop_ = loop;
    const Place head = Add({.op = Op::kHead, .other = next, .arg = loop});
    const Place count = Add({.op = Op::kCount, .next = head, .arg = loop});
    ADJUDGE_ASSIGN_OR_RETURN(const Place inner, Of(body, count));
    nfa_.nodes[head].next = inner;
    loop_ = outer;
    return Add({.op = Op::kEnter, .next = head, .arg = loop});
  }

  const Grammar& grammar_;
  const NfaSymbols symbols_;
  const NfaLimits& limits_;
  const Facts facts_;
  CountedNfa nfa_;
  std::uint32_t loop_ = CountedNfa::kNone;
  std::map<std::vector<std::uint32_t>, std::uint32_t> set_ids_;
};

// Replaces ^ and $ by what they mean: each place is doubled for "something was read" and again for
// "nothing more may be read". Repeats that hold either were copied, so that no counter depends on
// them.
class Settling {
 public:
  explicit Settling(CountedNfa nfa) : from_(std::move(nfa)) {}

  CountedNfa Settle() {
    to_.loops = from_.loops;
    to_.sets = from_.sets;
    to_.tokens = from_.tokens;
    for (const Place start : from_.starts) {
      to_.starts.push_back(Of(start, 0));
      while (!open_.empty()) {
        const auto [place, flags, made] = open_.back();
        open_.pop_back();
        const CountedNfa::Node node = Made(from_.nodes[place], flags);
        to_.nodes[made] = node;
      }
    }
    return std::move(to_);
  }

 private:
  static constexpr std::uint32_t kRead = 1;
  static constexpr std::uint32_t kEnded = 2;
  struct Open {
    Place place;
    std::uint32_t flags;
    Place made;
  };

  Place Of(Place place, std::uint32_t flags) {
    const auto [found, added] = ids_.try_emplace(std::pair{place, flags}, 0);
    if (!added) return found->second;
    to_.nodes.emplace_back();
    const auto made = static_cast<Place>(to_.nodes.size() - 1);
    found->second = made;
    open_.push_back({place, flags, made});
    return made;
  }

  CountedNfa::Node Made(CountedNfa::Node node, std::uint32_t flags) {
    const auto eps = [&](Place next, std::uint32_t new_flags) {
      node.op = Op::kSplit;
      node.next = node.other = Of(next, new_flags);
      return node;
    };
    const auto dead = [&] {
      node = {.op = Op::kDead, .loop = node.loop};
      return node;
    };
    switch (node.op) {
      case Op::kTextStart:
        return (flags & kRead) != 0 ? dead() : eps(node.next, flags);
      case Op::kTextEnd:
        return eps(node.next, flags | kEnded);
      case Op::kRead:
        if ((flags & kEnded) != 0) return dead();
        node.next = Of(node.next, flags | kRead);
        return node;
      case Op::kEnter:
        if ((flags & kEnded) == 0) break;
        if (from_.loops[node.arg].least > 0) return dead();
        return eps(from_.nodes[node.next].other, flags);
      default:
        break;
    }
    if (node.next != CountedNfa::kNone) node.next = Of(node.next, flags);
    if (node.other != CountedNfa::kNone) node.other = Of(node.other, flags);
    return node;
  }

  CountedNfa from_;
  CountedNfa to_;
  std::map<std::pair<Place, std::uint32_t>, Place> ids_;
  std::vector<Open> open_;
};

// Places from which the end cannot be reached become dead, and arrows to them go.
void Trim(CountedNfa& nfa) {
  const std::size_t n = nfa.nodes.size();
  std::vector<std::vector<Place>> into(n);
  std::vector<Place> open;
  std::vector<bool> live(n, false);
  for (Place i = 0; i < n; ++i) {
    const CountedNfa::Node& node = nfa.nodes[i];
    if (node.next != CountedNfa::kNone) into[node.next].push_back(i);
    if (node.other != CountedNfa::kNone) into[node.other].push_back(i);
    if (node.op == Op::kAccept) {
      live[i] = true;
      open.push_back(i);
    }
  }
  while (!open.empty()) {
    const Place at = open.back();
    open.pop_back();
    for (const Place from : into[at]) {
      if (live[from]) continue;
      live[from] = true;
      open.push_back(from);
    }
  }
  for (Place i = 0; i < n; ++i) {
    if (!live[i]) nfa.nodes[i] = {.op = Op::kDead, .loop = nfa.nodes[i].loop};
  }
}

bool Asserts(const CountedNfa& nfa) {
  return std::any_of(nfa.nodes.begin(), nfa.nodes.end(), [](const CountedNfa::Node& node) {
    return node.op == Op::kTextStart || node.op == Op::kTextEnd;
  });
}

}  // namespace

Result<CountedNfa> BuildNfa(const Grammar& grammar, NfaSymbols symbols, const NfaLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(CountedNfa nfa, Builder(grammar, symbols, limits).Build());
  if (Asserts(nfa)) nfa = Settling(std::move(nfa)).Settle();
  Trim(nfa);
  return nfa;
}

}  // namespace adjudge
