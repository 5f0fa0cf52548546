// Filters that make numbers.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "engine/template/filters.h"
#include "engine/template/numbers.h"
#include "engine/template/operators.h"

namespace adjudge::jinja {
namespace {

// int(real); absent for a NaN or an infinity.
Result<std::optional<std::int64_t>> Truncated(double real) {
  if (!std::isfinite(real)) return std::nullopt;
  if (std::abs(real) >= 9223372036854775808.0) {
    return Refuse("an integer that does not fit in 64 bits");
  }
  return static_cast<std::int64_t>(real);
}

Result<Value> FilterInt(const Value& value, const Arguments& arguments, Budget&) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind("int", arguments, {"default", "base"}));
  const Value otherwise = bound[0].is_missing() ? Value::Int(0, true) : bound[0];
  if (value.is_undefined()) return UndefinedError(value);
  if (value.is_int()) return Value::Int(value.integer(), value.trusted());
  std::optional<std::int64_t> read;
  if (value.is(Kind::kFloat)) {
    if (std::isinf(value.real())) {
      return Raise("OverflowError", "cannot convert float infinity to integer");
    }
    ADJUDGE_ASSIGN_OR_RETURN(read, Truncated(value.real()));
    return read ? Value::Int(*read, value.trusted()) : otherwise;
  }
  if (!value.is_text()) return otherwise;
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t base, IntArgument("int", bound[1], 10));
  const std::string_view text = value.text().view();
  const bool trusted = value.text().trust.AllTrusted();
  ADJUDGE_ASSIGN_OR_RETURN(read, ReadInt(text, base));
  if (!read) {
    ADJUDGE_ASSIGN_OR_RETURN(const std::optional<double> real, ReadFloat(text));
    if (real) {
      ADJUDGE_ASSIGN_OR_RETURN(read, Truncated(*real));
    }
  }
  return read ? Value::Int(*read, trusted) : otherwise;
}

Result<Value> FilterFloat(const Value& value, const Arguments& arguments, Budget&) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind("float", arguments, {"default"}));
  const Value otherwise = bound[0].is_missing() ? Value::Float(0, true) : bound[0];
  if (value.is_undefined()) return UndefinedError(value);
  if (value.is_number()) return Value::Float(value.real(), value.trusted());
  if (!value.is_text()) return otherwise;
  ADJUDGE_ASSIGN_OR_RETURN(const std::optional<double> read, ReadFloat(value.text().view()));
  return read ? Value::Float(*read, value.text().trust.AllTrusted()) : otherwise;
}

Result<Value> FilterAbs(const Value& value, const Arguments& arguments, Budget&) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind("abs", arguments, {}));
  if (value.is(Kind::kFloat)) return Value::Float(std::abs(value.real()), value.trusted());
  if (value.is_int()) {
    if (value.integer() < 0) return Negate(value);
    return Value::Int(value.integer(), value.trusted());
  }
  return Raise("TypeError", "bad operand type for abs(): '" + std::string(TypeName(value)) + "'");
}

// round(real, precision): correctly rounded in decimal, as printf does it.
Result<Value> RoundFloat(const Value& value, std::int64_t precision) {
  constexpr std::int64_t kMaxDigits = 323;  // past these every double is exact
  if (precision > kMaxDigits || !std::isfinite(value.real())) return value;
  std::array<char, 700> text{};
  std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(precision), value.real());
  return Value::Float(std::strtod(text.data(), nullptr), value.trusted());
}

// ceil or floor of value * 10**precision, over 10**precision.
Result<Value> RoundTowards(const Value& value, std::int64_t precision, bool up, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const Value scale,
                           PowerNumbers(Value::Int(10), Value::Int(precision), value.trusted()));
  ADJUDGE_ASSIGN_OR_RETURN(const Value scaled,
                           Arithmetic(Operator::kMultiply, value, scale, budget));
  Value whole = scaled;
  if (scaled.is(Kind::kFloat)) {
    ADJUDGE_ASSIGN_OR_RETURN(const std::optional<std::int64_t> rounded,
                             Truncated(up ? std::ceil(scaled.real()) : std::floor(scaled.real())));
    if (!rounded) return Raise("ValueError", "cannot convert float NaN or infinity to integer");
    whole = Value::Int(*rounded, scaled.trusted());
  }
  return Arithmetic(Operator::kDivide, whole, scale, budget);
}

Result<Value> FilterRound(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind("round", arguments, {"precision", "method"}));
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t precision, IntArgument("round", bound[0], 0));
  std::string method = "common";
  if (!bound[1].is_missing()) {
    ADJUDGE_ASSIGN_OR_RETURN(const TextPtr name, TextArgument("round", bound[1]));
    method = name->bytes;
  }
  if (method != "common" && method != "ceil" && method != "floor") {
    return Raise("FilterArgumentError", "method must be common, ceil or floor");
  }
  if (!value.is_number()) {
    return Raise("TypeError",
                 "type " + std::string(TypeName(value)) + " doesn't define __round__ method");
  }
  if (method != "common") return RoundTowards(value, precision, method == "ceil", budget);
  if (precision < 0) return Refuse("rounding to tens and more");
  if (value.is_int()) return Value::Int(value.integer(), value.trusted());
  return RoundFloat(value, precision);
}

constexpr FilterEntry kFilters[] = {
    {"int", FilterInt}, {"float", FilterFloat}, {"abs", FilterAbs}, {"round", FilterRound}};

}  // namespace

const FilterEntry* FindNumberFilter(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFilters), std::end(kFilters),
                                   [&](const FilterEntry& entry) { return entry.name == name; });
  return found == std::end(kFilters) ? nullptr : found;
}

}  // namespace adjudge::jinja
