#include "engine/model/strict_json.h"

#include <limits>

#include "engine/json_check.h"

namespace adjudge {

Result<nlohmann::json> ParseStrictJson(std::string_view text, const StrictJsonLimits& limits) {
  ADJUDGE_RETURN_IF_ERROR(CheckJson(text, {.max_bytes = std::numeric_limits<std::size_t>::max(),
                                           .max_depth = limits.max_depth,
                                           .max_values = limits.max_values}));
  nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return Fail(ErrorCode::kMalformed, "not JSON");
  return value;
}

}  // namespace adjudge
