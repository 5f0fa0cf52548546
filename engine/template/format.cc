#include "engine/template/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "engine/template/print.h"
#include "engine/template/unicode.h"

namespace adjudge::jinja {
namespace {

constexpr std::int64_t kMaxPrecision = 1000;

bool IsOneOf(char c, std::string_view set) { return c != 0 && set.find(c) != set.npos; }

std::string Digits(std::uint64_t magnitude, unsigned base, bool upper) {
  // A view, since GCC 12's bounds check goes wrong on a choice between two literals.
  const std::string_view alphabet = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string digits;
  do {
    digits.push_back(alphabet[magnitude % base]);
    magnitude /= base;
  } while (magnitude != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

void GroupThousands(std::string& digits) {
  const std::size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  for (std::size_t i = whole; i > 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
}

// Sign, prefix and digits of a number, not yet padded.
struct Number {
  std::string sign;
  std::string digits;
};

std::string SignOf(bool negative, char sign) {
  if (negative) return "-";
  return sign == '-' ? "" : std::string(1, sign);
}

Number IntNumber(std::int64_t value, const FormatSpec& spec) {
  const std::uint64_t magnitude = value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value)
                                            : static_cast<std::uint64_t>(value);
  const bool upper = spec.type == 'X';
  const unsigned base = IsOneOf(spec.type, "xX") ? 16U
                        : spec.type == 'o'       ? 8U
                        : spec.type == 'b'       ? 2U
                                                 : 10U;
  Number number{SignOf(value < 0, spec.sign), Digits(magnitude, base, upper)};
  if (spec.precision > static_cast<std::int64_t>(number.digits.size())) {
    number.digits.insert(0, static_cast<std::size_t>(spec.precision) - number.digits.size(), '0');
  }
  if (spec.thousands) GroupThousands(number.digits);
  if (spec.alternate && base != 10) number.sign += std::string("0") + spec.type;
  return number;
}

Number FloatNumber(double value, const FormatSpec& spec) {
  const bool negative = std::signbit(value) && !std::isnan(value);
  const double magnitude = std::abs(value);
  Number number{SignOf(negative, spec.sign), ""};
  const bool upper = IsOneOf(spec.type, "EFG");
  if (!std::isfinite(value)) {
    number.digits = std::isnan(value) ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf");
    return number;
  }
  if (spec.type == 0 && spec.precision < 0) {
    number.digits = FloatRepr(magnitude);
  } else {
    const char type = spec.type == '%' ? 'f' : spec.type == 0 ? 'g' : spec.type;
    const int precision = static_cast<int>(spec.precision < 0 ? 6 : spec.precision);
    const std::string format = std::string("%") + (spec.alternate ? "#" : "") + ".*" + type;
    const double scaled = spec.type == '%' ? magnitude * 100 : magnitude;
    const int size = std::snprintf(nullptr, 0, format.c_str(), precision, scaled);
    number.digits.resize(static_cast<std::size_t>(size) + 1);
    std::snprintf(number.digits.data(), number.digits.size(), format.c_str(), precision, scaled);
    number.digits.pop_back();
    if (spec.type == '%') number.digits += '%';
    // format(2.0, ".3") is "2.0" where printf's %g says "2".
    if (spec.type == 0 && number.digits.find_first_not_of("0123456789") == std::string::npos) {
      number.digits += ".0";
    }
  }
  if (spec.thousands) GroupThousands(number.digits);
  return number;
}

void AppendFill(const FormatSpec& spec, std::int64_t count, TextBuilder& out) {
  if (count > 0) out.AppendRepeated(spec.fill, true, static_cast<std::size_t>(count));
}

// `align` is the type's own alignment.
void AppendPadded(const Text& text, const FormatSpec& spec, char align, TextBuilder& out) {
  if (spec.align != 0 && spec.align != '=') align = spec.align;
  const auto missing = spec.width - static_cast<std::int64_t>(CountCodePoints(text.bytes));
  const std::int64_t left = missing <= 0 || align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  AppendFill(spec, left, out);
  out.Append(text);
  AppendFill(spec, missing - left, out);
}

void AppendNumber(const Number& number, bool trusted, const FormatSpec& spec, TextBuilder& out) {
  const bool inside = spec.align == '=' || (spec.align == 0 && spec.zero);
  const auto size = static_cast<std::int64_t>(number.sign.size() + number.digits.size());
  if (!inside || spec.width <= size) {
    AppendPadded(*MakeText(number.sign + number.digits, trusted), spec, '>', out);
    return;
  }
  out.Append(number.sign, trusted);
  out.AppendRepeated(spec.zero ? "0" : spec.fill, true,
                     static_cast<std::size_t>(spec.width - size));
  out.Append(number.digits, trusted);
}

Status AppendString(const Value& value, const FormatSpec& spec, TextBuilder& out, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(TextPtr text, ToText(value, budget));
  if (spec.precision >= 0) {
    std::size_t end = 0;
    for (std::int64_t i = 0; i < spec.precision && end < text->bytes.size(); ++i) {
      end += DecodeAt(text->bytes, end).bytes;
    }
    ADJUDGE_ASSIGN_OR_RETURN(text, SubText(text, 0, end, budget));
  }
  AppendPadded(*text, spec, '<', out);
  return {};
}

}  // namespace

Status AppendFormatted(const Value& value, const FormatSpec& spec, TextBuilder& out,
                       Budget& budget) {
  if (spec.precision > kMaxPrecision && !value.is_text()) {
    return Refuse("a format precision above " + std::to_string(kMaxPrecision));
  }
  if (IsOneOf(spec.type, "eEfFgG%") || (value.is(Kind::kFloat) && spec.type == 0)) {
    AppendNumber(FloatNumber(value.real(), spec), value.trusted(), spec, out);
    return {};
  }
  if (IsOneOf(spec.type, "dboxXn") || (value.is(Kind::kInt) && spec.type == 0)) {
    AppendNumber(IntNumber(value.integer(), spec), value.trusted(), spec, out);
    return {};
  }
  if (spec.type == 'c') {
    if (value.integer() < 0 || value.integer() >= 0x110000) {
      return Raise("OverflowError", "%c arg not in range(0x110000)");
    }
    if (value.integer() >= 0xD800 && value.integer() < 0xE000) return Refuse("lone surrogates");
    std::string character;
    AppendUtf8(character, static_cast<std::int32_t>(value.integer()));
    AppendPadded(*MakeText(character, value.trusted()), spec, '<', out);
    return {};
  }
  return AppendString(value, spec, out, budget);
}

namespace {

// Reads "%(key)flags width.precision type" fields and fills them in from the values.
class PercentFormatter {
 public:
  PercentFormatter(const Text& text, const Value& values, Budget& budget)
      : text_(text), values_(values), budget_(budget), out_(budget) {}

  Result<Value> Run() {
    const std::string_view bytes = text_.view();
    while (true) {
      const std::size_t percent = bytes.find('%', at_);
      const std::size_t end = std::min(percent, bytes.size());
      out_.Append(text_, at_, end);
      if (percent == std::string_view::npos) break;
      at_ = percent + 1;
      ADJUDGE_RETURN_IF_ERROR(budget_.Spend(1));
      ADJUDGE_RETURN_IF_ERROR(Field());
    }
    if (!AllConverted()) {
      return Raise("TypeError", "not all arguments converted during string formatting");
    }
    ADJUDGE_ASSIGN_OR_RETURN(TextPtr out, out_.Finish());
    return Value::String(std::move(out));
  }

 private:
  bool AllConverted() const {
    if (values_.is(Kind::kTuple)) return next_ == values_.sequence().items.size();
    // A mapping need not be used; nor need a list, which Python takes for one here.
    return next_ == 1 || values_.is(Kind::kDict) || values_.is(Kind::kList) ||
           values_.is(Kind::kRange) || values_.is_undefined();
  }

  char Peek() const { return at_ < text_.bytes.size() ? text_.bytes[at_] : '\0'; }

  Result<Value> NextValue() {
    if (values_.is(Kind::kTuple)) {
      if (next_ < values_.sequence().items.size()) return values_.sequence().items[next_++];
    } else if (next_ == 0) {
      ++next_;
      return values_;
    }
    return Raise("TypeError", "not enough arguments for format string");
  }

  Result<std::int64_t> Count() {
    if (Peek() == '*') {
      ++at_;
      ADJUDGE_ASSIGN_OR_RETURN(const Value value, NextValue());
      if (!value.is_int()) return Raise("TypeError", "* wants int");
      return value.integer();
    }
    std::int64_t count = 0;
    for (; IsOneOf(Peek(), "0123456789"); ++at_) {
      count = count * 10 + (Peek() - '0');
      if (count > INT32_MAX) return Raise("ValueError", "width too big");
    }
    return count;
  }

  Result<Value> Keyed() {
    const std::size_t close = text_.bytes.find(')', at_);
    if (close == std::string::npos) return Raise("ValueError", "incomplete format key");
    if (values_.is_undefined()) return UndefinedError(values_);
    if (!values_.is(Kind::kDict)) return Raise("TypeError", "format requires a mapping");
    const std::string key = text_.bytes.substr(at_ + 1, close - at_ - 1);
    if (key.find('(') != std::string::npos) return Refuse("a format key with parentheses");
    at_ = close + 1;
    const Value* found = values_.dict().Find(key);
    if (found == nullptr) return Raise("KeyError", QuotedRepr(key));
    return *found;
  }

  Result<FormatSpec> Spec() {
    FormatSpec spec;
    spec.align = '>';
    for (; IsOneOf(Peek(), "-+ 0#"); ++at_) {
      const char flag = Peek();
      if (flag == '-') spec.align = '<';
      if (flag == '+') spec.sign = '+';
      if (flag == ' ' && spec.sign != '+') spec.sign = ' ';
      if (flag == '0') spec.zero = true;
      if (flag == '#') spec.alternate = true;
    }
    ADJUDGE_ASSIGN_OR_RETURN(spec.width, Count());
    if (spec.width < 0) {
      spec.align = '<';
      spec.width = spec.width < -INT32_MAX ? INT32_MAX : -spec.width;
    }
    if (Peek() == '.') {
      ++at_;
      ADJUDGE_ASSIGN_OR_RETURN(spec.precision, Count());
      spec.precision = std::max<std::int64_t>(spec.precision, 0);
    }
    while (IsOneOf(Peek(), "hlL")) ++at_;
    spec.type = Peek();
    if (spec.type == '\0') return Raise("ValueError", "incomplete format");
    ++at_;
    return spec;
  }

  Status Field() {
    std::optional<Value> keyed;
    if (Peek() == '(') {
      ADJUDGE_ASSIGN_OR_RETURN(keyed, Keyed());
    }
    ADJUDGE_ASSIGN_OR_RETURN(FormatSpec spec, Spec());
    if (spec.type == '%') {
      out_.Append("%", text_.trust.At(at_ - 1));
      return {};
    }
    if (!keyed) {
      ADJUDGE_ASSIGN_OR_RETURN(keyed, NextValue());
    }
    return Convert(*keyed, spec);
  }

  Status Convert(Value value, FormatSpec spec) {
    const bool left = spec.align == '<';
    if (IsOneOf(spec.type, "sra")) {
      if (spec.type == 'a') return Refuse("the format %a");
      if (spec.type == 'r') {
        ADJUDGE_ASSIGN_OR_RETURN(TextPtr repr, ToRepr(value, budget_));
        value = Value::String(std::move(repr));
      }
      spec.type = 's';
      spec.zero = false;
      return AppendFormatted(value, spec, out_, budget_);
    }
    if (spec.type == 'c' && value.is_text() && CountCodePoints(value.text().bytes) == 1) {
      spec.type = 's';
      spec.precision = -1;
      return AppendFormatted(value, spec, out_, budget_);
    }
    const bool integral = IsOneOf(spec.type, "diuoxXc");
    if (!integral && !IsOneOf(spec.type, "eEfFgG")) {
      return Raise("ValueError", "unsupported format character '" + std::string(1, spec.type) +
                                     "' (0x" +
                                     Digits(static_cast<unsigned char>(spec.type), 16, false) +
                                     ") at index " + std::to_string(at_ - 1));
    }
    ADJUDGE_RETURN_IF_ERROR(CheckNumber(value, spec.type));
    if (IsOneOf(spec.type, "diu")) {
      if (value.is(Kind::kFloat)) {
        if (!(std::abs(value.real()) < 9.2e18)) return Refuse("an integer past 64 bits");
        value = Value::Int(static_cast<std::int64_t>(value.real()), value.trusted());
      }
      spec.type = 'd';
    }
    if (spec.zero && !left) spec.align = 0;
    return AppendFormatted(value, spec, out_, budget_);
  }

  static Status CheckNumber(const Value& value, char type) {
    const bool whole = IsOneOf(type, "oxXc");
    if (whole ? value.is_int() : value.is_number()) return {};
    if (value.is_undefined()) return UndefinedError(value);
    const std::string name(TypeName(value));
    if (type == 'c') return Raise("TypeError", "%c requires int or char");
    if (IsOneOf(type, "eEfFgG")) return Raise("TypeError", "must be real number, not " + name);
    return Raise("TypeError", std::string("%") + type +
                                  " format: " + (whole ? "an integer" : "a real number") +
                                  " is required, not " + name);
  }

  const Text& text_;
  const Value& values_;
  Budget& budget_;
  TextBuilder out_;
  std::size_t at_ = 0;
  std::size_t next_ = 0;
};

}  // namespace

Result<Value> PercentFormat(const Text& text, const Value& values, Budget& budget) {
  return PercentFormatter(text, values, budget).Run();
}

}  // namespace adjudge::jinja
