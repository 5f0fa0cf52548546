// CheckJson: whether a text is one JSON value that means the same to every reader.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace adjudge {

struct JsonCheckLimits {
  std::size_t max_bytes = 16 << 20;
  std::size_t max_depth = 64;          // of arrays and objects
  std::size_t max_values = 1'000'000;  // of every kind, members and elements included
};

// Good where the text is JSON with no key twice in one object and nothing behind the value. Builds
// nothing, so it is safe to run before a reader that recurses. Errors: kMalformed with "byte N" or
// the pointer of the repeated key, kLimit.
Status CheckJson(std::string_view text, const JsonCheckLimits& limits = {});

// kMalformed where the text holds a NUL byte, which is never part of JSON but ends it for some
// parsers, so that they would not see what is behind it.
Status CheckNoNul(std::string_view text);

// "/a" + "b/c" -> "/a/b~1c".
std::string JoinPointer(std::string_view parent, std::string_view key);

}  // namespace adjudge
