#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/printable_name.h"
#include "engine/text/bpe_tokenizer.h"
#include "engine/text/sentencepiece_tokenizer.h"
#include "engine/text/tokenizer_sources.h"

namespace adjudge {
namespace {

using ValueType = GgufValue::Type;

constexpr std::string_view kTokens = "tokenizer.ggml.tokens";
constexpr std::string_view kTypes = "tokenizer.ggml.token_type";
constexpr std::string_view kScores = "tokenizer.ggml.scores";
constexpr std::string_view kMerges = "tokenizer.ggml.merges";

tl::unexpected<Error> Missing(std::string_view key) {
  return Fail(ErrorCode::kNotFound, "expected this key, found no such key", std::string(key));
}

// An array of `element` with one value for each token, or nullptr when absent.
Result<const GgufValue*> PerToken(const GgufFile& file, std::string_view key, ValueType element,
                                  std::size_t n_tokens) {
  ADJUDGE_ASSIGN_OR_RETURN(const GgufValue* array, file.Array(key, element));
  if (array != nullptr && array->array_size() != n_tokens) {
    return Fail(ErrorCode::kMalformed,
                "expected as many values as " + std::string(kTokens) + " has, " +
                    std::to_string(n_tokens) + ", found " + std::to_string(array->array_size()),
                std::string(key));
  }
  return array;
}

Result<std::optional<TokenId>> FindId(const GgufFile& file, std::string_view key,
                                      std::size_t n_tokens) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::optional<std::int64_t> id, file.Int(key));
  if (!id) return std::nullopt;
  if (*id < 0 || static_cast<std::uint64_t>(*id) >= n_tokens) {
    return Fail(ErrorCode::kMalformed,
                "expected the id of one of " + std::to_string(n_tokens) + " tokens, found " +
                    std::to_string(*id),
                std::string(key));
  }
  return static_cast<TokenId>(*id);
}

// GGUF's numbering of token types is SentencePiece's.
Result<std::vector<TokenKind>> ReadKinds(const GgufFile& file, std::size_t n_tokens) {
  std::vector<TokenKind> kinds(n_tokens, TokenKind::kNormal);
  ADJUDGE_ASSIGN_OR_RETURN(const GgufValue* types,
                           PerToken(file, kTypes, ValueType::kI32, n_tokens));
  if (types == nullptr) return kinds;
  static constexpr TokenKind kByNumber[] = {TokenKind::kNormal,  TokenKind::kUnknown,
                                            TokenKind::kControl, TokenKind::kUserDefined,
                                            TokenKind::kUnused,  TokenKind::kByte};
  for (std::size_t i = 0; i < n_tokens; ++i) {
    const std::int64_t type = types->integers[i];
    if (type < 1 || type > 6) {
      return Fail(ErrorCode::kUnsupported,
                  "expected a token type of 1 to 6, found " + std::to_string(type),
                  std::string(kTypes) + "[" + std::to_string(i) + "]");
    }
    kinds[i] = kByNumber[type - 1];
  }
  return kinds;
}

Result<TokenizerMetadata> ReadMetadata(const GgufFile& file, std::size_t n_tokens,
                                       bool wants_bos_by_default) {
  TokenizerMetadata metadata;
  ADJUDGE_ASSIGN_OR_RETURN(metadata.bos, FindId(file, "tokenizer.ggml.bos_token_id", n_tokens));
  ADJUDGE_ASSIGN_OR_RETURN(metadata.eos, FindId(file, "tokenizer.ggml.eos_token_id", n_tokens));
  if (metadata.eos) metadata.stop_ids.push_back(*metadata.eos);
  for (const char* key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    ADJUDGE_ASSIGN_OR_RETURN(const std::optional<TokenId> id, FindId(file, key, n_tokens));
    if (id) metadata.stop_ids.push_back(*id);
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::optional<bool> add_bos,
                           file.Bool("tokenizer.ggml.add_bos_token"));
  metadata.wants_bos = add_bos.value_or(wants_bos_by_default) && metadata.bos.has_value();
  ADJUDGE_ASSIGN_OR_RETURN(const auto chat_template, file.Text("tokenizer.chat_template"));
  if (chat_template) metadata.chat_template = std::string(*chat_template);

  ADJUDGE_ASSIGN_OR_RETURN(const auto architecture, file.Text("general.architecture"));
  if (architecture) {
    const std::string key = std::string(*architecture) + ".vocab_size";
    ADJUDGE_ASSIGN_OR_RETURN(const std::optional<std::int64_t> width, file.Int(key));
    if (width && (*width < 1 || *width > INT32_MAX)) {
      return Fail(ErrorCode::kMalformed,
                  "expected a number of tokens, found " + std::to_string(*width),
                  PrintableName(key));
    }
    metadata.width = static_cast<int>(width.value_or(0));
  }
  return metadata;
}

