// What a `pattern` accepts, as a language.
#pragma once

#include <string_view>

#include "constraints/schema/language.h"
#include "engine/base/result.h"

namespace adjudge::schema {

// A pattern's language times a length: `^[a-z]{1,500}$` is [a-z]* of 1 to 500 code points, without
// a state for each.
struct PatternLanguage {
  LanguageId language = LanguagePool::kAll;
  std::uint32_t least = 0;
  std::uint32_t most = kNoBound;
};

// Texts that hold a match of the ECMAScript expression (u flag), or that match as a whole. Errors:
// those of ParseRegex; kLimit where the automaton needs more than max_states states.
Result<PatternLanguage> LanguageOfPattern(LanguagePool& pool, std::string_view pattern, bool whole,
                                          std::size_t max_states);

}  // namespace adjudge::schema
