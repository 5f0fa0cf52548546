#include "grammars/grammar.h"

#include <utility>

#include "engine/base/check.h"

namespace adjudge {

using Kind = GrammarNode::Kind;

bool operator==(const Grammar& a, const Grammar& b) {
  if (a.rules_.size() != b.rules_.size()) return false;
  std::vector<std::pair<Grammar::Node, Grammar::Node>> open;
  for (std::size_t i = 0; i < a.rules_.size(); ++i) {
    if (a.rules_[i].name != b.rules_[i].name) return false;
    open.emplace_back(a.rules_[i].body, b.rules_[i].body);
  }
  while (!open.empty()) {
    const auto [i, j] = open.back();
    open.pop_back();
    GrammarNode x = a.nodes_[i];
    GrammarNode y = b.nodes_[j];
    if (x.children.size() != y.children.size()) return false;
    for (std::size_t k = 0; k < x.children.size(); ++k) {
      open.emplace_back(x.children[k], y.children[k]);
    }
    x.children.clear();
    y.children.clear();
    if (!(x == y)) return false;
  }
  return true;
}

GrammarBuilder::Node GrammarBuilder::Add(GrammarNode node) {
  grammar_.nodes_.push_back(std::move(node));
  return static_cast<Node>(grammar_.nodes_.size() - 1);
}

GrammarBuilder::Node GrammarBuilder::Text(std::string bytes) {
  return Add({.kind = Kind::kText, .text = std::move(bytes)});
}

GrammarBuilder::Node GrammarBuilder::Chars(CodePointSet chars) {
  if (chars.empty()) return Never();
  return Add({.kind = Kind::kChars, .chars = std::move(chars)});
}

GrammarBuilder::Node GrammarBuilder::Sequence(const std::vector<Node>& parts) {
  std::vector<Node> flat;
  std::string text;             // of the texts side by side
  std::vector<Node> text_from;  // the nodes that they are
  const auto flush = [&] {
    if (text_from.size() == 1) flat.push_back(text_from[0]);
    if (text_from.size() > 1) flat.push_back(Text(text));
    text.clear();
    text_from.clear();
  };
  const auto take = [&](Node part) {
    const GrammarNode& node = grammar_.nodes_[part];
    if (node.kind != Kind::kText) {
      flush();
      flat.push_back(part);
    } else if (!node.text.empty()) {
      text += node.text;
      text_from.push_back(part);
    }
  };
  for (const Node part : parts) {
    if (grammar_.nodes_[part].kind != Kind::kSequence) {
      take(part);
      continue;
    }
    for (const Node inner : std::vector<Node>(grammar_.nodes_[part].children)) take(inner);
  }
  flush();
  if (flat.empty()) return Text("");
  if (flat.size() == 1) return flat[0];
  return Add({.kind = Kind::kSequence, .children = std::move(flat)});
}

GrammarBuilder::Node GrammarBuilder::Choice(const std::vector<Node>& parts) {
  std::vector<Node> flat;
  for (const Node part : parts) {
    const GrammarNode& node = grammar_.nodes_[part];
    if (node.kind == Kind::kChoice) {
      flat.insert(flat.end(), node.children.begin(), node.children.end());
    } else {
      flat.push_back(part);
    }
  }
  if (flat.size() == 1) return flat[0];
  return Add({.kind = Kind::kChoice, .children = std::move(flat)});
}

GrammarBuilder::Node GrammarBuilder::Repeat(Node part, std::uint32_t least, std::uint32_t most) {
  ADJUDGE_CHECK(least <= most);
  if (most == 0) return Text("");
  if (least == 1 && most == 1) return part;
  return Add({.kind = Kind::kRepeat, .children = {part}, .least = least, .most = most});
}

GrammarBuilder::Node GrammarBuilder::Rule(std::uint32_t rule) {
  return Add({.kind = Kind::kRule, .rule = rule});
}

GrammarBuilder::Node GrammarBuilder::Token(TokenTerminal token) {
  return Add({.kind = Kind::kToken, .token = std::move(token)});
}

GrammarBuilder::Node GrammarBuilder::TextStart() { return Add({.kind = Kind::kTextStart}); }
GrammarBuilder::Node GrammarBuilder::TextEnd() { return Add({.kind = Kind::kTextEnd}); }

std::uint32_t GrammarBuilder::AddRule(std::string name) {
  grammar_.rules_.push_back({std::move(name), 0});
  return static_cast<std::uint32_t>(grammar_.rules_.size() - 1);
}

}  // namespace adjudge
