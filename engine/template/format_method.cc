// str.format(): fields in braces.
#include <algorithm>
#include <string>

#include "engine/template/format.h"
#include "engine/template/operators.h"
#include "engine/template/print.h"
#include "engine/template/unicode.h"

namespace adjudge::jinja {
namespace {

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// [[fill]align][sign][#][0][width][,][.precision][type]
Result<FormatSpec> ParseSpec(std::string_view text) {
  FormatSpec spec;
  std::size_t at = 0;
  const auto peek = [&](std::size_t ahead = 0) {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  };
  const auto number = [&]() -> Result<std::int64_t> {
    std::int64_t value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at) {
      value = value * 10 + (peek() - '0');
      if (value > INT32_MAX) return Raise("ValueError", "Too many decimal digits in format string");
    }
    return value;
  };
  const std::size_t first = text.empty() ? 0 : DecodeAt(text, 0).bytes;
  constexpr std::string_view kAligns = "<>^=";
  if (first > 0 && first < text.size() && kAligns.find(text[first]) != kAligns.npos) {
    spec.fill = text.substr(0, first);
    spec.align = text[first];
    at = first + 1;
  } else if (peek() != '\0' && kAligns.find(peek()) != kAligns.npos) {
    spec.align = text[at++];
  }
  if (peek() == '+' || peek() == '-' || peek() == ' ') spec.sign = text[at++];
  if (peek() == '#') spec.alternate = (++at, true);
  if (peek() == '0') spec.zero = (++at, true);
  ADJUDGE_ASSIGN_OR_RETURN(spec.width, number());
  if (peek() == ',') spec.thousands = (++at, true);
  if (peek() == '.') {
    ++at;
    if (peek() < '0' || peek() > '9') {
      return Raise("ValueError", "Format specifier missing precision");
    }
    ADJUDGE_ASSIGN_OR_RETURN(spec.precision, number());
  }
  if (peek() != '\0') spec.type = text[at++];
  if (at != text.size()) return Refuse("the format specifier '" + std::string(text) + "'");
  return spec;
}

tl::unexpected<Error> UnknownCode(char code, const Value& value) {
  return Raise("ValueError", "Unknown format code '" + std::string(1, code) +
                                 "' for object of type '" + std::string(TypeName(value)) + "'");
}

// format(value, spec) of Python.
Status AppendField(const Value& value, std::string_view text, TextBuilder& out, Budget& budget) {
  if (text.empty()) return AppendText(value, out, budget);
  ADJUDGE_ASSIGN_OR_RETURN(FormatSpec spec, ParseSpec(text));
  constexpr std::string_view kFloats = "eEfFgG%";
  const bool floats = spec.type != 0 && kFloats.find(spec.type) != kFloats.npos;
  if (value.is_text()) {
    if (spec.type != 0 && spec.type != 's') return UnknownCode(spec.type, value);
    if (spec.align == '=' || spec.zero || spec.sign != '-' || spec.thousands || spec.alternate) {
      return Refuse("the format specifier '" + std::string(text) + "' for str");
    }
    return AppendFormatted(value, spec, out, budget);
  }
  if (!value.is_number()) {
    if (value.is_undefined()) return UndefinedError(value);
    return Raise("TypeError", "unsupported format string passed to " +
                                  std::string(TypeName(value)) + ".__format__");
  }
  if (value.is_int() && !floats) {
    constexpr std::string_view kInts = "dboxXnc";
    if (spec.type != 0 && kInts.find(spec.type) == kInts.npos) return UnknownCode(spec.type, value);
    if (spec.precision >= 0) {
      return Raise("ValueError", "Precision not allowed in integer format specifier");
    }
    if (spec.type == 0) spec.type = 'd';
  } else if (spec.type != 0 && !floats) {
    return UnknownCode(spec.type, value);
  }
  if (spec.zero && spec.align != 0) {
    if (spec.fill == " ") spec.fill = "0";
    spec.zero = spec.align == '=';
  }
  if (spec.zero && spec.thousands) return Refuse("zero padding with thousands separators");
  return AppendFormatted(value, spec, out, budget);
}

class BraceFormatter {
 public:
  BraceFormatter(const Text& text, const Arguments& arguments, Budget& budget)
      : text_(text), arguments_(arguments), budget_(budget), out_(budget) {}

