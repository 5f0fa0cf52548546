// The insides of literals and classes in a grammar's text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "grammars/code_point_set.h"

namespace adjudge {

// What is wrong, and at which byte of the text given.
struct LiteralFault {
  std::size_t offset = 0;
  std::string words;
};

// The text between the quotes, escapes replaced. REQUIRES: UTF-8, each backslash with a character.
tl::expected<std::string, LiteralFault> ReadLiteral(std::string_view inside);
// What stands between the brackets.
tl::expected<CodePointSet, LiteralFault> ReadClass(std::string_view inside);

}  // namespace adjudge
