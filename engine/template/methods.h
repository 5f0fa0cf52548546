// The methods of str, list, tuple, dict and range that templates may call.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/template/arguments.h"
#include "engine/template/budget.h"
#include "engine/template/value.h"

namespace adjudge::jinja {

// Python's type of this kind has the method, whether CallMethod can do it or not.
bool HasMethod(Kind kind, std::string_view name);
// A method that changes its receiver: the sandbox forbids it.
bool IsMutator(Kind kind, std::string_view name);

// A method that Python has and this interpreter does not is refused by name.
Result<Value> CallMethod(const Method& method, const Arguments& arguments, Budget& budget);
// ... of str.
Result<Value> CallTextMethod(const TextPtr& text, std::string_view name, const Arguments& arguments,
                             Budget& budget);

}  // namespace adjudge::jinja
