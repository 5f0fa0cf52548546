#include "engine/model/printable_name.h"

namespace adjudge {

std::string PrintableName(std::string_view name) {
  constexpr std::size_t kMaxBytes = 200;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : name.substr(0, kMaxBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  if (name.size() > kMaxBytes) out += "...";
  return out;
}

}  // namespace adjudge
