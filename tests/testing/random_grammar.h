// Small random grammars over a and b and two wider characters.
#pragma once

#include <random>

#include "grammars/grammar.h"

namespace adjudge::testing {

class RandomGrammar {
 public:
  explicit RandomGrammar(std::mt19937& random) : random_(random) {}

  // `anchors` adds a regex's ^ and $, and leaves rules out.
  Grammar Make(std::uint32_t n_rules, bool anchors) {
    anchors_ = anchors;
    n_rules_ = n_rules;
    for (std::uint32_t i = 0; i < n_rules; ++i) {
      builder_.AddRule(i == 0 ? "root" : "r" + std::to_string(i));
    }
    for (std::uint32_t i = 0; i < n_rules; ++i) builder_.SetBody(i, Node(4));
    return std::move(builder_).Build();
  }

 private:
  std::size_t Pick(std::size_t n) { return random_() % n; }

  Grammar::Node Leaf() {
    switch (Pick(anchors_ ? 9 : 8)) {
      case 0:
        return builder_.Text("");
      case 1:
        return builder_.Text("ab");
      case 2:
        return builder_.Chars(CodePointSet('a', 'b'));
      case 3: {
        CodePointSet set('b', 'b');
        set.Add(0xE9);
        return builder_.Chars(set);
      }
      case 4:
        if (!anchors_) return builder_.Rule(static_cast<std::uint32_t>(Pick(n_rules_)));
        return builder_.Chars(CodePointSet('a', 'a').Complement());
      case 5:
        if (!anchors_) return builder_.Rule(static_cast<std::uint32_t>(Pick(n_rules_)));
        return builder_.Text("b");
      case 8:
        return Pick(2) == 0 ? builder_.TextStart() : builder_.TextEnd();
      default:
        return builder_.Text(Pick(2) == 0 ? "a" : "b");
    }
  }

  Grammar::Node Node(int depth) {
    if (depth == 0) return Leaf();
    switch (Pick(6)) {
      case 0:
      case 1: {
        std::vector<Grammar::Node> parts;
        for (std::size_t n = 1 + Pick(3); n > 0; --n) parts.push_back(Node(depth - 1));
        return builder_.Sequence(parts);
      }
      case 2: {
        std::vector<Grammar::Node> parts;
        for (std::size_t n = Pick(12) == 0 ? 0 : 1 + Pick(3); n > 0; --n) {
          parts.push_back(Node(depth - 1));
        }
        return builder_.Choice(parts);
      }
      case 3: {
        static constexpr std::uint32_t kLeast[] = {0, 0, 1, 2, 3, 0, 25};
        static constexpr std::uint32_t kMost[] = {1, kUnbounded, kUnbounded, 2, 5, 30, 27};
        const std::size_t i = Pick(7);
        return builder_.Repeat(Node(depth - 1), kLeast[i], kMost[i]);
      }
      default:
        return Leaf();
    }
  }

  std::mt19937& random_;
  GrammarBuilder builder_;
  bool anchors_ = false;
  std::uint32_t n_rules_ = 1;
};

}  // namespace adjudge::testing
