// Which tokens are made of a class of characters alone: one look at two bytes a token, many tokens
// an instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace adjudge {

enum class MaskIsa { kScalar, kAvx2, kAvx512 };

// The best of the machine, or kScalar in a scalar build.
MaskIsa BestMaskIsa();

// Sets bit i % 32 of words[i / 32] to whether signatures[i] has no bit of `refused` and lengths[i]
// is at most `room`, for all i < 32 * words.size().
//
// REQUIRES: both arrays have 64 * ceil(words.size() / 2) entries.
void FillClassMask(MaskIsa isa, const std::uint8_t* signatures, const std::uint8_t* lengths,
                   std::uint8_t refused, std::uint8_t room, std::span<std::uint32_t> words);

}  // namespace adjudge
