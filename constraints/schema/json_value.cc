#include "constraints/schema/json_value.h"

#include <algorithm>
#include <cstdio>
#include <unordered_set>

#include "engine/base/utf8.h"

namespace adjudge::schema {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

  Result<JsonValue> Read() {
    Space();
    JsonValue value;
    ADJUDGE_RETURN_IF_ERROR(Value(value));
    Space();
    if (at_ != text_.size()) return Expected("the end of the text");
    return value;
  }

 private:
  tl::unexpected<Error> Expected(const std::string& what) const {
    std::string found = "the end of the text";
    if (at_ < text_.size()) {
      const auto step = NextUtf8(text_.substr(at_));
      found = QuoteJson(text_.substr(at_, step.length));
    }
    return Fail(ErrorCode::kMalformed, "expected " + what + ", found " + found,
                "byte " + std::to_string(at_));
  }
  tl::unexpected<Error> Limit(const std::string& name, std::size_t limit) const {
    return Fail(ErrorCode::kLimit, "more than " + name + " = " + std::to_string(limit),
                "byte " + std::to_string(at_));
  }
  bool Next(char c) const { return at_ < text_.size() && text_[at_] == c; }
  void Space() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string::npos)
      ++at_;
  }

  Status Value(JsonValue& value) {
    if (++values_ > limits_.max_values) return Limit("max_values", limits_.max_values);
    if (at_ >= text_.size()) return Expected("a JSON value");
    switch (text_[at_]) {
      case '{':
        return Object(value);
      case '[':
        return Array(value);
      case '"':
        value.kind = JsonKind::kString;
        return String(value.text);
      case 't':
      case 'f':
        value.kind = JsonKind::kBoolean;
        value.boolean = text_[at_] == 't';
        return Word(value.boolean ? "true" : "false");
      case 'n':
        return Word("null");
      default:
        return Number(value);
    }
  }

  Status Word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return Expected("a JSON value");
    at_ += word.size();
    return {};
  }

  Status Number(JsonValue& value) {
    const std::size_t start = at_;
    if (Next('-')) ++at_;
    const auto digits = [&] {
      const std::size_t first = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      return at_ - first;
    };
    if (Next('0')) {
      ++at_;
    } else if (digits() == 0) {
      return Expected(at_ == start ? "a JSON value" : "a digit");
    }
    if (Next('.')) {
      ++at_;
      if (digits() == 0) return Expected("a digit");
    }
    if (Next('e') || Next('E')) {
      ++at_;
      if (Next('+') || Next('-')) ++at_;
      if (digits() == 0) return Expected("a digit");
    }
    value.kind = JsonKind::kNumber;
    value.text = text_.substr(start, at_ - start);
    value.number = *Decimal::Parse(value.text);
    return {};
  }

  Status Hex4(char32_t& code) {
    code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : '"';
      int digit = 0;
      if (c >= '0' && c <= '9') {
        digit = c - '0';
      } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
        digit = (c | 0x20) - 'a' + 10;
      } else {
        return Expected("a hexadecimal digit");
      }
      code = code * 16 + static_cast<char32_t>(digit);
    }
    return {};
  }

  Status Escape(std::string& out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    const std::size_t start = at_++;
    if (at_ < text_.size()) {
      if (const auto i = kNames.find(text_[at_]); i != std::string_view::npos) {
        out.push_back(kValues[i]);
        ++at_;
        return {};
      }
    }
    if (!Next('u')) return Expected("one of \"\\/bfnrtu after a backslash");
    ++at_;
    char32_t code = 0;
    ADJUDGE_RETURN_IF_ERROR(Hex4(code));
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      char32_t low = 0;
      ADJUDGE_RETURN_IF_ERROR(Hex4(low));
      if (low >= 0xDC00 && low < 0xE000) code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code >= 0xD800 && code < 0xE000) {
      return Fail(ErrorCode::kMalformed, "a lone surrogate is not text",
                  "byte " + std::to_string(start));
    }
    AppendUtf8(code, out);
    return {};
  }

  Status String(std::string& out) {
    ++at_;
    while (!Next('"')) {
      if (at_ >= text_.size()) return Expected("a closing quote");
      const char c = text_[at_];
      if (c == '\\') {
        ADJUDGE_RETURN_IF_ERROR(Escape(out));
        continue;
      }
      if (static_cast<unsigned char>(c) < 0x20)
        return Expected("an escape for a control character");
      out.push_back(c);
      ++at_;
    }
    ++at_;
    return {};
  }

  Status Array(JsonValue& value) {
    value.kind = JsonKind::kArray;
    if (++depth_ > limits_.max_depth) return Limit("max_depth", limits_.max_depth);
    ++at_;
    Space();
    while (!Next(']')) {
      if (!value.items.empty()) {
        if (!Next(',')) return Expected("',' or ']'");
        ++at_;
        Space();
      }
      value.items.emplace_back();
      pointer_.push_back(std::to_string(value.items.size() - 1));
      ADJUDGE_RETURN_IF_ERROR(Value(value.items.back()));
      pointer_.pop_back();
      Space();
    }
    ++at_;
    --depth_;
    return {};
  }

  Status Object(JsonValue& value) {
    value.kind = JsonKind::kObject;
    if (++depth_ > limits_.max_depth) return Limit("max_depth", limits_.max_depth);
    ++at_;
    Space();
    std::unordered_set<std::string> names;
    while (!Next('}')) {
      if (!value.members.empty()) {
        if (!Next(',')) return Expected("',' or '}'");
        ++at_;
        Space();
      }
      if (!Next('"')) return Expected(value.members.empty() ? "a key or '}'" : "a key");
      std::string name;
      ADJUDGE_RETURN_IF_ERROR(String(name));
      pointer_.push_back(name);
      if (!names.insert(name).second) {
        return Fail(ErrorCode::kMalformed, "this key stands twice in its object", Pointer());
      }
      Space();
      if (!Next(':')) return Expected("':'");
      ++at_;
      Space();
      value.members.emplace_back(std::move(name), JsonValue());
      ADJUDGE_RETURN_IF_ERROR(Value(value.members.back().second));
      pointer_.pop_back();
      Space();
    }
    ++at_;
    --depth_;
    return {};
  }

  std::string Pointer() const {
    std::string pointer;
    for (const std::string& part : pointer_) pointer = PointerJoin(pointer, part);
    return pointer;
  }

  std::string_view text_;
  const JsonLimits& limits_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t values_ = 0;
  std::vector<std::string> pointer_;
};

