// Unicode normalization form C.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace adjudge {

// True when `text` is in NFC for certain, by a glance at its bytes.
bool IsSurelyNfc(std::string_view text);

// `text` (valid UTF-8) in form C, in time linear in its length but for the sort of a run of
// combining marks.
Result<std::string> ToNfc(std::string_view text);

}  // namespace adjudge
