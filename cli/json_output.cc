#include "cli/json_output.h"

#include "cli/printable.h"

namespace adjudge::cli {

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

Json TextOrHex(std::string_view bytes) {
  if (FirstInvalidUtf8(bytes) == std::string_view::npos) return std::string(bytes);
  return {{"hex", Hex(bytes)}};
}

Json Pieces(const Vocabulary& vocabulary, std::span<const TokenId> ids) {
  Json pieces = Json::array();
  for (const TokenId id : ids) pieces.push_back(TextOrHex(vocabulary.bytes(id)));
  return pieces;
}

Json ToJson(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"cached_tokens", usage.cached_tokens},
          {"generated_tokens", usage.generated_tokens},
          {"forced_tokens", usage.forced_tokens},
          {"forward_passes", usage.forward_passes}};
}

Json ToJson(const Timings& timings) {
  return {
      {"load", timings.load_ms}, {"prefill", timings.prefill_ms}, {"decode", timings.decode_ms}};
}

Json LineErrorJson(std::size_t line_number, const Error& error) {
  Json json = {{"code", ToString(error.code)}, {"message", ToString(error)}};
  if (!error.place.empty()) json["place"] = error.place;
  return {{"line", line_number}, {"error", std::move(json)}};
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace adjudge::cli
