// JSON files of a model folder, parsed with limits, and looked into without exceptions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace adjudge {

// Errors: those of CheckJson; kLimit for more than 64 levels of nesting or 2^24 values.
Result<nlohmann::json> ParseJsonText(std::string_view text);

// The member of an object; a null value when `value` is no object or has no such member.
const nlohmann::json& Member(const nlohmann::json& value, std::string_view name);

// "true" or "false" members; `fallback` when absent or null. Errors: another type, with `place`.
Result<bool> BoolMember(const nlohmann::json& value, std::string_view name, bool fallback,
                        const std::string& place);

// The string member "type", or "" when there is none.
std::string TypeOf(const nlohmann::json& value);

// `value` as JSON text, cut to what fits an error message.
std::string Shown(const nlohmann::json& value);

}  // namespace adjudge
