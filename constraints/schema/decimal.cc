#include "constraints/schema/decimal.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <utility>

#include "engine/base/check.h"

namespace adjudge::schema {
namespace {

using Integer = boost::multiprecision::cpp_int;

constexpr std::int64_t kExponentLimit = 1'000'000'000'000'000;
constexpr std::int64_t kMaxDigits = 4'000;

Integer ToInteger(const std::string& digits) {
  return digits.empty() ? Integer(0) : Integer(digits);
}

Integer PowerOfTen(std::int64_t n) {
  return boost::multiprecision::pow(Integer(10), static_cast<unsigned>(n));
}

// `value` x 10^-scale, an integer. REQUIRES: scale <= the exponent.
Integer Scaled(const Decimal& value, std::int64_t scale) {
  Integer result = ToInteger(value.digits());
  if (!value.is_zero()) result *= PowerOfTen(value.exponent() - scale);
  return value.is_negative() ? Integer(-result) : result;
}

Decimal FromInteger(const Integer& value, std::int64_t exponent) {
  const Integer magnitude = value < 0 ? Integer(-value) : value;
  return Decimal::FromDigits(value < 0, magnitude.str(), exponent);
}

// A common exponent, unless the numbers become too long at it.
std::optional<std::int64_t> CommonScale(const Decimal& a, const Decimal& b) {
  if (a.is_zero()) return b.exponent();
  if (b.is_zero()) return a.exponent();
  const std::int64_t scale = std::min(a.exponent(), b.exponent());
  if (a.magnitude() - scale > kMaxDigits || b.magnitude() - scale > kMaxDigits) return {};
  return scale;
}

}  // namespace

Decimal::Decimal(std::int64_t value) { *this = FromInteger(Integer(value), 0); }

Decimal Decimal::FromDigits(bool negative, std::string_view digits, std::int64_t exponent) {
  Decimal result;
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string_view::npos) return result;
  const std::size_t last = digits.find_last_not_of('0');
  result.negative_ = negative;
  result.digits_ = digits.substr(first, last - first + 1);
  result.exponent_ = exponent + static_cast<std::int64_t>(digits.size() - 1 - last);
  return result;
}

std::optional<Decimal> Decimal::Parse(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  std::string digits;
  std::int64_t exponent = 0;
  std::size_t i = 0;
  const auto is_digit = [&] { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  while (is_digit()) digits.push_back(text[i++]);
  if (digits.empty()) return {};
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (!is_digit()) return {};
    for (; is_digit(); --exponent) digits.push_back(text[i++]);
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    const bool minus = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (!is_digit()) return {};
    std::int64_t shift = 0;
    for (; is_digit(); ++i) shift = std::min(shift * 10 + (text[i] - '0'), kExponentLimit);
    exponent += minus ? -shift : shift;
  }
  if (i != text.size()) return {};
  return FromDigits(negative, digits, exponent);
}

Decimal Decimal::operator-() const {
  Decimal result = *this;
  result.negative_ = !negative_ && !is_zero();
  return result;
}

Decimal Decimal::Abs() const { return negative_ ? -*this : *this; }

std::string Decimal::ToPlain() const {
  if (is_zero()) return "0";
  std::string text = digits_;
  if (exponent_ >= 0) {
    text.append(static_cast<std::size_t>(exponent_), '0');
  } else {
    const auto decimals = static_cast<std::size_t>(-exponent_);
    if (text.size() <= decimals) text.insert(0, decimals + 1 - text.size(), '0');
    text.insert(text.size() - decimals, 1, '.');
  }
  return negative_ ? "-" + text : text;
}

std::string Decimal::ToText() const {
  if (is_zero() || (exponent_ <= 20 && magnitude() >= -20)) return ToPlain();
  return (negative_ ? "-" : "") + digits_ + "e" + std::to_string(exponent_);
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  const auto sign = [](const Decimal& d) { return d.is_zero() ? 0 : d.negative_ ? -1 : 1; };
  if (sign(a) != sign(b)) return sign(a) <=> sign(b);
  if (sign(a) == 0) return std::strong_ordering::equal;
  auto magnitude = a.magnitude() <=> b.magnitude();
  if (magnitude == 0) magnitude = a.digits_.compare(b.digits_) <=> 0;  // shorter = zeros follow
  return sign(a) > 0 ? magnitude : 0 <=> magnitude;
}

bool IsMultiple(const Decimal& value, const Decimal& step) {
  ADJUDGE_CHECK(!step.is_zero() && !step.is_negative());
  if (value.is_zero()) return true;
  const Integer divisor = ToInteger(step.digits());
  const std::int64_t shift = value.exponent() - step.exponent();
  if (shift < 0) {
    // digits(value) ends in no zero, so it is no multiple of 10^-shift.
    return false;
  }
  const Integer rest = boost::multiprecision::powm(Integer(10), Integer(shift), divisor);
  return (ToInteger(value.digits()) * rest) % divisor == 0;
}

std::optional<Decimal> NextMultiple(const Decimal& value, const Decimal& step, bool above) {
  const auto scale = CommonScale(value, step);
  if (!scale) return {};
  const Integer x = Scaled(value, *scale);
  const Integer m = Scaled(step, *scale);
  Integer k = x / m;  // truncates towards zero
  if (k * m < x) ++k;
  if (above && k * m == x) ++k;
  return FromInteger(k * m, *scale);
}

std::optional<Decimal> LeastCommonMultiple(const Decimal& a, const Decimal& b) {
  const auto scale = CommonScale(a, b);
  if (!scale) return {};
  return FromInteger(boost::multiprecision::lcm(Scaled(a, *scale), Scaled(b, *scale)), *scale);
}

std::optional<Decimal> Add(const Decimal& a, const Decimal& b) {
  const auto scale = CommonScale(a, b);
  if (!scale) return {};
  return FromInteger(Scaled(a, *scale) + Scaled(b, *scale), *scale);
}

std::optional<std::int64_t> LeastShift(const Decimal& value, const Decimal& step) {
  // value x 10^k / step = d x 10^(k + shift) / s, with d and s free of factors ten at their ends.
  const Integer d = ToInteger(value.digits());
  Integer s = ToInteger(step.digits());
  s /= boost::multiprecision::gcd(d, s);
  std::int64_t needed = 0;
  for (const int prime : {2, 5}) {
    std::int64_t power = 0;
    for (; s % prime == 0; s /= prime) ++power;
    needed = std::max(needed, power);
  }
  if (s != 1) return {};
  return step.exponent() - value.exponent() + needed;
}

}  // namespace adjudge::schema
