#include "engine/text/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <array>
#include <exception>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/text/byte_alphabet.h"
#include "engine/text/special_trie.h"
#include "engine/text/unigram_segmenter.h"

namespace adjudge {
namespace {

using Processor = sentencepiece::SentencePieceProcessor;
using PieceType = SentencePieceModel::PieceType;

constexpr std::string_view kSpaceSymbol = "\xE2\x96\x81";  // U+2581

TokenKind KindOf(PieceType type) {
  switch (type) {
    case PieceType::kUnknown:
      return TokenKind::kUnknown;
    case PieceType::kControl:
      return TokenKind::kControl;
    case PieceType::kUserDefined:
      return TokenKind::kUserDefined;
    case PieceType::kUnused:
      return TokenKind::kUnused;
    case PieceType::kByte:
      return TokenKind::kByte;
    case PieceType::kNormal:
      break;
  }
  return TokenKind::kNormal;
}

std::string SpacesFromSymbols(std::string_view piece) {
  std::string out;
  for (std::size_t i = 0; i < piece.size();) {
    if (piece.substr(i).starts_with(kSpaceSymbol)) {
      out.push_back(' ');
      i += kSpaceSymbol.size();
    } else {
      out.push_back(piece[i++]);
    }
  }
  return out;
}

std::string SymbolsFromSpaces(std::string_view piece) {
  std::string out;
  for (const char c : piece) {
    if (c == ' ') {
      out += kSpaceSymbol;
    } else {
      out.push_back(c);
    }
  }
  return out;
}

// The library refuses by its status, or throws out of the trie that it builds.
Result<std::unique_ptr<Processor>> LoadProcessor(const std::string& proto, const std::string& key) {
  auto processor = std::make_unique<Processor>();
  try {
    const auto status = processor->LoadFromSerializedProto(proto);
    if (!status.ok()) {
      return Fail(
          ErrorCode::kMalformed,
          std::string("the SentencePiece library refuses the vocabulary: ") + status.message(),
          key);
    }
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kMalformed,
                std::string("the SentencePiece library refuses the vocabulary: ") + error.what(),
                key);
  }
  return processor;
}

class SentencePieceTokenizer : public Tokenizer {
 public:
  SentencePieceTokenizer(const SentencePieceModel& model, std::string proto,
                         std::unique_ptr<Processor> processor,
                         std::unique_ptr<const UnigramSegmenter> unigram,
                         TokenizerMetadata metadata, Vocabulary vocabulary, SpecialTrie controls);

  const Vocabulary& vocabulary() const override { return vocabulary_; }
  bool adds_dummy_prefix() const override { return adds_dummy_prefix_; }
  bool drops_leading_spaces() const override { return drops_leading_spaces_; }
  std::optional<TokenId> bos() const override { return metadata_.bos; }
  std::optional<TokenId> eos() const override { return metadata_.eos; }
  bool wants_bos() const override { return metadata_.wants_bos; }
  const std::optional<std::string>& chat_template() const override {
    return metadata_.chat_template;
  }
  std::string_view kind() const override { return kind_; }
  std::optional<TokenId> FindSpecial(std::string_view name) const override;

 protected:
  std::vector<Special> FindControls(std::string_view text,
                                    std::span<const TextRange> trusted) const override;
  Status EncodeValid(std::string_view text, std::span<const Special> controls,
                     const EncodeOptions& options, std::vector<TokenId>& ids) const override;

 private:
  Status EncodeStretch(std::string_view text, bool starts_text, std::vector<TokenId>& ids) const;
  Status EncodeByLibrary(std::string_view text, bool starts_text, std::vector<TokenId>& ids) const;
  // The same model without a dummy prefix, made when first needed.
  Result<const Processor*> Continuing() const;

  Vocabulary vocabulary_;
  TokenizerMetadata metadata_;
  SpecialTrie controls_;
  bool adds_dummy_prefix_;
  bool drops_leading_spaces_;
  std::string kind_;
  std::unordered_map<std::string, TokenId> specials_;
  // One of the two: unigram models have a segmenter of our own (see unigram_segmenter.h).
  std::unique_ptr<Processor> processor_;
  std::unique_ptr<const UnigramSegmenter> unigram_;

