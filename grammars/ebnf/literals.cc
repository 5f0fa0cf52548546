#include "grammars/ebnf/literals.h"

#include <optional>

#include "engine/base/utf8.h"

namespace adjudge {
namespace {

using Fault = tl::unexpected<LiteralFault>;

std::optional<char32_t> Hex(std::string_view text, std::size_t& at, std::size_t least,
                            std::size_t most) {
  char32_t value = 0;
  std::size_t n = 0;
  for (; n < most && at < text.size(); ++n, ++at) {
    const char c = text[at];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) break;
    value = value * 16 + static_cast<char32_t>(digit);
  }
  if (n < least) return std::nullopt;
  return value;
}

// One character at `at`, which moves behind it.
tl::expected<char32_t, LiteralFault> ReadChar(std::string_view text, std::size_t& at) {
  const std::size_t begin = at;
  if (text[at] != '\\') {
    const std::size_t length = Utf8Length(text[at]);
    at += length;
    return DecodeUtf8(text.data() + begin, length);
  }
  const char letter = text[begin + 1];
  at += 2;
  std::optional<char32_t> code;
  switch (letter) {
    case 'n':
      return U'\n';
    case 'r':
      return U'\r';
    case 't':
      return U'\t';
    case 'x':
      code = Hex(text, at, 2, 2);
      break;
    case 'u':
      code = Hex(text, at, 4, 4);
      break;
    case 'U':
      code = Hex(text, at, 8, 8);
      break;
    default:
      if (letter > ' ' && letter < 0x7F && !((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z') &&
          !(letter >= '0' && letter <= '9')) {
        return static_cast<char32_t>(letter);
      }
      return Fault({begin, "no escape \"" + std::string(text.substr(begin, 2)) + "\" is known"});
  }
  if (!code) {
    return Fault({begin, std::string("expected ") +
                             (letter == 'x'   ? "2"
                              : letter == 'u' ? "4"
                                              : "8") +
                             " hex digits after \"\\" + letter + "\""});
  }
  if (*code > kLastCodePoint || (*code >= 0xD800 && *code <= 0xDFFF)) {
    return Fault({begin, "expected a character up to U+10FFFF that is no surrogate, found \"" +
                             std::string(text.substr(begin, at - begin)) + "\""});
  }
  return *code;
}

}  // namespace

tl::expected<std::string, LiteralFault> ReadLiteral(std::string_view inside) {
  std::string text;
  for (std::size_t at = 0; at < inside.size();) {
    const auto code = ReadChar(inside, at);
    if (!code) return tl::unexpected<LiteralFault>(code.error());
    AppendUtf8(*code, text);
  }
  return text;
}

tl::expected<CodePointSet, LiteralFault> ReadClass(std::string_view inside) {
  CodePointSet set;
  std::size_t at = 0;
  const bool negated = inside.starts_with("^");
  if (negated) ++at;
  const auto read = [&]() -> tl::expected<char32_t, LiteralFault> {
    // #x41 is a character where hex digits follow.
    if (inside.substr(at).starts_with("#x")) {
      std::size_t behind = at + 2;
      const auto code = Hex(inside, behind, 1, 6);
      if (code && *code <= kLastCodePoint && (*code < 0xD800 || *code > 0xDFFF)) {
        at = behind;
        return *code;
      }
    }
    return ReadChar(inside, at);
  };
  while (at < inside.size()) {
    const std::size_t begin = at;
    const auto first = read();
    if (!first) return tl::unexpected<LiteralFault>(first.error());
    char32_t last = *first;
    if (at + 1 < inside.size() && inside[at] == '-') {
      ++at;
      const auto read_last = read();
      if (!read_last) return tl::unexpected<LiteralFault>(read_last.error());
      last = *read_last;
    }
    if (last < *first) {
      return Fault({begin, "expected a range from low to high, found \"" +
                               std::string(inside.substr(begin, at - begin)) + "\""});
    }
    set.Add(*first, last);
  }
  return negated ? set.Complement() : set;
}

}  // namespace adjudge