  Result<Value> Run() {
    const std::string_view bytes = text_.view();
    std::size_t at = 0;
    while (at < bytes.size()) {
      const std::size_t brace = std::min(bytes.find_first_of("{}", at), bytes.size());
      out_.Append(text_, at, brace);
      if (brace == bytes.size()) break;
      ADJUDGE_RETURN_IF_ERROR(budget_.Spend(1));
      if (brace + 1 < bytes.size() && bytes[brace + 1] == bytes[brace]) {
        out_.Append(text_, brace, brace + 1);
        at = brace + 2;
        continue;
      }
      if (bytes[brace] == '}') {
        return Raise("ValueError", "Single '}' encountered in format string");
      }
      const std::size_t close = bytes.find_first_of("{}", brace + 1);
      if (close == bytes.npos) {
        return Raise("ValueError", brace + 1 == bytes.size()
                                       ? "Single '{' encountered in format string"
                                       : "expected '}' before end of string");
      }
      if (bytes[close] == '{') return Refuse("nested fields in str.format");
      ADJUDGE_RETURN_IF_ERROR(Field(bytes.substr(brace + 1, close - brace - 1)));
      at = close + 1;
    }
    ADJUDGE_ASSIGN_OR_RETURN(TextPtr out, out_.Finish());
    return Value::String(std::move(out));
  }

 private:
  Status Field(std::string_view field) {
    std::string_view spec;
    const std::size_t colon = field.find(':');
    if (colon != field.npos) {
      spec = field.substr(colon + 1);
      field = field.substr(0, colon);
    }
    const std::size_t bang = field.find('!');
    std::string_view conversion;
    if (bang != field.npos) {
      conversion = field.substr(bang + 1);
      field = field.substr(0, bang);
    }
    ADJUDGE_ASSIGN_OR_RETURN(Value value, Lookup(field));
    if (!conversion.empty()) {
      if (conversion != "r" && conversion != "s") {
        return Refuse("the conversion '!" + std::string(conversion) + "'");
      }
      ADJUDGE_ASSIGN_OR_RETURN(TextPtr text,
                               conversion == "r" ? ToRepr(value, budget_) : ToText(value, budget_));
      value = Value::String(std::move(text));
    }
    return AppendField(value, spec, out_, budget_);
  }

  Result<Value> First(std::string_view name) {
    if (!name.empty() && !IsDigits(name)) {
      for (const auto& [key, value] : arguments_.named) {
        if (key == name) return value;
      }
      return Raise("KeyError", QuotedRepr(name));
    }
    if ((name.empty() ? manual_ : automatic_) > 0) {
      return Raise("ValueError",
                   "cannot switch between manual field specification and automatic field "
                   "numbering");
    }
    std::size_t index = automatic_;
    if (name.empty()) {
      ++automatic_;
    } else {
      ++manual_;
      index = name.size() > 9 ? SIZE_MAX : std::stoul(std::string(name));
    }
    if (index >= arguments_.positional.size()) {
      return Raise("IndexError", "Replacement index " + std::to_string(index) +
                                     " out of range for positional args tuple");
    }
    return arguments_.positional[index];
  }

  // name(.attribute | [key])*
  Result<Value> Lookup(std::string_view field) {
    std::size_t at = std::min(field.find_first_of(".["), field.size());
    ADJUDGE_ASSIGN_OR_RETURN(Value value, First(field.substr(0, at)));
    while (at < field.size()) {
      if (field[at] == '.') {
        const std::size_t end = std::min(field.find_first_of(".[", at + 1), field.size());
        ADJUDGE_ASSIGN_OR_RETURN(value,
                                 GetAttribute(value, field.substr(at + 1, end - at - 1), budget_));
        at = end;
        continue;
      }
      const std::size_t close = field.find(']', at);
      if (field[at] != '[' || close == field.npos) {
        return Raise("ValueError", "Missing ']' in format string");
      }
      const std::string_view key = field.substr(at + 1, close - at - 1);
      const Value index = IsDigits(key) && key.size() <= 18
                              ? Value::Int(std::stoll(std::string(key)))
                              : Value::String(key);
      ADJUDGE_ASSIGN_OR_RETURN(value, GetItem(value, index, budget_));
      at = close + 1;
    }
    return value;
  }

  const Text& text_;
  const Arguments& arguments_;
  Budget& budget_;
  TextBuilder out_;
  std::size_t automatic_ = 0;
  std::size_t manual_ = 0;
};

}  // namespace

Result<Value> FormatMethod(const Text& text, const Arguments& arguments, Budget& budget) {
  return BraceFormatter(text, arguments, budget).Run();
}

}  // namespace adjudge::jinja
