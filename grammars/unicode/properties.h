// Sets of characters by Unicode property.
#pragma once

#include <optional>
#include <string_view>

#include "grammars/code_point_set.h"

namespace adjudge {

// What stands between the braces of \p{..}: a general category by short or long name ("L", "Lu",
// "Letter", "General_Category=Lu", "gc=Lu"), or Any, ASCII, Assigned, White_Space. Nothing for a
// name that is not known.
std::optional<CodePointSet> UnicodeProperty(std::string_view name);

// ECMAScript's white space and line terminators: \s.
CodePointSet RegexSpaces();

}  // namespace adjudge