  std::string proto_;  // kept where continuing_ may be needed
  mutable std::once_flag continuing_once_;
  mutable std::unique_ptr<Processor> continuing_;
};

std::string KindName(SentencePieceModel::Type type) {
  switch (type) {
    case SentencePieceModel::Type::kUnigram:
      return "sentencepiece unigram";
    case SentencePieceModel::Type::kBpe:
      return "sentencepiece bpe";
    case SentencePieceModel::Type::kWord:
      return "sentencepiece word";
    case SentencePieceModel::Type::kChar:
      return "sentencepiece char";
  }
  return "sentencepiece";
}

SentencePieceTokenizer::SentencePieceTokenizer(const SentencePieceModel& model, std::string proto,
                                               std::unique_ptr<Processor> processor,
                                               std::unique_ptr<const UnigramSegmenter> unigram,
                                               TokenizerMetadata metadata, Vocabulary vocabulary,
                                               SpecialTrie controls)
    : vocabulary_(std::move(vocabulary)),
      metadata_(std::move(metadata)),
      controls_(std::move(controls)),
      adds_dummy_prefix_(model.add_dummy_prefix),
      drops_leading_spaces_(model.remove_extra_whitespaces),
      kind_(KindName(model.type)),
      processor_(std::move(processor)),
      unigram_(std::move(unigram)) {
  if (adds_dummy_prefix_) proto_ = std::move(proto);
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePieceModel::Piece& piece = model.pieces[i];
    if (piece.type == PieceType::kControl || piece.type == PieceType::kUserDefined ||
        piece.type == PieceType::kUnknown) {
      specials_.emplace(piece.text, static_cast<TokenId>(i));
    }
  }
}

std::optional<TokenId> SentencePieceTokenizer::FindSpecial(std::string_view name) const {
  const auto it = specials_.find(std::string(name));
  if (it == specials_.end()) return std::nullopt;
  return it->second;
}

std::vector<Tokenizer::Special> SentencePieceTokenizer::FindControls(
    std::string_view text, std::span<const TextRange> trusted) const {
  std::vector<SpecialTrie::Match> matches;
  for (const TextRange& range : trusted) controls_.Find(text, range.begin, range.end, matches);
  std::vector<Special> controls;
  controls.reserve(matches.size());
  for (const auto& match : matches) controls.push_back({match.begin, match.end, match.id});
  return controls;
}

Result<const Processor*> SentencePieceTokenizer::Continuing() const {
  if (!adds_dummy_prefix_) return processor_.get();
  std::call_once(continuing_once_, [this] {
    if (auto processor = LoadProcessor(proto_ + WithoutDummyPrefix(), {})) {
      continuing_ = std::move(*processor);
    }
  });
  if (!continuing_) {
    return Fail(ErrorCode::kMalformed,
                "the SentencePiece library refuses the vocabulary without a dummy prefix");
  }
  return continuing_.get();
}

Status SentencePieceTokenizer::EncodeByLibrary(std::string_view text, bool starts_text,
                                               std::vector<TokenId>& ids) const {
  const Processor* processor = processor_.get();
  if (!starts_text) {
    ADJUDGE_ASSIGN_OR_RETURN(processor, Continuing());
  }
  std::vector<int> found;
  const auto status = processor->Encode(text, &found);
  if (!status.ok()) {
    return Fail(ErrorCode::kMalformed,
                std::string("the SentencePiece library refuses the text: ") + status.message());
  }
  ids.insert(ids.end(), found.begin(), found.end());
  return {};
}

Status SentencePieceTokenizer::EncodeStretch(std::string_view text, bool starts_text,
                                             std::vector<TokenId>& ids) const {
  if (text.empty()) return {};
  const std::size_t begin = ids.size();
  if (unigram_ != nullptr) {
    unigram_->Encode(text, starts_text, ids);
  } else {
    ADJUDGE_RETURN_IF_ERROR(EncodeByLibrary(text, starts_text, ids));
  }
  for (std::size_t i = begin; i < ids.size(); ++i) {
    if (!vocabulary_.contains(ids[i])) {
      return Fail(ErrorCode::kUnsupported,
                  "the text holds a character that the vocabulary cannot spell");
    }
  }
  return {};
}

Status SentencePieceTokenizer::EncodeValid(std::string_view text, std::span<const Special> controls,
                                           const EncodeOptions& options,
                                           std::vector<TokenId>& ids) const {
  bool starts_text = options.starts_text;
  std::size_t at = 0;
  for (const Special& control : controls) {
    ADJUDGE_RETURN_IF_ERROR(EncodeStretch(text.substr(at, control.begin - at), starts_text, ids));
    if (control.begin > at) starts_text = false;
    ids.push_back(control.id);
    at = control.end;
  }
  return EncodeStretch(text.substr(at), starts_text, ids);
}

