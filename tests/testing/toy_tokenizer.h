// A byte-level tokenizer with a handful of longer tokens, for tests of what is built on tokens.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/tokenizer.h"

namespace adjudge::testing {

// Bytes are ids 0 to 255. Longer tokens, longest first: " A" to " Z", " AA" to " AC", " 0" to " 9",
// " Yes", " No" and some words. Control tokens <|start|> and <|end|> (the latter stops), and
// <|bos|>, wanted in front of a text when `wants_bos`.
struct ToyTokenizerOptions {
  bool chat = true;  // carry a chat template
  bool wants_bos = false;
  bool stops = true;  // <|end|> stops
  // Control tokens <|fim_prefix|>, <|fim_middle|>, <|box_start|>, <|box_end|> and <|fim_suffix|>
  // too.
  bool markers = false;
};
std::shared_ptr<const Tokenizer> MakeToyTokenizer(const ToyTokenizerOptions& options = {});

// Width of its vocabulary.
int ToyVocabularySize();

}  // namespace adjudge::testing
