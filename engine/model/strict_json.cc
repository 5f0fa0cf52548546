#include "engine/model/strict_json.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/json_check.h"
#include "engine/model/printable_name.h"

namespace adjudge {
namespace {

using nlohmann::json;

// Looks at the events of a parse and builds nothing; returning false stops it.
class Checker {
 public:
  explicit Checker(const StrictJsonLimits& limits) : limits_(limits) {}

  bool null() { return Value(); }
  bool boolean(bool) { return Value(); }
  bool number_integer(json::number_integer_t) { return Value(); }
  bool number_unsigned(json::number_unsigned_t) { return Value(); }
  bool number_float(json::number_float_t, const std::string&) { return Value(); }
  bool string(std::string&) { return Value(); }
  bool binary(json::binary_t&) { return Value(); }
  bool start_object(std::size_t) { return Open(); }
  bool end_object() { return Close(); }
  bool start_array(std::size_t) { return Open(); }
  bool end_array() { return Close(); }

  bool key(std::string& name) {
    if (keys_.back().insert(name).second) return true;
    return Stop(ErrorCode::kMalformed, "the key occurs twice in one object", PrintableName(name));
  }

  bool parse_error(std::size_t position, const std::string&, const json::exception&) {
    return Stop(ErrorCode::kMalformed, "expected JSON",
                "byte offset " + std::to_string(position == 0 ? 0 : position - 1));
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  bool Stop(ErrorCode code, std::string message, std::string place = {}) {
    if (!error_) error_ = Error{code, std::move(message), std::move(place)};
    return false;
  }

  bool Value() {
    if (++values_ <= limits_.max_values) return true;
    return Stop(ErrorCode::kLimit,
                "more JSON values than max_values = " + std::to_string(limits_.max_values));
  }

  bool Open() {
    keys_.emplace_back();
    if (keys_.size() <= limits_.max_depth) return Value();
    return Stop(ErrorCode::kLimit,
                "JSON nested deeper than max_depth = " + std::to_string(limits_.max_depth));
  }

  bool Close() {
    keys_.pop_back();
    return true;
  }

  const StrictJsonLimits& limits_;
  std::vector<std::set<std::string>> keys_;  // of each open object (an array's stays empty)
  std::size_t values_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<json> ParseStrictJson(std::string_view text, const StrictJsonLimits& limits) {
  ADJUDGE_RETURN_IF_ERROR(CheckNoNul(text));
  Checker checker(limits);
  const bool good = json::sax_parse(text.begin(), text.end(), &checker);
  if (checker.error()) return tl::unexpected<Error>(*checker.error());
  json value = good ? json::parse(text, nullptr, false) : json(json::value_t::discarded);
  if (value.is_discarded()) return Fail(ErrorCode::kMalformed, "expected JSON");
  return value;
}

}  // namespace adjudge
