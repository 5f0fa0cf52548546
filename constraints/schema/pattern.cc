#include "constraints/schema/pattern.h"

#include <map>
#include <unordered_map>
#include <utility>

#include "constraints/automaton/char_language.h"
#include "constraints/automaton/utf8_ranges.h"
#include "engine/base/utf8.h"
#include "grammars/regex.h"

namespace adjudge::schema {
namespace {

using Kind = GrammarNode::Kind;

// ^X{m,n}$ with X one character class: the class, and m and n.
struct Repeated {
  CodePointSet chars;
  std::uint32_t least;
  std::uint32_t most;
};
std::optional<Repeated> AsRepeated(const Grammar& grammar, bool whole) {
  const GrammarNode* node = &grammar.node(grammar.rules()[0].body);
  if (!whole) {
    if (node->kind != Kind::kSequence || node->children.size() != 3 ||
        grammar.node(node->children[0]).kind != Kind::kTextStart ||
        grammar.node(node->children[2]).kind != Kind::kTextEnd) {
      return {};
    }
    node = &grammar.node(node->children[1]);
  }
  if (node->kind != Kind::kRepeat) return {};
  const GrammarNode& chars = grammar.node(node->children[0]);
  if (chars.kind == Kind::kText && !chars.text.empty() &&
      chars.text.size() == Utf8Length(chars.text[0])) {
    const char32_t code = DecodeUtf8(chars.text.data(), chars.text.size());
    return Repeated{CodePointSet(code, code), node->least, node->most};
  }
  if (chars.kind != Kind::kChars) return {};
  return Repeated{chars.chars, node->least, node->most};
}

// States between the bytes of a character are made as they are needed.
class ByteTable {
 public:
  std::size_t Add() {
    table_.next.emplace_back();
    table_.next.back().fill(Language::kNone);
    table_.accepts.push_back(false);
    return table_.next.size() - 1;
  }
  void Accept(std::size_t q) { table_.accepts[q] = true; }
  std::size_t size() const { return table_.next.size(); }

  // All of `chars` lead from `from` to `to`; no two calls of one `from` share a character.
  void Connect(std::size_t from, const CodePointSet& chars, std::size_t to) {
    for (const Utf8Range& range : Utf8Ranges(chars)) Connect(from, range, 0, to);
  }
  Language Build() const { return Language::FromTable(table_); }

 private:
  void Connect(std::size_t from, const Utf8Range& range, std::size_t i, std::size_t to) {
    const auto bytes = range.bytes[i];
    if (i + 1 == range.n) {
      for (int b = bytes.first; b <= bytes.last; ++b) {
        table_.next[from][static_cast<std::size_t>(b)] = static_cast<Language::State>(to);
      }
      return;
    }
    // Bytes of one range that led nowhere so far share one way on.
    std::size_t fresh = 0;
    for (int b = bytes.first; b <= bytes.last; ++b) {
      const auto known = table_.next[from][static_cast<std::size_t>(b)];
      if (known != Language::kNone) {
        if (static_cast<std::size_t>(known) != fresh) {
          Connect(static_cast<std::size_t>(known), range, i + 1, to);
        }
        continue;
      }
      if (fresh == 0) {
        fresh = Add();
        Connect(fresh, range, i + 1, to);
      }
      table_.next[from][static_cast<std::size_t>(b)] = static_cast<Language::State>(fresh);
    }
  }

  Language::Table table_;
};

Result<Language> Explicit(CharLanguage& chars, std::size_t max_states) {
  ByteTable table;
  std::unordered_map<CharLanguage::State, std::size_t> ids;
  std::vector<CharLanguage::State> work;
  const auto id = [&](CharLanguage::State state) {
    const auto [at, fresh] = ids.try_emplace(state, 0);
    if (fresh) {
      at->second = table.Add();
      work.push_back(state);
    }
    return at->second;
  };
  const CharLanguage::State start = chars.Start();
  ADJUDGE_RETURN_IF_ERROR(chars.status());
  if (start == CharLanguage::kDead) return Language();
  id(start);
  const SymbolMap& symbols = chars.symbols();
  std::vector<CharLanguage::State> targets(symbols.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    const CharLanguage::State state = work[i];
    const std::size_t from = ids[state];
    if (chars.Accepts(state)) table.Accept(from);
    for (std::uint32_t s = 0; s < symbols.size(); ++s) targets[s] = chars.StepSymbol(state, s);
    ADJUDGE_RETURN_IF_ERROR(chars.status());
    std::map<CharLanguage::State, CodePointSet> sets;
    for (std::size_t k = 0; k < symbols.n_intervals(); ++k) {
      const CharLanguage::State to = targets[symbols.symbol(k)];
      if (to != CharLanguage::kDead) sets[to].Add(symbols.first(k), symbols.last(k));
    }
    for (const auto& [to, set] : sets) table.Connect(from, set, id(to));
    if (table.size() > max_states * 4 || work.size() > max_states) {
      return Fail(ErrorCode::kLimit,
                  "its automaton needs more than " + std::to_string(max_states) + " states");
    }
  }
  return table.Build();
}

}  // namespace

Result<PatternLanguage> LanguageOfPattern(LanguagePool& pool, std::string_view pattern, bool whole,
                                          std::size_t max_states) {
  ADJUDGE_ASSIGN_OR_RETURN(const Grammar grammar, ParseRegex(pattern));
  PatternLanguage result;
  if (const auto repeated = AsRepeated(grammar, whole);
      repeated && (repeated->least > 1 || (repeated->most != kUnbounded && repeated->most > 1))) {
    ByteTable table;
    const std::size_t only = table.Add();
    table.Accept(only);
    table.Connect(only, repeated->chars, only);
    result.language = pool.Add(table.Build());
    result.least = repeated->least;
    result.most = repeated->most == kUnbounded ? kNoBound : repeated->most;
    return result;
  }
  ADJUDGE_ASSIGN_OR_RETURN(
      const CharLanguage::Ptr chars,
      CharLanguage::FromRegex(pattern, whole ? RegexMatch::kWhole : RegexMatch::kSearch));
  chars->Refuel(30'000'000);
  ADJUDGE_ASSIGN_OR_RETURN(Language language, Explicit(*chars, max_states));
  result.language = pool.Add(std::move(language));
  return result;
}

}  // namespace adjudge::schema
