#include "cli/constraint_cases.h"

#include <utility>

#include "cli/json_output.h"
#include "cli/text_input.h"
#include "engine/json_check.h"

namespace adjudge::cli {
namespace {

// Writes JSON again as it is parsed, and keeps what stood at some places: the values of the keys
// "schema" and "spec" of a case, and of "data" in its tests.
class Respeller : public nlohmann::json_sax<Json> {
 public:
  std::vector<std::string> specs;  // by case
  std::vector<std::string> data;   // by test, in order

  bool null() override { return Value("null"); }
  bool boolean(bool value) override { return Value(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return Value(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Value(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& spelt) override { return Value(spelt); }
  bool string(string_t& value) override { return Value(Quoted(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Open("{"); }
  bool end_object() override { return Close("}"); }
  bool start_array(std::size_t) override { return Open("["); }
  bool end_array() override { return Close("]"); }
  bool key(string_t& name) override {
    Separate();
    text_ += Quoted(name) + ": ";
    key_ = name;
    after_key_ = true;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

 private:
  static std::string Quoted(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  void Separate() {
    if (!first_.empty() && !first_.back()) text_ += ", ";
    if (!first_.empty()) first_.back() = false;
  }
  // Before a value: where it begins, if it is one that is kept.
  void Begin() {
    if (!after_key_) Separate();
    const bool spec = after_key_ && (key_ == "schema" || key_ == "spec");
    const bool datum = after_key_ && key_ == "data";
    after_key_ = false;
    if (kept_depth_ != 0 || !(spec || datum)) return;
    kept_depth_ = first_.size() + 1;
    kept_at_ = text_.size();
    kept_is_spec_ = spec;
  }
  void End() {
    if (kept_depth_ != first_.size() + 1) return;
    (kept_is_spec_ ? specs : data).push_back(text_.substr(kept_at_));
    kept_depth_ = 0;
  }
  bool Value(const std::string& text) {
    Begin();
    text_ += text;
    End();
    return true;
  }
  bool Open(const char* bracket) {
    Begin();
    text_ += bracket;
    first_.push_back(true);
    return true;
  }
  bool Close(const char* bracket) {
    first_.pop_back();
    text_ += bracket;
    End();
    return true;
  }

  std::string text_;
  std::vector<bool> first_;  // by open bracket: nothing in it yet
  std::string key_;
  bool after_key_ = false;
  std::size_t kept_depth_ = 0;  // brackets around the value that is kept, plus one; 0 = none
  std::size_t kept_at_ = 0;
  bool kept_is_spec_ = false;
};

Failure Bad(const std::string& file, const std::string& where, const std::string& words) {
  return {kFailed, file + ": " + where + ": " + words};
}

std::vector<std::string> Texts(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& text : list) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

Outcome<std::vector<ConstraintCase>> FromArray(const std::string& file, const std::string& text) {
  const Json list = Json::parse(text, nullptr, false);
  Respeller respeller;
  Json::sax_parse(text, &respeller);
  if (!list.is_array() || respeller.specs.size() != list.size()) {
    return tl::unexpected<Failure>(
        Bad(file, "the array", "expected objects with \"kind\", \"spec\", \"accept\", \"reject\""));
  }
  std::vector<ConstraintCase> cases;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& object = list[i];
    if (!object.is_object() || !object.contains("kind") || !object["kind"].is_string()) {
      return tl::unexpected<Failure>(
          Bad(file, "case " + std::to_string(i), "expected an object with \"kind\""));
    }
    ConstraintCase made;
    made.id = object.value("id", std::to_string(i));
    made.kind = object["kind"];
    made.expect = object.value("expect", "compile");
    made.accept = Texts(object.value("accept", Json::array()));
    made.reject = Texts(object.value("reject", Json::array()));
    made.spec = respeller.specs[i];
    if (made.kind == "choice") made.choices = Texts(object["spec"]);
    if (made.kind != "json_schema" && object["spec"].is_string()) made.spec = object["spec"];
    cases.push_back(std::move(made));
  }
  return cases;
}

Outcome<ConstraintCase> FromLine(const std::string& file, const std::string& where,
                                 const std::string& line) {
  const Json object = Json::parse(line, nullptr, false);
  Respeller respeller;
  if (!object.is_object() || !Json::sax_parse(line, &respeller) || respeller.specs.size() != 1 ||
      !object.contains("tests") || respeller.data.size() != object["tests"].size()) {
    return tl::unexpected<Failure>(
        Bad(file, where, "expected {\"schema\", \"tests\": [{\"valid\", \"data\"}]}"));
  }
  ConstraintCase made;
  made.id = object.value("id", where);
  made.kind = "json_schema";
  made.spec = respeller.specs[0];
  for (std::size_t i = 0; i < respeller.data.size(); ++i) {
    const bool valid = object["tests"][i].value("valid", false);
    (valid ? made.accept : made.reject).push_back(respeller.data[i]);
  }
  return made;
}

}  // namespace

Outcome<std::vector<ConstraintCase>> ReadConstraintCases(const std::string& file) {
  CLI_ASSIGN_OR_RETURN(const std::string text, ReadFileOrInput(file));
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string::npos && text[begin] == '[') {
    CLI_RETURN_IF_ERROR(OrExit(CheckJson(text).map([] { return true; }), kFailed, file));
    return FromArray(file, text);
  }
  std::vector<ConstraintCase> cases;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = "line " + std::to_string(number);
    CLI_RETURN_IF_ERROR(
        OrExit(CheckJson(line).map([] { return true; }), kFailed, file + ": " + where));
    CLI_ASSIGN_OR_RETURN(ConstraintCase made, FromLine(file, where, line));
    cases.push_back(std::move(made));
  }
  return cases;
}

}  // namespace adjudge::cli
