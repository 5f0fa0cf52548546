#include <utility>

#include "engine/text/sentencepiece_tokenizer.h"
#include "engine/text/tokenizer_sources.h"

namespace adjudge {

TokenizerMetadata MetadataOf(const SentencePieceModel& model) {
  TokenizerMetadata metadata;
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    if (model.pieces[i].type != SentencePieceModel::PieceType::kControl) continue;
    if (model.pieces[i].text == model.bos_piece) metadata.bos = static_cast<TokenId>(i);
    if (model.pieces[i].text == model.eos_piece) metadata.eos = static_cast<TokenId>(i);
  }
  if (metadata.eos) metadata.stop_ids.push_back(*metadata.eos);
  metadata.wants_bos = metadata.bos.has_value();
  return metadata;
}

TokenizerResult LoadSentencePieceTokenizer(std::string_view bytes, const TokenizerLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(SentencePieceModel model, ParseSentencePieceModel(bytes));
  TokenizerMetadata metadata = MetadataOf(model);
  return MakeSentencePieceTokenizer(std::move(model), std::move(metadata), "pieces", limits);
}

}  // namespace adjudge
