// Arguments of a call, and their fit to a function's parameters.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/template/value.h"

namespace adjudge::jinja {

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  bool empty() const { return positional.empty() && named.empty(); }
};

// One value for each parameter, missing where not given; the first `required` must be.
Result<std::vector<Value>> Bind(std::string_view callee, const Arguments& arguments,
                                std::initializer_list<std::string_view> parameters,
                                std::size_t required = 0);

// The argument as a Python int, or `otherwise` where it was not given (or is None).
Result<std::int64_t> IntArgument(std::string_view callee, const Value& value,
                                 std::int64_t otherwise);
// The argument as a str. REQUIRES: not missing.
Result<TextPtr> TextArgument(std::string_view callee, const Value& value);

}  // namespace adjudge::jinja