void AppendCanonical(const JsonValue& value, std::string& out) {
  switch (value.kind) {
    case JsonKind::kNull:
      out += "null";
      return;
    case JsonKind::kBoolean:
      out += value.boolean ? "true" : "false";
      return;
    case JsonKind::kNumber:
      out += value.number.ToText();
      return;
    case JsonKind::kString:
      out += QuoteJson(value.text);
      return;
    case JsonKind::kArray: {
      out.push_back('[');
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        if (i > 0) out.push_back(',');
        AppendCanonical(value.items[i], out);
      }
      out.push_back(']');
      return;
    }
    case JsonKind::kObject: {
      std::vector<const JsonValue::Member*> members;
      for (const auto& member : value.members) members.push_back(&member);
      std::sort(members.begin(), members.end(),
                [](const auto* a, const auto* b) { return a->first < b->first; });
      out.push_back('{');
      for (std::size_t i = 0; i < members.size(); ++i) {
        if (i > 0) out.push_back(',');
        out += QuoteJson(members[i]->first) + ":";
        AppendCanonical(members[i]->second, out);
      }
      out.push_back('}');
      return;
    }
  }
}

void AppendText(const JsonValue& value, std::string& out) {
  if (value.is(JsonKind::kNumber)) {
    out += value.text;
  } else if (value.is(JsonKind::kArray)) {
    out.push_back('[');
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (i > 0) out.push_back(',');
      AppendText(value.items[i], out);
    }
    out.push_back(']');
  } else if (value.is(JsonKind::kObject)) {
    out.push_back('{');
    for (std::size_t i = 0; i < value.members.size(); ++i) {
      if (i > 0) out.push_back(',');
      out += QuoteJson(value.members[i].first) + ":";
      AppendText(value.members[i].second, out);
    }
    out.push_back('}');
  } else {
    AppendCanonical(value, out);
  }
}

}  // namespace

std::string_view ToString(JsonKind kind) {
  static constexpr std::string_view kNames[] = {"null",   "boolean", "number",
                                                "string", "array",   "object"};
  return kNames[static_cast<int>(kind)];
}

const JsonValue* JsonValue::Find(std::string_view name) const {
  for (const Member& member : members) {
    if (member.first == name) return &member.second;
  }
  return nullptr;
}

std::string JsonValue::Canonical() const {
  std::string out;
  AppendCanonical(*this, out);
  return out;
}

std::string JsonValue::ToText() const {
  std::string out;
  AppendText(*this, out);
  return out;
}

Result<JsonValue> ParseJson(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Fail(ErrorCode::kLimit, std::to_string(text.size()) + " bytes, but max_bytes is " +
                                       std::to_string(limits.max_bytes));
  }
  if (const auto bad = FirstInvalidUtf8(text)) {
    return Fail(ErrorCode::kMalformed, "not UTF-8", "byte " + std::to_string(*bad));
  }
  return Reader(text, limits).Read();
}

std::string QuoteJson(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
  return out;
}

std::string PointerJoin(std::string_view pointer, std::string_view name) {
  std::string out(pointer);
  out.push_back('/');
  for (const char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace adjudge::schema
