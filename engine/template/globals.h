// The functions that every template finds: range, namespace, raise_exception ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/template/arguments.h"
#include "engine/template/budget.h"
#include "engine/template/value.h"

namespace adjudge::jinja {

// The global of that name; absent where there is none.
std::optional<Value> FindGlobal(std::string_view name);
// REQUIRES: function is one that FindGlobal gave.
Result<Value> CallGlobal(const Value& function, const Arguments& arguments,
                         std::int64_t now_unix_seconds, Budget& budget);

// strftime of the C locale, UTC. An unknown code is refused by name.
Result<std::string> FormatTime(std::string_view format, std::int64_t unix_seconds);

}  // namespace adjudge::jinja
