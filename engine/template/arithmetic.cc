// + - * / // % ** on values.
#include <algorithm>
#include <cmath>

#include "engine/template/format.h"
#include "engine/template/operators.h"
#include "engine/template/print.h"

namespace adjudge::jinja {
namespace {

tl::unexpected<Error> Overflow() {
  return Fail(ErrorCode::kUnsupported, "OverflowError: an integer that does not fit in 64 bits");
}

tl::unexpected<Error> BadOperands(Operator op, const Value& left, const Value& right) {
  const std::string spelling = op == Operator::kPower ? "** or pow()" : std::string(Spelling(op));
  return Raise("TypeError", "unsupported operand type(s) for " + spelling + ": '" +
                                std::string(TypeName(left)) + "' and '" +
                                std::string(TypeName(right)) + "'");
}

Result<Value> FloorDivide(std::int64_t a, std::int64_t b, bool modulo, bool trusted) {
  if (b == 0) {
    return Raise("ZeroDivisionError",
                 modulo ? "integer modulo by zero" : "integer division or modulo by zero");
  }
  if (b == -1) {
    if (modulo) return Value::Int(0, trusted);
    if (a == INT64_MIN) return Overflow();
    return Value::Int(-a, trusted);
  }
  const std::int64_t quotient = a / b;
  const std::int64_t rest = a % b;
  const bool down = rest != 0 && (rest < 0) != (b < 0);
  return Value::Int(modulo ? (down ? rest + b : rest) : (down ? quotient - 1 : quotient), trusted);
}

// Correctly rounded where both are exact as doubles, which is nearly always.
double TrueDivide(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (-kExact <= a && a <= kExact && -kExact <= b && b <= kExact) {
    return static_cast<double>(a) / static_cast<double>(b);
  }
  return static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b));
}

Result<Value> IntArithmetic(Operator op, std::int64_t a, std::int64_t b, bool trusted) {
  std::int64_t out = 0;
  bool overflow = false;
  switch (op) {
    case Operator::kAdd:
      overflow = __builtin_add_overflow(a, b, &out);
      break;
    case Operator::kSubtract:
      overflow = __builtin_sub_overflow(a, b, &out);
      break;
    case Operator::kMultiply:
      overflow = __builtin_mul_overflow(a, b, &out);
      break;
    case Operator::kDivide:
      if (b == 0) return Raise("ZeroDivisionError", "division by zero");
      return Value::Float(TrueDivide(a, b), trusted);
    case Operator::kFloorDivide:
      return FloorDivide(a, b, false, trusted);
    case Operator::kModulo:
      return FloorDivide(a, b, true, trusted);
    default:
      return PowerNumbers(Value::Int(a), Value::Int(b), trusted);
  }
  if (overflow) return Overflow();
  return Value::Int(out, trusted);
}

Result<Value> FloatArithmetic(Operator op, double a, double b, bool trusted) {
  switch (op) {
    case Operator::kAdd:
      return Value::Float(a + b, trusted);
    case Operator::kSubtract:
      return Value::Float(a - b, trusted);
    case Operator::kMultiply:
      return Value::Float(a * b, trusted);
    case Operator::kDivide:
      if (b == 0) return Raise("ZeroDivisionError", "float division by zero");
      return Value::Float(a / b, trusted);
    case Operator::kPower:
      return PowerNumbers(Value::Float(a), Value::Float(b), trusted);
    default:
      break;
  }
  const bool modulo = op == Operator::kModulo;
  if (b == 0) {
    return Raise("ZeroDivisionError", modulo ? "float modulo" : "float floor division by zero");
  }
  // As CPython does it: the remainder takes the sign of the divisor.
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0) {
    if ((b < 0) != (rest < 0)) {
      rest += b;
      quotient -= 1;
    }
  } else {
    rest = std::copysign(0.0, b);
  }
  if (modulo) return Value::Float(rest, trusted);
  if (quotient == 0) return Value::Float(std::copysign(0.0, a / b), trusted);
  const double floor = std::floor(quotient);
  return Value::Float(quotient - floor > 0.5 ? floor + 1 : floor, trusted);
}

Result<Value> Repeat(const Value& sequence, std::int64_t count, Budget& budget) {
  const std::size_t times = static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
  if (sequence.is_text()) {
    const Text& text = sequence.text();
    if (text.bytes.empty() || times == 0) return Value::String("");
    if (times > budget.max_text_bytes() / text.bytes.size()) {
      return tl::unexpected<Error>(TextTooLong(budget));
    }
    TextBuilder out(budget);
    for (std::size_t i = 0; i < times; ++i) out.Append(text);
    ADJUDGE_ASSIGN_OR_RETURN(TextPtr repeated, out.Finish());
    return Value::String(std::move(repeated));
  }
  const std::vector<Value>& items = sequence.sequence().items;
  std::int64_t total = 0;
  if (__builtin_mul_overflow(count, static_cast<std::int64_t>(items.size()), &total)) {
    total = INT64_MAX;
  }
  ADJUDGE_RETURN_IF_ERROR(budget.Spend(std::max<std::int64_t>(total, 0)));
  std::vector<Value> out;
  for (std::size_t i = 0; i < times && !items.empty(); ++i) {
    out.insert(out.end(), items.begin(), items.end());
  }
  return MakeList(std::move(out), budget, sequence.kind());
}

