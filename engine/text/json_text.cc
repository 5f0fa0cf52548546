#include "engine/text/json_text.h"

#include "engine/model/strict_json.h"

namespace adjudge {

Result<nlohmann::json> ParseJsonText(std::string_view text) {
  return ParseStrictJson(text, {.max_depth = 64, .max_values = std::size_t{1} << 24});
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
