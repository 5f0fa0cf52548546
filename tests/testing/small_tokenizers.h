// Small tokenizers that need no data outside the clone.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/tokenizer.h"
#include "tests/testing/gguf_builder.h"

namespace adjudge::testing {

// A byte-level tokenizer.json: tokens 0 to 255 are the bytes, then those of a few merges ("th",
// "the", " the", "in", "ing", "!!"), then control tokens <|im_start|>, <|im_end|> and <|endoftext|>
// and the user-defined <tool>. GPT-2's pre-tokenizer.
nlohmann::json ByteTokenizerJson();
std::shared_ptr<const Tokenizer> ByteTokenizer();

// The same vocabulary as GGUF keys, with `pre` as its pre-tokenizer.
GgufBuilder ByteTokenizerGguf(const std::string& pre = "gpt-2");

// A SentencePiece BPE vocabulary as GGUF keys: <unk> <s> </s>, 256 bytes, a few pieces with a dummy
// prefix, the control token <|im_end|> and the user-defined "\n\n".
GgufBuilder SentencePieceGguf();
std::shared_ptr<const Tokenizer> SmallSentencePiece();

// Loads what must load.
std::shared_ptr<const Tokenizer> LoadGguf(const GgufBuilder& builder);
// The error of what must not.
Error GgufError(const GgufBuilder& builder);

}  // namespace adjudge::testing
