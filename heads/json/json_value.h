// JsonValue: a parsed JSON text that kept the order of its keys and the spelling of its numbers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace adjudge {

enum class JsonKind { kNull, kBool, kNumber, kString, kArray, kObject };

// "null", "a boolean", "a string", ... for messages.
std::string_view Describe(JsonKind kind);

struct JsonValue {
  JsonKind kind = JsonKind::kNull;
  // A string's characters; a number or boolean as JSON spells it. Floats keep the sender's
  // spelling.
  std::string text;
  std::vector<std::string> keys;  // of an object, parallel to items
  std::vector<JsonValue> items;   // of an array or object

  // The member of an object, or null. Linear in the number of keys.
  const JsonValue* Find(std::string_view key) const;
  // Compact JSON text, keys in order.
  std::string Dump() const;
};

struct JsonLimits {
  std::size_t max_bytes = 16 << 20;
  int max_depth = 64;
  std::size_t max_values = 1'000'000;  // values of every kind, members and elements included
};

// Parses one JSON text. Errors: kMalformed (syntax, invalid UTF-8, lone surrogates, a key twice in
// one object, a number outside double's range) and kLimit, with the JSON pointer of the place.
Result<JsonValue> ParseJson(std::string_view text, const JsonLimits& limits);

// The pointer of a member: "/questions" + "a/b" -> "/questions/a~1b".
std::string JsonPointer(std::string_view parent, std::string_view key);

// A JSON string literal with its quotes; invalid UTF-8 becomes U+FFFD.
std::string JsonQuote(std::string_view text);

}  // namespace adjudge