bool IsRepeatable(const Value& value) { return value.is_text() || value.is_sequence(); }

Result<Value> MultiplySequence(const Value& left, const Value& right, Budget& budget) {
  const Value& sequence = IsRepeatable(left) ? left : right;
  const Value& count = IsRepeatable(left) ? right : left;
  if (!count.is_int()) {
    return Raise("TypeError", "can't multiply sequence by non-int of type '" +
                                  std::string(TypeName(count)) + "'");
  }
  return Repeat(sequence, count.integer(), budget);
}

Result<Value> Concatenate(const Value& left, const Value& right, Budget& budget) {
  if (left.kind() != right.kind()) {
    if (left.is_text() || left.is_sequence()) {
      return Raise("TypeError", "can only concatenate " + std::string(TypeName(left)) + " (not \"" +
                                    std::string(TypeName(right)) + "\") to " +
                                    std::string(TypeName(left)));
    }
    return BadOperands(Operator::kAdd, left, right);
  }
  if (left.is_text()) {
    TextBuilder out(budget);
    out.Append(left.text());
    out.Append(right.text());
    ADJUDGE_ASSIGN_OR_RETURN(TextPtr text, out.Finish());
    return Value::String(std::move(text));
  }
  if (!left.is_sequence()) return BadOperands(Operator::kAdd, left, right);
  std::vector<Value> items = left.sequence().items;
  items.insert(items.end(), right.sequence().items.begin(), right.sequence().items.end());
  return MakeList(std::move(items), budget, left.kind());
}

}  // namespace

Result<Value> PowerNumbers(const Value& left, const Value& right, bool trusted) {
  if (left.is_int() && right.is_int() && right.integer() >= 0) {
    std::int64_t result = 1;
    std::int64_t base = left.integer();
    for (std::int64_t exponent = right.integer(); exponent > 0; exponent >>= 1) {
      if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return Overflow();
      if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return Overflow();
    }
    return Value::Int(result, trusted);
  }
  const double base = left.real();
  const double exponent = right.real();
  if (base == 0 && exponent < 0) {
    return Raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
  }
  if (base < 0 && std::isfinite(exponent) && std::isfinite(base) &&
      exponent != std::floor(exponent)) {
    return Refuse("complex numbers");
  }
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)) {
    return Raise("OverflowError", "(34, 'Numerical result out of range')");
  }
  return Value::Float(result, trusted);
}

Result<Value> Arithmetic(Operator op, const Value& left, const Value& right, Budget& budget) {
  if (left.is_number() && right.is_number()) {
    const bool trusted = left.trusted() && right.trusted();
    if (left.is_int() && right.is_int()) {
      return IntArithmetic(op, left.integer(), right.integer(), trusted);
    }
    return FloatArithmetic(op, left.real(), right.real(), trusted);
  }
  const bool formats = op == Operator::kModulo && left.is_text();
  if (left.is_undefined()) return UndefinedError(left);
  if (right.is_undefined() && !formats) return UndefinedError(right);
  for (const Value* operand : {&left, &right}) {
    if (operand->is_text() && operand->text().markup) {
      return Refuse("operator " + std::string(Spelling(op)) + " on a text marked safe");
    }
  }
  if (formats) return PercentFormat(left.text(), right, budget);
  if (op == Operator::kAdd) return Concatenate(left, right, budget);
  if (op == Operator::kMultiply && (IsRepeatable(left) || IsRepeatable(right))) {
    return MultiplySequence(left, right, budget);
  }
  return BadOperands(op, left, right);
}

Result<Value> Negate(const Value& value) {
  if (value.is_undefined()) return UndefinedError(value);
  if (value.is(Kind::kFloat)) return Value::Float(-value.real(), value.trusted());
  if (value.is_int()) {
    return IntArithmetic(Operator::kSubtract, 0, value.integer(), value.trusted());
  }
  return Raise("TypeError", "bad operand type for unary -: '" + std::string(TypeName(value)) + "'");
}

Result<Value> Plus(const Value& value) {
  if (value.is_undefined()) return UndefinedError(value);
  if (value.is(Kind::kBool)) return Value::Int(value.integer(), value.trusted());
  if (value.is_number()) return value;
  return Raise("TypeError", "bad operand type for unary +: '" + std::string(TypeName(value)) + "'");
}

}  // namespace adjudge::jinja
