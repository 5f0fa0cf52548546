// Numbers from texts, as Python's int() and float() read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/result.h"

namespace adjudge::jinja {

// int(text, base); absent where Python raises ValueError, an error where it has over 64 bits.
Result<std::optional<std::int64_t>> ReadInt(std::string_view text, std::int64_t base);
// float(text)
Result<std::optional<double>> ReadFloat(std::string_view text);

}  // namespace adjudge::jinja
