// A vocabulary without a model's weights.
#pragma once

#include <memory>
#include <string>

#include "cli/model_options.h"
#include "cli/outcome.h"
#include "engine/base/vocabulary.h"
#include "engine/tokenizer.h"

namespace adjudge::cli {

struct LoadedVocabulary {
  std::shared_ptr<const Tokenizer> tokenizer;  // null where the file has bytes alone
  std::shared_ptr<const Vocabulary> vocabulary;
};

// --vocab FILE where it is given: a GGUF file, a SentencePiece model, a tokenizer.json, or a list
// of tokens (little-endian: u32 n, i32 end-of-sequence id, then for each id u32 flags with 1 for
// special, u32 length, bytes). Otherwise the model's.
Outcome<LoadedVocabulary> LoadVocabulary(const std::string& vocab, const ModelArguments& model);

}  // namespace adjudge::cli
