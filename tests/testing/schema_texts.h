// Texts judged by a schema's recogniser, byte by byte.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "constraints/json_schema.h"
#include "constraints/schema/json_value.h"

namespace adjudge::testing {

// The whole text is accepted. An error of the recogniser on the way (a spent limit) is given.
Result<bool> AcceptsText(Recognizer& recognizer, std::string_view text);

// JSON with ", " and ": " between tokens, non-ASCII kept, numbers as they are spelt.
std::string SpacedText(const schema::JsonValue& value);

}  // namespace adjudge::testing
