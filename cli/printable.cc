#include "cli/printable.h"

#include <utf8proc.h>

#include <cstdio>

namespace adjudge::cli {
namespace {

struct Character {
  utf8proc_int32_t code = -1;  // -1: not UTF-8
  std::size_t bytes = 1;
};

// The character that begins at `at`.
Character Next(std::string_view text, std::size_t at) {
  Character character;
  const auto* data = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  const utf8proc_ssize_t n =
      utf8proc_iterate(data, static_cast<utf8proc_ssize_t>(text.size() - at), &character.code);
  if (n > 0) {
    character.bytes = static_cast<std::size_t>(n);
  } else {
    character.code = -1;
  }
  return character;
}

bool IsPlain(utf8proc_int32_t code) {
  if (code == 0x200d || code == 0xfe0f) return true;  // inside emoji
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

std::string Escape(utf8proc_int32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      break;
  }
  char text[16];
  std::snprintf(text, sizeof text, code < 0x80 ? "\\x%02x" : "\\u{%x}",
                static_cast<unsigned>(code));
  return text;
}

std::string EscapeByte(char byte) {
  char text[8];
  std::snprintf(text, sizeof text, "\\x%02x",
                static_cast<unsigned>(static_cast<unsigned char>(byte)));
  return text;
}

}  // namespace

std::string Printable(std::string_view bytes, KeepLines keep_lines) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const Character character = Next(bytes, at);
    const bool kept =
        keep_lines == KeepLines::kYes && (character.code == '\n' || character.code == '\t');
    if (character.code < 0) {
      out += EscapeByte(bytes[at]);
    } else if (kept || IsPlain(character.code)) {
      out += bytes.substr(at, character.bytes);
    } else {
      out += Escape(character.code);
    }
    at += character.bytes;
  }
  return out;
}

int DisplayWidth(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = Next(text, at);
    width += character.code < 0 ? 1 : utf8proc_charwidth(character.code);
    at += character.bytes;
  }
  return width;
}

std::string Column(std::string_view text, int width) {
  std::string out;
  int used = 0;
  const bool cut = DisplayWidth(text) > width;
  const int room = cut ? width - 3 : width;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = Next(text, at);
    const int columns = character.code < 0 ? 1 : utf8proc_charwidth(character.code);
    if (used + columns > room) break;
    out += text.substr(at, character.bytes);
    used += columns;
    at += character.bytes;
  }
  if (cut) {
    out += "...";
    used += 3;
  }
  if (used < width) out.append(static_cast<std::size_t>(width - used), ' ');
  return out;
}

std::size_t FirstInvalidUtf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const Character character = Next(bytes, at);
    if (character.code < 0) return at;
    at += character.bytes;
  }
  return std::string_view::npos;
}

}  // namespace adjudge::cli
