// Template source -> tokens, with the whitespace rules of trim_blocks and lstrip_blocks applied.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace adjudge::jinja {

struct Token {
  enum class Kind {
    kData,           // text outside of tags
    kVariableBegin,  // {{
    kVariableEnd,
    kBlockBegin,  // {%
    kBlockEnd,
    kName,
    kString,
    kInteger,
    kFloat,
    kOperator,
    kEnd,
  };
  Kind kind = Kind::kEnd;
  int line = 0;
  std::string text;  // data, name, the string's value, the operator
  std::int64_t integer = 0;
  double real = 0;
};

// "line N"
std::string LinePlace(int line);

// The last token is kEnd. Errors: kMalformed (or kUnsupported) with place "line N".
// REQUIRES: source is valid UTF-8.
Result<std::vector<Token>> Tokenize(std::string_view source);

// The value of a string literal's inside: Python's escapes. The place of an error is the caller's.
Result<std::string> UnescapeString(std::string_view inside);

}  // namespace adjudge::jinja
