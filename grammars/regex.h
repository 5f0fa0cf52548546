// ParseRegex: the text of an ECMAScript regular expression -> Grammar.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/base/result.h"
#include "grammars/grammar.h"

namespace adjudge {

struct RegexLimits {
  std::size_t max_bytes = 1 << 20;
  int max_depth = 250;                     // groups inside groups
  std::uint32_t max_repeat = 100'000'000;  // a number in {m,n}
};

// ECMAScript as under the u flag: characters are code points, \d is [0-9], \w is [A-Za-z0-9_], \s
// the standard's white space, . all but the four line terminators. Written braces and brackets that
// can mean nothing else, a - beside a class escape, and escaped punctuation stand for themselves,
// as without the flag. \p{..} knows general categories, Any, ASCII, Assigned and White_Space.
//
// The grammar has one rule; ^ and $ are its nodes kTextStart and kTextEnd. What is not regular or
// not done is refused (kUnsupported) by name: lookaround, backreferences, \b, flags. The place of
// an error is "offset n" (in bytes).
Result<Grammar> ParseRegex(std::string_view text, const RegexLimits& limits = {});

}  // namespace adjudge
