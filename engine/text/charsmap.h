// The precompiled normaliser of SentencePiece models, checked before the library walks it.
#pragma once

#include <string_view>

#include "engine/base/result.h"

namespace adjudge {

// A charsmap is a little-endian u32 n, a trie of n bytes (a double array of u32 units), and
// NUL-ended replacement strings that the trie's values index. The library follows its links without
// a check; this refuses one whose links leave the table or run in a circle, or whose values point
// past the strings or to a string of more than 256 bytes. Empty is well formed.
Status CheckCharsmap(std::string_view charsmap);

}  // namespace adjudge
