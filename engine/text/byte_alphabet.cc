#include "engine/text/byte_alphabet.h"

#include <array>

#include "engine/base/utf8.h"

namespace adjudge {
namespace {

struct Alphabet {
  std::array<std::string, 256> letters;
  std::array<int, 0x180> bytes;  // by code point; -1 where not a letter

  Alphabet() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
      const char32_t code = printable ? byte : next++;
      AppendUtf8(code, letters[byte]);
      bytes[code] = static_cast<int>(byte);
    }
  }
};

const Alphabet& TheAlphabet() {
  static const Alphabet alphabet;
  return alphabet;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view ByteToLetter(unsigned char byte) { return TheAlphabet().letters[byte]; }

std::optional<std::string> LettersToBytes(std::string_view letters) {
  const Alphabet& alphabet = TheAlphabet();
  std::string out;
  for (std::size_t i = 0; i < letters.size();) {
    const std::size_t length = Utf8Length(letters[i]);
    const char32_t code = DecodeUtf8(letters.data() + i, length);
    if (code >= alphabet.bytes.size() || alphabet.bytes[code] < 0) return std::nullopt;
    out.push_back(static_cast<char>(alphabet.bytes[code]));
    i += length;
  }
  return out;
}

std::optional<unsigned char> ParseBytePiece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return std::nullopt;
  const int high = HexDigit(piece[3]);
  const int low = HexDigit(piece[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<unsigned char>(high * 16 + low);
}

}  // namespace adjudge
