#include "heads/json/json_value.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/json_check.h"

namespace adjudge {

std::string_view Describe(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return "a boolean";
    case JsonKind::kNumber:
      return "a number";
    case JsonKind::kString:
      return "a string";
    case JsonKind::kArray:
      return "an array";
    case JsonKind::kObject:
      return "an object";
  }
  return "";
}

std::string JsonQuote(std::string_view text) {
  // Replacing rather than throwing: invalid UTF-8 is a caller's bug, not a reason to end a program.
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string JsonPointer(std::string_view parent, std::string_view key) {
  std::string pointer(parent);
  pointer += '/';
  for (const char c : key) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

const JsonValue* JsonValue::Find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

namespace {

// Recursion is bounded by JsonLimits::max_depth.
void DumpTo(const JsonValue& value, std::string& out) {
  switch (value.kind) {
    case JsonKind::kNull:
      out += "null";
      return;
    case JsonKind::kBool:
    case JsonKind::kNumber:
      out += value.text;
      return;
    case JsonKind::kString:
      out += JsonQuote(value.text);
      return;
    case JsonKind::kArray:
    case JsonKind::kObject: {
      const bool object = value.kind == JsonKind::kObject;
      out += object ? '{' : '[';
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        if (i > 0) out += ',';
        if (object) out += JsonQuote(value.keys[i]) + ":";
        DumpTo(value.items[i], out);
      }
      out += object ? '}' : ']';
      return;
    }
  }
}

// Builds the value from the parser's events, which (unlike its own tree) show a repeated key.
class Builder {
 public:
  explicit Builder(const JsonLimits& limits) : limits_(limits) {}

  // The events of nlohmann's SAX interface; returning false ends the parse.
  bool null() { return Add({}); }
  bool boolean(bool value) {
    return Add({.kind = JsonKind::kBool, .text = value ? "true" : "false"});
  }
  bool number_integer(std::int64_t value) {
    return Add({.kind = JsonKind::kNumber, .text = std::to_string(value)});
  }
  bool number_unsigned(std::uint64_t value) {
    return Add({.kind = JsonKind::kNumber, .text = std::to_string(value)});
  }
  bool number_float(double /*value*/, const std::string& spelling) {
    return Add({.kind = JsonKind::kNumber, .text = spelling});
  }
  bool string(std::string& value) {
    return Add({.kind = JsonKind::kString, .text = std::move(value)});
  }
  bool binary(nlohmann::json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*n*/) { return Open(JsonKind::kObject); }
  bool start_array(std::size_t /*n*/) { return Open(JsonKind::kArray); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }

  bool key(std::string& name) {
    Level& level = open_.back();
    if (!level.seen.insert(name).second) {
      error_ = Error{ErrorCode::kMalformed, "this key comes twice in one object",
                     JsonPointer(Pointer(open_.size() - 1), name)};
      return false;
    }
    level.value.keys.push_back(std::move(name));
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& exception) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..." without the bracket.
    std::string message = exception.what();
    if (const std::size_t end = message.find("] "); end != std::string::npos) {
      message.erase(0, end + 2);
    }
    error_ = Error{ErrorCode::kMalformed,
                   "not valid JSON at byte " + std::to_string(position) + ": " + message,
                   Pointer(open_.size())};
    return false;
  }

  Result<JsonValue> Take() {
    if (error_) return tl::unexpected<Error>(std::move(*error_));
    return std::move(root_);
  }

 private:
  struct Level {
    JsonValue value;
    std::unordered_set<std::string> seen;
  };

  bool Count() {
    if (++n_values_ <= limits_.max_values) return true;
    error_ = Error{ErrorCode::kLimit,
                   "more than max_values = " + std::to_string(limits_.max_values) + " JSON values",
                   Pointer(open_.size())};
    return false;
  }

  bool Add(JsonValue value) {
    if (!Count()) return false;
    Place(std::move(value));
    return true;
  }

  void Place(JsonValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else {
      open_.back().value.items.push_back(std::move(value));
    }
  }

  bool Open(JsonKind kind) {
    if (!Count()) return false;
    if (static_cast<int>(open_.size()) >= limits_.max_depth) {
      error_ =
          Error{ErrorCode::kLimit,
                "nested deeper than max_depth = " + std::to_string(limits_.max_depth) + " levels",
                Pointer(open_.size())};
      return false;
    }
    open_.push_back({.value = {.kind = kind}, .seen = {}});
    return true;
  }

  bool Close() {
    JsonValue value = std::move(open_.back().value);
    open_.pop_back();
    Place(std::move(value));
    return true;
  }

  // Where the value inside the first n open containers stands.
  std::string Pointer(std::size_t n) const {
    std::string pointer;
    for (std::size_t i = 0; i < n; ++i) {
      const JsonValue& value = open_[i].value;
      if (value.kind == JsonKind::kArray) {
        pointer = JsonPointer(pointer, std::to_string(value.items.size()));
      } else if (!value.keys.empty()) {
        pointer = JsonPointer(pointer, value.keys.back());
      }
    }
    return pointer;
  }

  const JsonLimits& limits_;
  std::vector<Level> open_;
  JsonValue root_;
  std::size_t n_values_ = 0;
  std::optional<Error> error_;
};

}  // namespace

std::string JsonValue::Dump() const {
  std::string out;
  DumpTo(*this, out);
  return out;
}

Result<JsonValue> ParseJson(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Fail(ErrorCode::kLimit, "the JSON text has " + std::to_string(text.size()) +
                                       " bytes; max_bytes is " + std::to_string(limits.max_bytes));
  }
  // Before the parser, whose words would quote the bad bytes.
  if (const auto bad = FirstInvalidUtf8(text)) {
    return Fail(ErrorCode::kMalformed, "not UTF-8 at byte " + std::to_string(*bad));
  }
  ADJUDGE_RETURN_IF_ERROR(CheckNoNul(text));
  Builder builder(limits);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.Take();
}

}  // namespace adjudge
