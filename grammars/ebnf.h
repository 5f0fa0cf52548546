// ParseGrammar: the text of a grammar in EBNF -> Grammar.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "grammars/grammar.h"

namespace adjudge {

struct GrammarLimits {
  std::size_t max_bytes = std::size_t{4} << 20;
  int max_depth = 200;  // groups inside groups
  std::size_t max_rules = 100'000;
  std::uint32_t max_repeat = 100'000'000;  // a number in {m,n}
};

// GBNF, and of the W3C's and ISO's notations what does not collide with it:
//
//   name ::= ...      also = and :=, and an ending ;
//   "text" 'text'     with \n \r \t \" \' \\ \[ \] \- \^ \xHH \uHHHH \UHHHHHHHH
//   [a-z_] [^"\\]     characters; #x41 is one, in a class too; [^] is any, . as well
//   a b | c           one after another (a comma may stand between); or
//   ( ) * + ? {3} {1,} {0,5}    {,5} too; { a } is as often as one likes
//   <name> <[1000]> !<name>     one token of the vocabulary, by name or id; any but that
//   # comment         /* comment */ and (* comment *)
//
// A rule ends where the next begins; line ends mean nothing. The root is the rule "root", else the
// first. Errors have the place "line l, column c", the piece found and what was expected: syntax, a
// rule defined twice or not at all, limits.
Result<Grammar> ParseGrammar(std::string_view text, const GrammarLimits& limits = {});

// The grammar as GBNF; parsing it again gives the same grammar. REQUIRES: no ^ or $ of a regex.
std::string PrintGrammar(const Grammar& grammar);

// Names of the rules that the root does not need.
std::vector<std::string> UnusedRules(const Grammar& grammar);

}  // namespace adjudge
