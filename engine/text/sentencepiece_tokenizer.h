// SentencePiece as a Tokenizer: its own library, but for unigram models (unigram_segmenter.h).
#pragma once

#include <memory>
#include <string>

#include "engine/base/result.h"
#include "engine/text/sentencepiece_model.h"
#include "engine/text/tokenizer_metadata.h"
#include "engine/tokenizer.h"

namespace adjudge {

// `key` names the list of pieces in errors. The model must hold one piece of type kUnknown or none:
// then text that it cannot spell is refused. Control pieces are kept from the library under names
// that no text holds, so that ordinary text never gives one.
Result<std::shared_ptr<const Tokenizer>> MakeSentencePieceTokenizer(SentencePieceModel model,
                                                                    TokenizerMetadata metadata,
                                                                    const std::string& key,
                                                                    const TokenizerLimits& limits);

// What a model file itself says: beginning and end pieces, the end stops, a text begins with the
// beginning piece if there is one.
TokenizerMetadata MetadataOf(const SentencePieceModel& model);

}  // namespace adjudge
