// The unit that models read and write.
#pragma once

#include <cstdint>

namespace adjudge {

// Index of a token in a Vocabulary. Never negative in a valid sequence; kNoToken marks absence.
using TokenId = std::int32_t;

inline constexpr TokenId kNoToken = -1;

}  // namespace adjudge
