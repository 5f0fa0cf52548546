// JsonValue: a JSON text as a tree, numbers exact, keys in their order.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "constraints/schema/decimal.h"
#include "engine/base/result.h"

namespace adjudge::schema {

enum class JsonKind : unsigned char { kNull, kBoolean, kNumber, kString, kArray, kObject };

// "null", "boolean", "number", "string", "array", "object".
std::string_view ToString(JsonKind kind);

// A value; equality is that of JSON Schema (1 equals 1.0, the order of keys does not count).
struct JsonValue {
  using Member = std::pair<std::string, JsonValue>;

  JsonKind kind = JsonKind::kNull;
  bool boolean = false;
  Decimal number;
  std::string text;  // a string's content, or a number's spelling
  std::vector<JsonValue> items;
  std::vector<Member> members;  // no name twice

  bool is(JsonKind other) const { return kind == other; }
  // The member of that name, or null; also null where this is no object.
  const JsonValue* Find(std::string_view name) const;
  // One text for all equal values: keys sorted, numbers in normal form.
  std::string Canonical() const;
  // Compact JSON, keys in order, non-ASCII kept, numbers as they were spelt.
  std::string ToText() const;

  friend bool operator==(const JsonValue& a, const JsonValue& b) {
    return a.kind == b.kind && a.Canonical() == b.Canonical();
  }
};

struct JsonLimits {
  std::size_t max_bytes = 16U << 20;
  std::size_t max_depth = 400;
  std::size_t max_values = 1'000'000;
};

// Strict RFC 8259 over valid UTF-8: no key twice in an object, no lone surrogate. Errors give the
// byte offset, and for a repeated key its JSON pointer.
Result<JsonValue> ParseJson(std::string_view text, const JsonLimits& limits = {});

// `text` as a JSON string, quotes included; non-ASCII kept.
std::string QuoteJson(std::string_view text);
// pointer + "/" + name, escaped as RFC 6901 says.
std::string PointerJoin(std::string_view pointer, std::string_view name);

}  // namespace adjudge::schema