Result<std::vector<BpeModel::Merge>> ReadMerges(const GgufFile& file) {
  ADJUDGE_ASSIGN_OR_RETURN(const GgufValue* merges, file.Array(kMerges, ValueType::kString));
  if (merges == nullptr) return Missing(kMerges);
  std::vector<BpeModel::Merge> out;
  out.reserve(merges->texts.size());
  for (const std::string_view merge : merges->texts) {
    const std::size_t space = merge.find(' ');
    if (space == 0 || space + 1 >= merge.size() || merge.find(' ', space + 1) != merge.npos) {
      return Fail(
          ErrorCode::kMalformed,
          "expected two tokens with a space between them, found \"" + PrintableName(merge) + "\"",
          std::string(kMerges) + "[" + std::to_string(out.size()) + "]");
    }
    out.push_back({std::string(merge.substr(0, space)), std::string(merge.substr(space + 1))});
  }
  return out;
}

TokenizerResult LoadBpe(const GgufFile& file, const GgufValue& tokens,
                        const std::vector<TokenKind>& kinds, const TokenizerLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto pre, file.Text("tokenizer.ggml.pre"));
  if (!pre) return Missing("tokenizer.ggml.pre");
  const std::optional<PreTokenizerKind> kind = PreTokenizerFromGguf(*pre);
  if (!kind) {
    return Fail(ErrorCode::kUnsupported, "unknown pre-tokenizer \"" + PrintableName(*pre) + "\"",
                "tokenizer.ggml.pre");
  }
  BpeModel model;
  model.pre_tokenizer = *kind;
  model.nfc = *kind == PreTokenizerKind::kQwen2;
  model.ignore_merges = *kind == PreTokenizerKind::kLlama3;
  model.tokens_key = kTokens;
  model.merges_key = kMerges;
  model.tokens.reserve(kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    model.tokens.push_back({std::string(tokens.texts[i]), kinds[i]});
  }
  ADJUDGE_ASSIGN_OR_RETURN(model.merges, ReadMerges(file));
  ADJUDGE_ASSIGN_OR_RETURN(model.metadata,
                           ReadMetadata(file, kinds.size(), *kind == PreTokenizerKind::kLlama3));
  return MakeBpeTokenizer(std::move(model), limits);
}

SentencePieceModel::PieceType PieceTypeOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kByte:
      return SentencePieceModel::PieceType::kByte;
    case TokenKind::kUserDefined:
      return SentencePieceModel::PieceType::kUserDefined;
    case TokenKind::kControl:
      return SentencePieceModel::PieceType::kControl;
    case TokenKind::kUnknown:
    case TokenKind::kUnused:
      return SentencePieceModel::PieceType::kUnused;
    case TokenKind::kNormal:
      break;
  }
  return SentencePieceModel::PieceType::kNormal;
}

