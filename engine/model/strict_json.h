// JSON from model files, read without surprises.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/base/result.h"

namespace adjudge {

struct StrictJsonLimits {
  std::size_t max_depth = 32;
  std::size_t max_values = 1 << 20;  // scalars, arrays and objects, keys not counted
};

// The value of `text`. Refused: what CheckJson refuses, with its places. Values are counted before
// any are built, so that a bad file eats no memory.
Result<nlohmann::json> ParseStrictJson(std::string_view text, const StrictJsonLimits& limits = {});

}  // namespace adjudge
