#include "engine/json_check.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace adjudge {
namespace {

using nlohmann::json;

// Looks at the events of a parse and builds nothing; returning false stops it.
class Checker {
 public:
  explicit Checker(const JsonCheckLimits& limits) : limits_(limits) {}

  bool null() { return Value(); }
  bool boolean(bool) { return Value(); }
  bool number_integer(json::number_integer_t) { return Value(); }
  bool number_unsigned(json::number_unsigned_t) { return Value(); }
  bool number_float(json::number_float_t, const std::string&) { return Value(); }
  bool string(std::string&) { return Value(); }
  bool binary(json::binary_t&) { return Value(); }
  bool start_object(std::size_t) { return Open(true); }
  bool end_object() { return Close(); }
  bool start_array(std::size_t) { return Open(false); }
  bool end_array() { return Close(); }

  bool key(std::string& name) {
    Level& level = open_.back();
    level.key = name;
    if (level.keys.insert(std::move(name)).second) return true;
    return Stop(ErrorCode::kMalformed, "this key comes twice in one object", Pointer());
  }

  bool parse_error(std::size_t position, const std::string&, const json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    std::string why = error.what();
    if (const std::size_t at = why.find("error "); at != std::string::npos) {
      if (const std::size_t colon = why.find(": ", at); colon != std::string::npos) {
        why.erase(0, colon + 2);
      }
    }
    constexpr std::size_t kShown = 200;  // the library quotes what it has read, however long
    if (why.size() > kShown) why = why.substr(0, kShown) + "...";
    return Stop(ErrorCode::kMalformed, "not JSON: " + why,
                "byte " + std::to_string(position == 0 ? 0 : position - 1));
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  struct Level {
    bool object = false;
    std::size_t n = 0;  // values begun in an array
    std::string key;    // the last one of an object
    std::unordered_set<std::string> keys;
  };

  bool Stop(ErrorCode code, std::string message, std::string place = {}) {
    if (!error_) error_ = Error{code, std::move(message), std::move(place)};
    return false;
  }

  // Where the value now read stands.
  std::string Pointer() const {
    std::string pointer;
    for (const Level& level : open_) {
      pointer = JoinPointer(
          pointer, level.object ? level.key : std::to_string(level.n == 0 ? 0 : level.n - 1));
    }
    return pointer;
  }

  bool Value() {
    if (!open_.empty()) ++open_.back().n;
    if (++values_ <= limits_.max_values) return true;
    return Stop(ErrorCode::kLimit,
                "more JSON values than max_values = " + std::to_string(limits_.max_values));
  }

  bool Open(bool object) {
    if (!Value()) return false;
    if (open_.size() >= limits_.max_depth) {
      return Stop(ErrorCode::kLimit, "JSON nested deeper than " +
                                         std::to_string(limits_.max_depth) + " levels (max_depth)");
    }
    open_.emplace_back();
    open_.back().object = object;
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  const JsonCheckLimits& limits_;
  std::vector<Level> open_;
  std::size_t values_ = 0;
  std::optional<Error> error_;
};

}  // namespace

std::string JoinPointer(std::string_view parent, std::string_view key) {
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

Status CheckNoNul(std::string_view text) {
  const std::size_t nul = text.find('\0');
  if (nul == std::string_view::npos) return {};
  return Fail(ErrorCode::kMalformed, "not JSON: a NUL byte", "byte " + std::to_string(nul));
}

Status CheckJson(std::string_view text, const JsonCheckLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Fail(ErrorCode::kLimit, "JSON of " + std::to_string(text.size()) +
                                       " bytes, more than the limit of " +
                                       std::to_string(limits.max_bytes));
  }
  ADJUDGE_RETURN_IF_ERROR(CheckNoNul(text));
  Checker checker(limits);
  json::sax_parse(text.begin(), text.end(), &checker);
  if (checker.error()) return tl::unexpected<Error>(*checker.error());
  return {};
}

}  // namespace adjudge