// The normaliser's settings. Files of the "llama" kind hold vocabularies that keep every space.
Status ReadNormalizer(const GgufFile& file, SentencePieceModel& model) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto prefix, file.Bool("tokenizer.ggml.add_space_prefix"));
  ADJUDGE_ASSIGN_OR_RETURN(const auto extra, file.Bool("tokenizer.ggml.remove_extra_whitespaces"));
  model.add_dummy_prefix = prefix.value_or(true);
  model.remove_extra_whitespaces = extra.value_or(false);
  constexpr std::string_view kCharsmap = "tokenizer.ggml.precompiled_charsmap";
  const GgufValue* charsmap = file.Find(kCharsmap);
  if (charsmap == nullptr) return {};
  if (charsmap->type != ValueType::kArray ||
      (charsmap->element != ValueType::kU8 && charsmap->element != ValueType::kI8)) {
    return Fail(ErrorCode::kMalformed, "expected array of uint8, found " + TypeName(*charsmap),
                std::string(kCharsmap));
  }
  model.charsmap.reserve(charsmap->integers.size());
  for (const std::int64_t byte : charsmap->integers) {
    model.charsmap.push_back(static_cast<char>(byte));
  }
  return {};
}

TokenizerResult LoadSentencePiece(const GgufFile& file, SentencePieceModel::Type type,
                                  const GgufValue& tokens, const std::vector<TokenKind>& kinds,
                                  const TokenizerLimits& limits) {
  const std::size_t n = kinds.size();
  ADJUDGE_ASSIGN_OR_RETURN(const GgufValue* scores, PerToken(file, kScores, ValueType::kF32, n));
  if (scores == nullptr) return Missing(kScores);
  if (file.Find(kTypes) == nullptr) return Missing(kTypes);
  ADJUDGE_ASSIGN_OR_RETURN(std::optional<TokenId> unknown,
                           FindId(file, "tokenizer.ggml.unknown_token_id", n));
  SentencePieceModel model;
  model.type = type;
  model.pieces.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!unknown && kinds[i] == TokenKind::kUnknown) unknown = static_cast<TokenId>(i);
    model.pieces.push_back({std::string(tokens.texts[i]), static_cast<float>(scores->reals[i]),
                            PieceTypeOf(kinds[i])});
  }
  // One token stands for what cannot be spelled; converters also give this type to padding.
  if (unknown) {
    model.pieces[static_cast<std::size_t>(*unknown)].type = SentencePieceModel::PieceType::kUnknown;
  }
  ADJUDGE_RETURN_IF_ERROR(ReadNormalizer(file, model));
  ADJUDGE_ASSIGN_OR_RETURN(TokenizerMetadata metadata,
                           ReadMetadata(file, n, type == SentencePieceModel::Type::kBpe));
  return MakeSentencePieceTokenizer(std::move(model), std::move(metadata), std::string(kTokens),
                                    limits);
}

}  // namespace

TokenizerResult LoadGgufTokenizer(const GgufFile& file, const TokenizerLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto model, file.Text("tokenizer.ggml.model"));
  if (!model) return Missing("tokenizer.ggml.model");
  ADJUDGE_ASSIGN_OR_RETURN(const GgufValue* tokens, file.Array(kTokens, ValueType::kString));
  if (tokens == nullptr) return Missing(kTokens);
  const std::size_t n = tokens->texts.size();
  if (n == 0 || n > limits.max_tokens) {
    return Fail(n == 0 ? ErrorCode::kMalformed : ErrorCode::kLimit,
                "expected 1 to " + std::to_string(limits.max_tokens) +
                    " tokens (max_tokens), found " + std::to_string(n),
                std::string(kTokens));
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<TokenKind> kinds, ReadKinds(file, n));
  if (*model == "gpt2") return LoadBpe(file, *tokens, kinds, limits);
  if (*model == "llama" || *model == "gemma") {
    return LoadSentencePiece(file, SentencePieceModel::Type::kBpe, *tokens, kinds, limits);
  }
  if (*model == "t5") {
    return LoadSentencePiece(file, SentencePieceModel::Type::kUnigram, *tokens, kinds, limits);
  }
  return Fail(ErrorCode::kUnsupported, "unknown tokenizer \"" + PrintableName(*model) + "\"",
              "tokenizer.ggml.model");
}

}  // namespace adjudge
