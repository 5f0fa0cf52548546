// Grammar: what a grammar's or regex's text says, as a tree over characters and bytes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/token.h"
#include "grammars/code_point_set.h"

namespace adjudge {

inline constexpr std::uint32_t kUnbounded = ~std::uint32_t{0};

// Tokens that stand as terminals, whatever their bytes: by id or by the name that the vocabulary
// has for them (resolved when a vocabulary is known). Negated: any one token but these.
struct TokenTerminal {
  std::vector<TokenId> ids;
  std::vector<std::string> names;
  bool negated = false;
  friend bool operator==(const TokenTerminal&, const TokenTerminal&) = default;
};

// One node of a rule's body. Children are indices into the grammar's nodes.
struct GrammarNode {
  enum class Kind : unsigned char {
    kText,       // these bytes; the empty text too
    kChars,      // one character of a set, in UTF-8
    kSequence,   // the children, one after another
    kChoice,     // one of the children; without children: nothing at all, not even the empty text
    kRepeat,     // the child, least to most times (most may be kUnbounded)
    kRule,       // another rule
    kToken,      // one token
    kTextStart,  // nothing, where the text begins (a regex's ^)
    kTextEnd,    // nothing, where the text ends (a regex's $)
  };

  Kind kind = Kind::kText;
  std::string text;
  CodePointSet chars;
  std::vector<std::uint32_t> children;
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  std::uint32_t rule = 0;
  TokenTerminal token;
  friend bool operator==(const GrammarNode&, const GrammarNode&) = default;
};

struct GrammarRule {
  std::string name;
  std::uint32_t body = 0;  // a node
};

// Immutable once built. Rule 0 is the root.
class Grammar {
 public:
  using Node = std::uint32_t;

  const GrammarNode& node(Node node) const { return nodes_[node]; }
  const std::vector<GrammarRule>& rules() const { return rules_; }
  std::size_t n_nodes() const { return nodes_.size(); }

  // The same rules in the same order, node for node, whatever their numbers.
  friend bool operator==(const Grammar& a, const Grammar& b);

 private:
  friend class GrammarBuilder;
  std::vector<GrammarNode> nodes_;
  std::vector<GrammarRule> rules_;
};

// Makes a Grammar from the leaves up. Sequences and choices flatten, neighbouring texts join, and
// what stands alone stands for itself, so that printing and parsing again gives the same tree.
class GrammarBuilder {
 public:
  using Node = Grammar::Node;

  Node Text(std::string bytes);
  Node Chars(CodePointSet chars);
  Node Sequence(const std::vector<Node>& parts);
  Node Choice(const std::vector<Node>& parts);
  Node Never() { return Choice({}); }
  // REQUIRES: least <= most.
  Node Repeat(Node part, std::uint32_t least, std::uint32_t most);
  Node Rule(std::uint32_t rule);
  Node Token(TokenTerminal token);
  Node TextStart();
  Node TextEnd();

  // Rules get numbers in the order of the calls; the body may come later.
  std::uint32_t AddRule(std::string name);
  void SetBody(std::uint32_t rule, Node body) { grammar_.rules_[rule].body = body; }

  const GrammarNode& node(Node node) const { return grammar_.nodes_[node]; }
  std::size_t n_nodes() const { return grammar_.nodes_.size(); }
  Grammar Build() && { return std::move(grammar_); }

  // For rules that were used before they had a place: the grammar of `names` in this order, where
  // rule(name) gives the number that Rule() was called with, and the body.
  template <typename RuleOf>
  Grammar Renumbered(const std::vector<std::string>& names, RuleOf rule_of) && {
    std::vector<std::uint32_t> to(names.size());
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      const auto [id, body] = rule_of(names[i]);
      grammar_.rules_.push_back({names[i], body});
      to[id] = i;
    }
    for (GrammarNode& node : grammar_.nodes_) {
      if (node.kind == GrammarNode::Kind::kRule) node.rule = to[node.rule];
    }
    return std::move(grammar_);
  }

 private:
  Node Add(GrammarNode node);
  Grammar grammar_;
};

}  // namespace adjudge
