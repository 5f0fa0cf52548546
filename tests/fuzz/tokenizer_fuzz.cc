// Any bytes as text: refused or tokenised, and exact both ways.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/utf8.h"
#include "engine/text/bpe_tokenizer.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/sentencepiece_tokenizer.h"

namespace adjudge {
namespace {

std::shared_ptr<const Tokenizer> Bpe(PreTokenizerKind kind) {
  BpeModel model;
  model.pre_tokenizer = kind;
  for (int byte = 0; byte < 256; ++byte) {
    model.tokens.push_back({std::string(ByteToLetter(static_cast<unsigned char>(byte)))});
  }
  model.merges = {{"t", "h"}, {"th", "e"}, {"a", "a"}, {"aa", "aa"}};
  for (const auto& [left, right] : model.merges) model.tokens.push_back({left + right});
  model.tokens.push_back({"<|end|>", TokenKind::kControl});
  model.tokens.push_back({"<t>", TokenKind::kUserDefined});
  auto tokenizer = MakeBpeTokenizer(std::move(model), {});
  ADJUDGE_CHECK(tokenizer);
  return *tokenizer;
}

std::shared_ptr<const Tokenizer> Pieces(SentencePieceModel::Type type) {
  using Type = SentencePieceModel::PieceType;
  SentencePieceModel model;
  model.type = type;
  model.remove_extra_whitespaces = false;
  model.pieces = {{"<unk>", 0, Type::kUnknown}, {"<|end|>", 0, Type::kControl}};
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    model.pieces.push_back({name, 0, Type::kByte});
  }
  float score = -1;
  for (const char* piece :
       {"th", "the", "\xE2\x96\x81the", "\xE2\x96\x81", "aa", "aaaa", "t", "a"}) {
    model.pieces.push_back({piece, score, Type::kNormal});
    score -= 1;
  }
  model.pieces.push_back({"\n\n", 0, Type::kUserDefined});
  auto tokenizer = MakeSentencePieceTokenizer(std::move(model), {}, "pieces", {});
  ADJUDGE_CHECK(tokenizer);
  return *tokenizer;
}

void Check(const Tokenizer& tokenizer, const std::string& text, bool valid) {
  const auto ids = tokenizer.Encode(text);
  ADJUDGE_CHECK(ids.has_value() == valid);
  // SentencePiece reads U+2581 as a space.
  const bool exact = text.find("\xE2\x96\x81") == std::string::npos;
  if (ids && exact) ADJUDGE_CHECK(tokenizer.Decode(*ids) == text);
  const auto repaired = tokenizer.Encode(text, {.parse_special = true, .lossy = true});
  ADJUDGE_CHECK(repaired);
  StreamDecoder decoder(tokenizer, /*special=*/true);
  std::string streamed;
  for (const TokenId id : *repaired) streamed += decoder.Push(id);
  streamed += decoder.Finish();
  ADJUDGE_CHECK(streamed == tokenizer.Decode(*repaired, true));
}

}  // namespace
}  // namespace adjudge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace adjudge;
  static const std::vector<std::shared_ptr<const Tokenizer>> tokenizers = {
      Bpe(PreTokenizerKind::kGpt2),           Bpe(PreTokenizerKind::kSmollm),
      Bpe(PreTokenizerKind::kLlama3),         Bpe(PreTokenizerKind::kQwen2),
      Pieces(SentencePieceModel::Type::kBpe), Pieces(SentencePieceModel::Type::kUnigram)};
  const std::string text(reinterpret_cast<const char*>(data), size);
  const bool valid = !FirstInvalidUtf8(text);
  for (const auto& tokenizer : tokenizers) Check(*tokenizer, text, valid);
  return 0;
}
