// The JSON that verbs print.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/base/vocabulary.h"
#include "engine/cost.h"

namespace adjudge::cli {

using Json = nlohmann::ordered_json;

// Text where the bytes are whole UTF-8, otherwise {"hex": "e29c"}.
Json TextOrHex(std::string_view bytes);
std::string Hex(std::string_view bytes);

// The bytes of each id.
Json Pieces(const Vocabulary& vocabulary, std::span<const TokenId> ids);

// {"prompt_tokens", "cached_tokens", "generated_tokens", "forced_tokens", "forward_passes"}
Json ToJson(const Usage& usage);
// {"load", "prefill", "decode"}, milliseconds
Json ToJson(const Timings& timings);

// What a line of a batch that cannot be done gives: {"line", "error": {"code", "message",
// "place"}}.
Json LineErrorJson(std::size_t line_number, const Error& error);

// One line; bytes that are not UTF-8 come out as U+FFFD.
std::string Dump(const Json& json);

}  // namespace adjudge::cli