Result<Vocabulary> BuildVocabulary(const SentencePieceModel& model,
                                   const TokenizerMetadata& metadata) {
  std::vector<Vocabulary::Entry> entries;
  entries.reserve(model.pieces.size());
  std::vector<TokenId> stop_ids = metadata.stop_ids;
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePieceModel::Piece& piece = model.pieces[i];
    std::string bytes;
    switch (piece.type) {
      case PieceType::kByte:
        bytes = static_cast<char>(*ParseBytePiece(piece.text));
        break;
      case PieceType::kUnknown:
        bytes = model.unknown_surface;
        break;
      case PieceType::kControl:
        bytes = piece.text;
        if (EndsTurn(piece.text)) stop_ids.push_back(static_cast<TokenId>(i));
        break;
      default:
        bytes = SpacesFromSymbols(piece.text);
        break;
    }
    entries.push_back({std::move(bytes), KindOf(piece.type)});
  }
  const int n = static_cast<int>(entries.size());
  return Vocabulary(std::move(entries), std::max(n, metadata.width), std::move(stop_ids));
}

SpecialTrie BuildTrie(const SentencePieceModel& model) {
  std::vector<SpecialName> names;
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePieceModel::Piece& piece = model.pieces[i];
    if (piece.type != PieceType::kControl && piece.type != PieceType::kUnknown) continue;
    names.push_back({piece.text, static_cast<TokenId>(i)});
  }
  return SpecialTrie(names);
}

// The model as the library is to see it.
Result<SentencePieceModel> ForLibrary(const SentencePieceModel& model, const std::string& key) {
  SentencePieceModel out = model;
  std::size_t n_unknown = 0;
  std::array<bool, 256> bytes{};
  std::size_t n_bytes = 0;
  for (std::size_t i = 0; i < out.pieces.size(); ++i) {
    SentencePieceModel::Piece& piece = out.pieces[i];
    const std::string place = key + "[" + std::to_string(i) + "]";
    switch (piece.type) {
      case PieceType::kUnknown:
        if (++n_unknown > 1) {
          return Fail(ErrorCode::kMalformed, "expected one unknown token, found a second", place);
        }
        break;
      case PieceType::kControl:
        // 0xFF is in no UTF-8 text.
        piece.text.insert(piece.text.begin(), '\xFF');
        break;
      case PieceType::kUserDefined:
        if (out.escape_whitespaces) piece.text = SymbolsFromSpaces(piece.text);
        break;
      case PieceType::kByte: {
        const unsigned char byte = *ParseBytePiece(piece.text);
        if (std::exchange(bytes[byte], true)) {
          return Fail(ErrorCode::kMalformed, "byte piece " + piece.text + " occurs twice", place);
        }
        ++n_bytes;
        break;
      }
      default:
        break;
    }
  }
  if (n_bytes != 0 && n_bytes != 256) {
    return Fail(ErrorCode::kMalformed,
                "expected all 256 byte pieces or none, found " + std::to_string(n_bytes), key);
  }
  out.byte_fallback = n_bytes == 256;
  // The library wants an unknown piece; one past the vocabulary's end is refused when it comes out.
  if (n_unknown == 0) out.pieces.push_back({"\xFF<unk>", 0, PieceType::kUnknown});
  return out;
}

Status CheckUnique(const SentencePieceModel& model, const std::string& key) {
  std::unordered_map<std::string_view, std::size_t> seen;
  seen.reserve(model.pieces.size());
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const auto [it, fresh] = seen.emplace(model.pieces[i].text, i);
    if (!fresh) {
      return Fail(
          ErrorCode::kMalformed,
          "token \"" + model.pieces[i].text + "\" was already token " + std::to_string(it->second),
          key + "[" + std::to_string(i) + "]");
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> MakeSentencePieceTokenizer(SentencePieceModel model,
                                                                    TokenizerMetadata metadata,
                                                                    const std::string& key,
                                                                    const TokenizerLimits& limits) {
  ADJUDGE_RETURN_IF_ERROR(CheckSentencePieceModel(model, key, limits));
  ADJUDGE_RETURN_IF_ERROR(CheckUnique(model, key));
  ADJUDGE_ASSIGN_OR_RETURN(const SentencePieceModel seen, ForLibrary(model, key));
  std::string proto;
  std::unique_ptr<Processor> processor;
  std::unique_ptr<const UnigramSegmenter> unigram;
  if (model.type == SentencePieceModel::Type::kUnigram) {
    ADJUDGE_ASSIGN_OR_RETURN(unigram, UnigramSegmenter::Make(seen));
  } else {
    proto = SerializeSentencePieceModel(seen);
    ADJUDGE_ASSIGN_OR_RETURN(processor, LoadProcessor(proto, key));
  }
  ADJUDGE_ASSIGN_OR_RETURN(Vocabulary vocabulary, BuildVocabulary(model, metadata));
  SpecialTrie controls = BuildTrie(model);
  return std::make_shared<const SentencePieceTokenizer>(
      model, std::move(proto), std::move(processor), std::move(unigram), std::move(metadata),
      std::move(vocabulary), std::move(controls));
}

}  // namespace adjudge
