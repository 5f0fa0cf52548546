// json.dumps() of values.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "engine/template/operators.h"
#include "engine/template/print.h"
#include "engine/template/unicode.h"

namespace adjudge::jinja {
namespace {

class JsonWriter {
 public:
  JsonWriter(const JsonOptions& options, Budget& budget)
      : options_(options), budget_(budget), out_(budget) {}

  Status Write(const Value& value, std::size_t level) {
    ADJUDGE_RETURN_IF_ERROR(budget_.Spend(1));
    if (out_.overflow()) return tl::unexpected<Error>(TextTooLong(budget_));
    switch (value.kind()) {
      case Kind::kNone:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kFloat:
        out_.Append(Scalar(value), value.trusted());
        return {};
      case Kind::kText:
        WriteString(value.text());
        return {};
      case Kind::kList:
      case Kind::kTuple:
        return WriteArray(value.sequence().items, level + 1);
      case Kind::kDict:
        return WriteObject(value.dict(), level + 1);
      default:
        return Raise("TypeError", "Object of type " + std::string(TypeName(value)) +
                                      " is not JSON serializable");
    }
  }

  Result<TextPtr> Finish() { return out_.Finish(); }

 private:
  static std::string Scalar(const Value& value) {
    if (value.is(Kind::kNone)) return "null";
    if (value.is(Kind::kBool)) return value.integer() != 0 ? "true" : "false";
    if (value.is(Kind::kInt)) return std::to_string(value.integer());
    if (std::isnan(value.real())) return "NaN";
    if (std::isinf(value.real())) return value.real() > 0 ? "Infinity" : "-Infinity";
    return FloatRepr(value.real());
  }

  static std::string UnicodeEscape(std::int32_t unit) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "\\u%04x", static_cast<unsigned>(unit) & 0xFFFF);
    return text.data();
  }

  // Empty where the character stands as it is.
  std::string Escape(std::int32_t value) const {
    switch (value) {
      case '"':
        return "\\\"";
      case '\\':
        return "\\\\";
      case '\n':
        return "\\n";
      case '\r':
        return "\\r";
      case '\t':
        return "\\t";
      case '\b':
        return "\\b";
      case '\f':
        return "\\f";
      default:
        break;
    }
    if (value < 0x20) return UnicodeEscape(value);
    if (!options_.ensure_ascii || value < 0x7f) return {};
    if (value < 0x10000) return UnicodeEscape(value);
    return UnicodeEscape(0xD800 + ((value - 0x10000) >> 10)) +
           UnicodeEscape(0xDC00 + ((value - 0x10000) & 0x3FF));
  }

  void WriteString(const Text& text) {
    out_.Append("\"", false);
    std::size_t plain = 0;
    for (std::size_t i = 0; i < text.bytes.size();) {
      const CodePoint point = DecodeAt(text.bytes, i);
      const std::string escape = Escape(point.value);
      if (!escape.empty()) {
        out_.Append(text, plain, i);
        out_.Append(escape, text.trust.At(i));
        plain = i + point.bytes;
      }
      i += point.bytes;
    }
    out_.Append(text, plain, text.bytes.size());
    out_.Append("\"", false);
  }

  void NewLine(std::size_t level) {
    if (!options_.pretty) return;
    out_.Append("\n", false);
    for (std::size_t i = 0; i < level && !out_.overflow(); ++i) out_.Append(*options_.indent);
  }

  Status WriteArray(const std::vector<Value>& items, std::size_t level) {
    out_.Append("[", false);
    bool first = true;
    for (const Value& item : items) {
      if (!first) out_.Append(*options_.item_separator);
      first = false;
      NewLine(level);
      ADJUDGE_RETURN_IF_ERROR(Write(item, level));
    }
    if (!items.empty()) NewLine(level - 1);
    out_.Append("]", false);
    return {};
  }

  Result<std::vector<std::pair<Value, Value>>> Entries(const Dict& dict) {
    if (!options_.sort_keys) return dict.entries;
    std::vector<Value> keys;
    for (const auto& entry : dict.entries) keys.push_back(entry.first);
    ADJUDGE_ASSIGN_OR_RETURN(const std::vector<std::size_t> order,
                             SortedOrder(keys, false, budget_));
    std::vector<std::pair<Value, Value>> sorted;
    for (const std::size_t i : order) sorted.push_back(dict.entries[i]);
    return sorted;
  }

  Status WriteKey(const Value& key) {
    if (key.is_text()) {
      WriteString(key.text());
    } else if (key.is(Kind::kNone) || key.is_number()) {
      out_.Append("\"", false);
      out_.Append(Scalar(key), false);
      out_.Append("\"", false);
    } else {
      return Raise("TypeError",
                   "keys must be str, int, float, bool or None, not " + std::string(TypeName(key)));
    }
    return {};
  }

  Status WriteObject(const Dict& dict, std::size_t level) {
    ADJUDGE_ASSIGN_OR_RETURN(const auto entries, Entries(dict));
    out_.Append("{", false);
    bool first = true;
    for (const auto& [key, value] : entries) {
      if (!first) out_.Append(*options_.item_separator);
      first = false;
      NewLine(level);
      ADJUDGE_RETURN_IF_ERROR(WriteKey(key));
      out_.Append(*options_.key_separator);
      ADJUDGE_RETURN_IF_ERROR(Write(value, level));
    }
    if (!entries.empty()) NewLine(level - 1);
    out_.Append("}", false);
    return {};
  }

  const JsonOptions& options_;
  Budget& budget_;
  TextBuilder out_;
};

}  // namespace

Result<TextPtr> ToJson(const Value& value, const JsonOptions& options, Budget& budget) {
  JsonWriter writer(options, budget);
  ADJUDGE_RETURN_IF_ERROR(writer.Write(value, 0));
  return writer.Finish();
}

}  // namespace adjudge::jinja
