// Jinja's tests: `value is name`.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/template/arguments.h"
#include "engine/template/budget.h"
#include "engine/template/value.h"

namespace adjudge::jinja {

bool HasTest(std::string_view name);
Result<bool> ApplyTest(std::string_view name, const Value& value, const Arguments& arguments,
                       Budget& budget);

}  // namespace adjudge::jinja
