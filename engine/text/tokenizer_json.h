// tokenizer.json, as Hugging Face's library writes it for BPE.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/text/bpe_tokenizer.h"

namespace adjudge {

// The model that a tokenizer.json describes. Its pre-tokenizer, normalizer and decoder must be one
// of the known combinations; anything else is refused with its name and a JSON pointer.
Result<BpeModel> ParseTokenizerJson(std::string_view text, const TokenizerLimits& limits);

}  // namespace adjudge
