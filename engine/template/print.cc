#include "engine/template/print.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "engine/template/loop.h"
#include "engine/template/macro.h"
#include "engine/template/unicode.h"

namespace adjudge::jinja {
namespace {

std::string Hex(std::int32_t value, const char* prefix, int digits) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "\\%s%0*x", prefix, digits, static_cast<unsigned>(value));
  return text.data();
}

// How repr() writes one character of a str quoted by `quote`; empty where as it is.
std::string ReprEscape(std::int32_t value, char quote) {
  if (value == quote || value == '\\') return {'\\', static_cast<char>(value)};
  if (value == '\n') return "\\n";
  if (value == '\r') return "\\r";
  if (value == '\t') return "\\t";
  if (IsPrintable(value)) return {};
  if (value < 0x100) return Hex(value, "x", 2);
  return value < 0x10000 ? Hex(value, "u", 4) : Hex(value, "U", 8);
}

char QuoteFor(std::string_view text) {
  return text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos
             ? '"'
             : '\'';
}

void AppendTextRepr(const Text& text, TextBuilder& out) {
  const char quote = QuoteFor(text.bytes);
  if (text.markup) out.Append("Markup(", false);
  out.Append({&quote, 1}, false);
  std::size_t plain = 0;
  for (std::size_t i = 0; i < text.bytes.size();) {
    const CodePoint point = DecodeAt(text.bytes, i);
    const std::string escape = ReprEscape(point.value, quote);
    if (!escape.empty()) {
      out.Append(text, plain, i);
      out.Append(escape, text.trust.At(i));
      plain = i + point.bytes;
    }
    i += point.bytes;
  }
  out.Append(text, plain, text.bytes.size());
  out.Append({&quote, 1}, false);
  if (text.markup) out.Append(")", false);
}

Status AppendRepr(const Value& value, TextBuilder& out, Budget& budget);

Status AppendItems(const std::vector<Value>& items, TextBuilder& out, Budget& budget) {
  bool first = true;
  for (const Value& item : items) {
    if (!first) out.Append(", ", false);
    first = false;
    ADJUDGE_RETURN_IF_ERROR(AppendRepr(item, out, budget));
  }
  return {};
}

Status AppendDict(const Dict& dict, TextBuilder& out, Budget& budget) {
  out.Append("{", false);
  bool first = true;
  for (const auto& [key, value] : dict.entries) {
    if (!first) out.Append(", ", false);
    first = false;
    ADJUDGE_RETURN_IF_ERROR(AppendRepr(key, out, budget));
    out.Append(": ", false);
    ADJUDGE_RETURN_IF_ERROR(AppendRepr(value, out, budget));
  }
  out.Append("}", false);
  return {};
}

Status AppendSequence(const Value& value, TextBuilder& out, Budget& budget) {
  const std::vector<Value>& items = value.sequence().items;
  const bool tuple = value.is(Kind::kTuple);
  out.Append(tuple ? "(" : "[", false);
  ADJUDGE_RETURN_IF_ERROR(AppendItems(items, out, budget));
  out.Append(!tuple ? "]" : items.size() == 1 ? ",)" : ")", false);
  return {};
}

Status AppendNamespace(const Namespace& space, TextBuilder& out, Budget& budget) {
  out.Append("<Namespace {", false);
  bool first = true;
  for (const auto& [name, value] : space.attributes) {
    out.Append((first ? "" : ", ") + QuotedRepr(name) + ": ", false);
    first = false;
    ADJUDGE_RETURN_IF_ERROR(AppendRepr(value, out, budget));
  }
  out.Append("}>", false);
  return {};
}

Status AppendView(const Value& value, TextBuilder& out, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> items, Items(value, budget));
  out.Append(std::string(TypeName(value)) + "([", false);
  ADJUDGE_RETURN_IF_ERROR(AppendItems(items, out, budget));
  out.Append("])", false);
  return {};
}

std::string RangeRepr(const Range& range) {
  std::string text = "range(" + std::to_string(range.start) + ", " + std::to_string(range.stop);
  return range.step == 1 ? text + ")" : text + ", " + std::to_string(range.step) + ")";
}

Status AppendRepr(const Value& value, TextBuilder& out, Budget& budget) {
  ADJUDGE_RETURN_IF_ERROR(budget.Spend(1));
  if (out.overflow()) return tl::unexpected<Error>(TextTooLong(budget));
  switch (value.kind()) {
    case Kind::kUndefined:
      out.Append("Undefined", false);
      return {};
    case Kind::kNone:
      out.Append("None", value.trusted());
      return {};
    case Kind::kBool:
      out.Append(value.integer() != 0 ? "True" : "False", value.trusted());
      return {};
    case Kind::kInt:
      out.Append(std::to_string(value.integer()), value.trusted());
      return {};
    case Kind::kFloat:
      out.Append(FloatRepr(value.real()), value.trusted());
      return {};
    case Kind::kText:
      AppendTextRepr(value.text(), out);
      return {};
    case Kind::kList:
    case Kind::kTuple:
      return AppendSequence(value, out, budget);
    case Kind::kDict:
      return AppendDict(value.dict(), out, budget);
    case Kind::kRange:
      out.Append(RangeRepr(value.range()), false);
      return {};
    case Kind::kView:
      return AppendView(value, out, budget);
    case Kind::kNamespace:
      return AppendNamespace(value.Shared<Namespace>(), out, budget);
    case Kind::kMacro:
      out.Append(value.macro().repr(), false);
      return {};
    case Kind::kLoop: {
      Loop& loop = value.Shared<Loop>();
      ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t length, loop.Length(budget));
      out.Append(
          "<LoopContext " + std::to_string(loop.index0 + 1) + "/" + std::to_string(length) + ">",
          false);
      return {};
    }
    default:
      return Refuse("printing a " + std::string(TypeName(value)));
  }
}

}  // namespace

std::string FloatRepr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific);
  std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(),
                  exponent);
  if (exponent < -4 || exponent >= 16) return std::string(text);
  const auto fixed =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  std::string out(buffer.data(), fixed.ptr);
  return out.find('.') == std::string::npos ? out + ".0" : out;
}

std::string QuotedRepr(std::string_view text) {
  const char quote = QuoteFor(text);
  std::string out(1, quote);
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = DecodeAt(text, i);
    const std::string escape = ReprEscape(point.value, quote);
    out += escape.empty() ? std::string(text.substr(i, point.bytes)) : escape;
    i += point.bytes;
  }
  return out + quote;
}

Status AppendText(const Value& value, TextBuilder& out, Budget& budget) {
  if (value.is_text()) {
    out.Append(value.text());
    return {};
  }
  if (value.is_undefined()) return {};
  return AppendRepr(value, out, budget);
}

Result<TextPtr> ToText(const Value& value, Budget& budget) {
  if (value.is_text()) return value.text_ptr();
  TextBuilder out(budget);
  ADJUDGE_RETURN_IF_ERROR(AppendText(value, out, budget));
  return out.Finish();
}

Result<TextPtr> ToRepr(const Value& value, Budget& budget) {
  TextBuilder out(budget);
  ADJUDGE_RETURN_IF_ERROR(AppendRepr(value, out, budget));
  return out.Finish();
}

}  // namespace adjudge::jinja
