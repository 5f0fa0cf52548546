// The alphabet in which byte-level vocabularies write bytes: printable Latin-1 characters stand for
// themselves, the other bytes for U+0100 onwards.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace adjudge {

// The UTF-8 character that stands for `byte`.
std::string_view ByteToLetter(unsigned char byte);

// The bytes that `letters` (valid UTF-8) stand for, or nullopt when a character is not a letter of
// the alphabet.
std::optional<std::string> LettersToBytes(std::string_view letters);

// The byte of a byte-fallback piece "<0xHH>", two capital hexadecimal digits.
std::optional<unsigned char> ParseBytePiece(std::string_view piece);

}  // namespace adjudge
