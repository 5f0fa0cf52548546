#include "engine/template/json_reader.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/json_check.h"

namespace adjudge::jinja {
namespace {

// Takes the events of nlohmann's parser and builds the value without its own tree.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(Budget& budget) : budget_(budget) {}

  bool null() override { return Add(Value::None()); }
  bool boolean(bool value) override { return Add(Value::Bool(value)); }
  bool number_integer(number_integer_t value) override { return Add(Value::Int(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) return TooLarge();
    return Add(Value::Int(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t& digits) override {
    if (digits.find_first_of(".eE") == string_t::npos) return TooLarge();
    return Add(Value::Float(value));
  }
  bool string(string_t& value) override { return Add(Value::String(value, false)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Open(true); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(false); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    open_.back().key = Value::String(name, false);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    if (!error_) {
      // The library's message quotes what it has read, however long.
      error_ = Error{ErrorCode::kMalformed, "not JSON: " + std::string(error.what()).substr(0, 200),
                     "byte " + std::to_string(position == 0 ? 0 : position - 1)};
    }
    return false;
  }

  Result<Value> Finish() {
    if (error_) return tl::unexpected<Error>(*std::move(error_));
    return std::move(result_);
  }

 private:
  struct Level {
    bool object = false;
    Value key;
    std::shared_ptr<Dict> dict;
    std::vector<Value> items;
  };

  bool Note(Error error) {
    error_ = std::move(error);
    return false;
  }

  bool TooLarge() {
    return Note({ErrorCode::kUnsupported, "an integer that does not fit in 64 bits", {}});
  }

  bool Open(bool object) {
    if (static_cast<int>(open_.size()) >= budget_.max_depth()) {
      return Note(TooDeep(budget_, "JSON"));
    }
    Level level;
    level.object = object;
    if (object) level.dict = std::make_shared<Dict>();
    open_.push_back(std::move(level));
    return true;
  }

  bool Close() {
    Level level = std::move(open_.back());
    open_.pop_back();
    if (level.object) return Add(Value::Of(Kind::kDict, std::move(level.dict)));
    Result<Value> list = MakeList(std::move(level.items), budget_);
    if (!list) return Note(std::move(list).error());
    return Add(*std::move(list));
  }

  bool Add(Value value) {
    if (open_.empty()) {
      result_ = std::move(value);
      return true;
    }
    Level& level = open_.back();
    if (!level.object) {
      level.items.push_back(std::move(value));
      return true;
    }
    const Status set = level.dict->Set(level.key, std::move(value), budget_);
    return set ? true : Note(set.error());
  }

  Budget& budget_;
  std::vector<Level> open_;
  Value result_;
  std::optional<Error> error_;
};

}  // namespace

Result<Value> ReadJson(std::string_view json, Budget& budget) {
  ADJUDGE_RETURN_IF_ERROR(CheckNoNul(json));
  Builder builder(budget);
  nlohmann::json::sax_parse(json.begin(), json.end(), &builder);
  return builder.Finish();
}

}  // namespace adjudge::jinja
