#include "engine/template/numbers.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "engine/template/budget.h"
#include "engine/template/unicode.h"

namespace adjudge::jinja {
namespace {

std::string_view StripSpace(std::string_view text) {
  while (!text.empty() && IsSpace(DecodeAt(text, 0).value)) {
    text.remove_prefix(DecodeAt(text, 0).bytes);
  }
  while (!text.empty() && IsSpace(DecodeAt(text, PreviousStart(text, text.size())).value)) {
    text = text.substr(0, PreviousStart(text, text.size()));
  }
  return text;
}

// Python reads decimal digits of every script; this reads ASCII only.
Status CheckDigits(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = DecodeAt(text, i);
    if (point.value >= 0x80 && IsDecimal(point.value)) return Refuse("digits that are not ASCII");
    i += point.bytes;
  }
  return {};
}

bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }

// Takes out single underscores between digits; absent where others stand.
std::optional<std::string> DropUnderscores(std::string_view digits) {
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] != '_') {
      out.push_back(digits[i]);
      continue;
    }
    const auto is_word = [](char c) {
      return c != '_' && std::isalnum(static_cast<unsigned char>(c));
    };
    if (i == 0 || i + 1 == digits.size() || !is_word(digits[i - 1]) || !is_word(digits[i + 1])) {
      return std::nullopt;
    }
  }
  return out;
}

std::string Lowered(std::string_view text) {
  std::string out;
  for (const char c : text) AppendLower(out, static_cast<unsigned char>(c));
  return out;
}

}  // namespace

Result<std::optional<std::int64_t>> ReadInt(std::string_view text, std::int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) {
    return Raise("ValueError", "int() base must be >= 2 and <= 36, or 0");
  }
  ADJUDGE_RETURN_IF_ERROR(CheckDigits(text));
  text = StripSpace(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (base == 0) return Refuse("int() with base 0");
  const std::string prefix = base == 16 ? "0x" : base == 8 ? "0o" : base == 2 ? "0b" : "";
  if (!prefix.empty() && Lowered(text.substr(0, 2)) == prefix) {
    text.remove_prefix(2);
    if (text.starts_with('_')) text.remove_prefix(1);
  }
  const std::optional<std::string> digits = DropUnderscores(text);
  if (!digits || digits->empty() || (*digits)[0] == '-' || (*digits)[0] == '+') return std::nullopt;
  const std::string signed_digits = (negative ? "-" : "") + *digits;
  std::int64_t value = 0;
  const char* end = signed_digits.data() + signed_digits.size();
  const auto read = std::from_chars(signed_digits.data(), end, value, static_cast<int>(base));
  if (read.ptr != end || read.ec == std::errc::invalid_argument) return std::nullopt;
  if (read.ec != std::errc()) return Refuse("an integer that does not fit in 64 bits");
  return value;
}

Result<std::optional<double>> ReadFloat(std::string_view text) {
  ADJUDGE_RETURN_IF_ERROR(CheckDigits(text));
  text = StripSpace(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const double sign = negative ? -1 : 1;
  const std::string word = Lowered(text.substr(0, 9));
  if (word == "inf" || word == "infinity") return sign * std::numeric_limits<double>::infinity();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  const std::optional<std::string> digits = DropUnderscores(text);
  if (!digits || digits->empty() || !(IsAsciiDigit((*digits)[0]) || (*digits)[0] == '.')) {
    return std::nullopt;
  }
  double value = 0;
  const char* end = digits->data() + digits->size();
  const auto read = std::from_chars(digits->data(), end, value);
  if (read.ptr != end || read.ec == std::errc::invalid_argument) return std::nullopt;
  if (read.ec == std::errc::result_out_of_range) {
    // Too large or too small: which, strtod tells.
    value = std::strtod(digits->c_str(), nullptr);
  }
  return sign * value;
}

}  // namespace adjudge::jinja
