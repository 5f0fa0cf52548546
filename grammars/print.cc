// Grammars as text again.
#include <cstdio>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/utf8.h"
#include "grammars/ebnf.h"

namespace adjudge {
namespace {

using Kind = GrammarNode::Kind;

void AppendEscaped(char32_t code, std::string_view escaped, std::string& out) {
  char buffer[16];
  if (code == '\n') {
    out += "\\n";
  } else if (code == '\r') {
    out += "\\r";
  } else if (code == '\t') {
    out += "\\t";
  } else if (code < 0x80 && escaped.find(static_cast<char>(code)) != std::string_view::npos) {
    out += '\\';
    out += static_cast<char>(code);
  } else if (code < 0x20 || code == 0x7F) {
    std::snprintf(buffer, sizeof(buffer), "\\x%02X", static_cast<unsigned>(code));
    out += buffer;
  } else if (code >= 0x80 && code < 0xA0) {
    std::snprintf(buffer, sizeof(buffer), "\\u%04X", static_cast<unsigned>(code));
    out += buffer;
  } else if (code >= 0x80 && IsUnicodeSpace(code)) {
    std::snprintf(buffer, sizeof(buffer), "\\u%04X", static_cast<unsigned>(code));
    out += buffer;
  } else {
    AppendUtf8(code, out);
  }
}

class Printer {
 public:
  explicit Printer(const Grammar& grammar) : grammar_(grammar) {}

  std::string Print() {
    for (const GrammarRule& rule : grammar_.rules()) {
      out_ += rule.name + " ::= ";
      Node(rule.body, Around::kNothing);
      out_ += '\n';
    }
    return std::move(out_);
  }

 private:
  // What stands around a node, and so what needs parentheses.
  enum class Around { kNothing, kChoice, kSequence, kRepeat };

  void Node(Grammar::Node id, Around around) {
    const GrammarNode& node = grammar_.node(id);
    switch (node.kind) {
      case Kind::kText:
        return Text(node.text);
      case Kind::kChars:
        return Chars(node.chars);
      case Kind::kSequence:
        return Joined(node, " ", Around::kSequence, around >= Around::kSequence);
      case Kind::kChoice:
        if (node.children.empty()) {
          out_ += "[]";
          return;
        }
        return Joined(node, " | ", Around::kChoice, around != Around::kNothing);
      case Kind::kRepeat:
        return Repeat(node, around == Around::kRepeat);
      case Kind::kRule:
        out_ += grammar_.rules()[node.rule].name;
        return;
      case Kind::kToken:
        return Token(node.token);
      case Kind::kTextStart:
      case Kind::kTextEnd:
        ADJUDGE_CHECK_MSG(false, "a regex's anchor has no spelling in a grammar");
    }
  }

  void Joined(const GrammarNode& node, const char* between, Around inside, bool parentheses) {
    if (parentheses) out_ += '(';
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (i > 0) out_ += between;
      Node(node.children[i], inside);
    }
    if (parentheses) out_ += ')';
  }

  void Text(const std::string& text) {
    out_ += '"';
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = Utf8Length(text[at]);
      AppendEscaped(DecodeUtf8(text.data() + at, length), "\"\\", out_);
      at += length;
    }
    out_ += '"';
  }

  void Chars(const CodePointSet& chars) {
    if (chars == CodePointSet::All()) {
      out_ += '.';
      return;
    }
    const CodePointSet rest = chars.Complement();
    const bool negated = chars.ranges().back().last == kLastCodePoint;
    out_ += negated ? "[^" : "[";
    for (const auto& range : (negated ? rest : chars).ranges()) {
      AppendEscaped(range.first, "]\\^-[#", out_);
      if (range.last == range.first) continue;
      if (range.last > range.first + 1) out_ += '-';
      AppendEscaped(range.last, "]\\^-[#", out_);
    }
    out_ += ']';
  }

  void Repeat(const GrammarNode& node, bool parentheses) {
    if (parentheses) out_ += '(';
    Node(node.children[0], Around::kRepeat);
    if (node.least == 0 && node.most == 1) {
      out_ += '?';
    } else if (node.least <= 1 && node.most == kUnbounded) {
      out_ += node.least == 0 ? '*' : '+';
    } else {
      out_ += '{' + std::to_string(node.least);
      if (node.most != node.least) out_ += ',';
      if (node.most != node.least && node.most != kUnbounded) out_ += std::to_string(node.most);
      out_ += '}';
    }
    if (parentheses) out_ += ')';
  }

  void Token(const TokenTerminal& token) {
    if (token.negated) out_ += '!';
    out_ += token.names.empty() ? "<[" + std::to_string(token.ids[0]) + "]>"
                                : "<" + token.names[0] + ">";
  }

  const Grammar& grammar_;
  std::string out_;
};

}  // namespace

std::string PrintGrammar(const Grammar& grammar) { return Printer(grammar).Print(); }

std::vector<std::string> UnusedRules(const Grammar& grammar) {
  std::vector<bool> used(grammar.rules().size());
  std::vector<Grammar::Node> open;
  const auto use = [&](std::uint32_t rule) {
    if (used[rule]) return;
    used[rule] = true;
    open.push_back(grammar.rules()[rule].body);
  };
  use(0);
  while (!open.empty()) {
    const GrammarNode& node = grammar.node(open.back());
    open.pop_back();
    open.insert(open.end(), node.children.begin(), node.children.end());
    if (node.kind == Kind::kRule) use(node.rule);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) names.push_back(grammar.rules()[i].name);
  }
  return names;
}

}  // namespace adjudge
