#include "engine/text/json_text.h"

#include <utility>

#include "engine/json_check.h"

namespace adjudge {
namespace {

constexpr int kMaxDepth = 64;

// Nesting is counted before parsing: a tree of brackets takes many times the memory of its text.
Status CheckDepth(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) {
        return Fail(ErrorCode::kLimit,
                    "expected JSON of at most " + std::to_string(kMaxDepth) + " levels",
                    "byte " + std::to_string(i));
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return {};
}

}  // namespace

Result<nlohmann::json> ParseJsonText(std::string_view text) {
  ADJUDGE_RETURN_IF_ERROR(CheckNoNul(text));
  ADJUDGE_RETURN_IF_ERROR(CheckDepth(text));
  // With exceptions off the library does not say where the error is.
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    return Fail(ErrorCode::kMalformed, "expected JSON, found something else",
                "byte " + std::to_string(error.byte == 0 ? 0 : error.byte - 1));
  } catch (const nlohmann::json::exception&) {
    return Fail(ErrorCode::kMalformed, "expected JSON, found a number that is out of range");
  }
}

const nlohmann::json& Member(const nlohmann::json& value, std::string_view name) {
  static const nlohmann::json kNull;
  if (!value.is_object()) return kNull;
  const auto it = value.find(name);
  return it == value.end() ? kNull : *it;
}

Result<bool> BoolMember(const nlohmann::json& value, std::string_view name, bool fallback,
                        const std::string& place) {
  const nlohmann::json& member = Member(value, name);
  if (member.is_null()) return fallback;
  if (!member.is_boolean()) {
    return Fail(ErrorCode::kMalformed, "expected true or false, found " + Shown(member),
                place + "/" + std::string(name));
  }
  return member.get<bool>();
}

std::string TypeOf(const nlohmann::json& value) {
  const nlohmann::json& type = Member(value, "type");
  return type.is_string() ? type.get<std::string>() : std::string();
}

std::string Shown(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true);
  if (text.size() > 200) text = text.substr(0, 200) + "...";
  return text;
}

}  // namespace adjudge
