// The slow twin of regexes and grammars: does a whole text belong?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/utf8.h"
#include "grammars/grammar.h"

namespace adjudge::testing {

// Which ends each rule can have from each start, until nothing new is found. Texts of up to 60
// bytes; no token terminals.
class GrammarTwin {
 public:
  explicit GrammarTwin(const Grammar& grammar) : grammar_(grammar) {}

  bool Accepts(const std::string& text) {
    text_ = text;
    ADJUDGE_CHECK(text.size() <= 60);
    const std::size_t n = grammar_.rules().size() * (text.size() + 1);
    ends_.assign(n, 0);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t rule = 0; rule < grammar_.rules().size(); ++rule) {
        for (std::size_t at = 0; at <= text.size(); ++at) {
          const Ends ends = From(grammar_.rules()[rule].body, at);
          changed = changed || ends != Known(rule, at);
          Known(rule, at) = ends;
        }
      }
    }
    return ((Known(0, 0) >> text.size()) & 1U) != 0;
  }

 private:
  using Ends = std::uint64_t;  // bit i: the text up to i

  Ends& Known(std::uint32_t rule, std::size_t at) { return ends_[rule * (text_.size() + 1) + at]; }

  Ends FromAll(Grammar::Node node, Ends starts) {
    Ends ends = 0;
    for (std::size_t i = 0; i <= text_.size(); ++i) {
      if (((starts >> i) & 1U) != 0) ends |= From(node, i);
    }
    return ends;
  }

  Ends From(Grammar::Node id, std::size_t at) {
    const GrammarNode& node = grammar_.node(id);
    const Ends here = Ends{1} << at;
    switch (node.kind) {
      case GrammarNode::Kind::kText:
        return text_.compare(at, node.text.size(), node.text) == 0 ? here << node.text.size() : 0;
      case GrammarNode::Kind::kChars: {
        if (at == text_.size()) return 0;
        const Utf8Step step = NextUtf8(std::string_view(text_).substr(at));
        if (!step.valid) return 0;
        return node.chars.Contains(DecodeUtf8(text_.data() + at, step.length)) ? here << step.length
                                                                               : 0;
      }
      case GrammarNode::Kind::kSequence: {
        Ends ends = here;
        for (const auto child : node.children) ends = FromAll(child, ends);
        return ends;
      }
      case GrammarNode::Kind::kChoice: {
        Ends ends = 0;
        for (const auto child : node.children) ends |= From(child, at);
        return ends;
      }
      case GrammarNode::Kind::kRepeat: {
        Ends ends = 0;
        Ends turn = here;
        for (std::uint64_t i = 0; i <= node.most && i <= node.least + text_.size() + 1; ++i) {
          if (i >= node.least) ends |= turn;
          turn = FromAll(node.children[0], turn);
        }
        return ends;
      }
      case GrammarNode::Kind::kRule:
        return Known(node.rule, at);
      case GrammarNode::Kind::kToken:
        return 0;
      case GrammarNode::Kind::kTextStart:
        return at == 0 ? here : 0;
      case GrammarNode::Kind::kTextEnd:
        return at == text_.size() ? here : 0;
    }
    return 0;
  }

  const Grammar& grammar_;
  std::string text_;
  std::vector<Ends> ends_;
};

}  // namespace adjudge::testing
