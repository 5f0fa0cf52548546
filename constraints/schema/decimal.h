// Decimal: a number exactly as JSON writes it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace adjudge::schema {

// (-1)^negative x digits x 10^exponent. Normal form: `digits` without zeros at either end, and zero
// is no digits, exponent 0, not negative; so equal values are equal members. A value.
class Decimal {
 public:
  Decimal() = default;          // 0
  Decimal(std::int64_t value);  // NOLINT: numbers are decimals

  // Any JSON number, and also leading zeros. `exponent` of the text is held at +-10^15, where no
  // text that fits in memory can tell the difference. nullopt: not a number.
  static std::optional<Decimal> Parse(std::string_view text);
  static Decimal FromDigits(bool negative, std::string_view digits, std::int64_t exponent);

  bool is_zero() const { return digits_.empty(); }
  bool is_negative() const { return negative_; }
  bool is_integer() const { return exponent_ >= 0; }
  const std::string& digits() const { return digits_; }
  std::int64_t exponent() const { return exponent_; }
  // Decimal exponent of the leading digit: 5 -> 0, 50 -> 1, 0.5 -> -1. REQUIRES: not zero.
  std::int64_t magnitude() const {
    return exponent_ + static_cast<std::int64_t>(digits_.size()) - 1;
  }

  Decimal operator-() const;
  Decimal Abs() const;
  // The shortest plain spelling without exponent, as JSON; long for great exponents.
  std::string ToPlain() const;
  // A JSON spelling that is never much longer than digits(): plain where short.
  std::string ToText() const;

  friend bool operator==(const Decimal&, const Decimal&) = default;
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);

 private:
  bool negative_ = false;
  std::string digits_;
  std::int64_t exponent_ = 0;
};

// value = k x step for an integer k. REQUIRES: step > 0. Exact for all exponents.
bool IsMultiple(const Decimal& value, const Decimal& step);
// The smallest multiple of step that is >= value, or > value if `above`. REQUIRES: step > 0.
// nullopt where the numbers involved would have more than 4,000 digits.
std::optional<Decimal> NextMultiple(const Decimal& value, const Decimal& step, bool above);
// The least common multiple. REQUIRES: both > 0. nullopt as above.
std::optional<Decimal> LeastCommonMultiple(const Decimal& a, const Decimal& b);
// a + b; nullopt as above.
std::optional<Decimal> Add(const Decimal& a, const Decimal& b);
// The least k such that value x 10^k is a multiple of step (and so for every greater k); nullopt if
// there is none. REQUIRES: value not zero, step > 0.
std::optional<std::int64_t> LeastShift(const Decimal& value, const Decimal& step);

}  // namespace adjudge::schema
