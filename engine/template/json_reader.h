// JSON text -> Value, as Python's json.loads would give it.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/template/budget.h"
#include "engine/template/value.h"

namespace adjudge::jinja {

// Every string is untrusted. An integer past 64 bits is refused. Errors have place "byte N".
Result<Value> ReadJson(std::string_view json, Budget& budget);

}  // namespace adjudge::jinja
