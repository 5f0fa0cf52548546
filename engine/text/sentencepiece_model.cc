#include "engine/text/sentencepiece_model.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "engine/base/utf8.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/charsmap.h"

namespace adjudge {
namespace {

// Field numbers of sentencepiece_model.proto.
enum Field {
  kModelPieces = 1,
  kModelTrainer = 2,
  kModelNormalizer = 3,
  kModelDenormalizer = 5,
  kPieceText = 1,
  kPieceScore = 2,
  kPieceType = 3,
  kTrainerType = 3,
  kTrainerSuffix = 24,
  kTrainerByteFallback = 35,
  kTrainerUnknownSurface = 44,
  kTrainerBosPiece = 46,
  kTrainerEosPiece = 47,
  kNormalizerCharsmap = 2,
  kNormalizerDummyPrefix = 3,
  kNormalizerExtraSpaces = 4,
  kNormalizerEscape = 5,
};

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// One field of a message: its number, and its value in the member that its wire type fills.
struct WireField {
  std::uint64_t number = 0;
  int type = 0;
  std::uint64_t integer = 0;
  std::string_view bytes;
};

// Reads the fields of a message in order.
class WireReader {
 public:
  WireReader(std::string_view message, std::size_t offset) : message_(message), offset_(offset) {}

  bool at_end() const { return at_ == message_.size(); }
  // Where in the file the next byte lies.
  std::size_t offset() const { return offset_ + at_; }

  Result<WireField> Next() {
    WireField field;
    ADJUDGE_ASSIGN_OR_RETURN(const std::uint64_t tag, Varint());
    field.number = tag >> 3;
    field.type = static_cast<int>(tag & 7);
    switch (field.type) {
      case kVarint: {
        ADJUDGE_ASSIGN_OR_RETURN(field.integer, Varint());
        return field;
      }
      case kBytes: {
        ADJUDGE_ASSIGN_OR_RETURN(const std::uint64_t length, Varint());
        ADJUDGE_ASSIGN_OR_RETURN(field.bytes, Take(length));
        return field;
      }
      case kFixed32:
      case kFixed64: {
        ADJUDGE_ASSIGN_OR_RETURN(field.bytes, Take(field.type == kFixed32 ? 4 : 8));
        return field;
      }
      default:
        return Bad("a field of wire type " + std::to_string(field.type));
    }
  }

 private:
  tl::unexpected<Error> Bad(const std::string& found) const {
    return Fail(ErrorCode::kMalformed, "expected a SentencePiece model, found " + found,
                "byte " + std::to_string(offset()));
  }

  Result<std::uint64_t> Varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_end()) return Bad("the end");
      const auto byte = static_cast<unsigned char>(message_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    return Bad("a number of more than ten bytes");
  }

  Result<std::string_view> Take(std::uint64_t length) {
    if (length > message_.size() - at_) {
      return Bad("a field of " + std::to_string(length) + " bytes where " +
                 std::to_string(message_.size() - at_) + " are left");
    }
    const std::string_view bytes = message_.substr(at_, length);
    at_ += length;
    return bytes;
  }

  std::string_view message_;
  std::size_t offset_;
  std::size_t at_ = 0;
};

// Calls `visit(field)` for each field of `message`, which begins at `offset` in the file.
template <typename Visit>
Status ForEachField(std::string_view message, std::size_t offset, Visit visit) {
  WireReader reader(message, offset);
  while (!reader.at_end()) {
    ADJUDGE_ASSIGN_OR_RETURN(const WireField field, reader.Next());
    ADJUDGE_RETURN_IF_ERROR(visit(field, reader.offset() - field.bytes.size()));
  }
  return {};
}

Status ReadPiece(const WireField& field, std::size_t offset, SentencePieceModel::Piece& piece) {
  switch (field.number) {
    case kPieceText:
      piece.text = std::string(field.bytes);
      break;
    case kPieceScore:
      if (field.type == kFixed32) std::memcpy(&piece.score, field.bytes.data(), 4);
      break;
    case kPieceType:
      if (field.integer < 1 || field.integer > 6) {
        return Fail(ErrorCode::kUnsupported,
                    "expected a piece type of 1 to 6, found " + std::to_string(field.integer),
                    "byte " + std::to_string(offset));
      }
      piece.type = static_cast<SentencePieceModel::PieceType>(field.integer);
      break;
    default:
      break;
  }
  return {};
}

Status ReadTrainer(const WireField& field, std::size_t offset, SentencePieceModel& model) {
  switch (field.number) {
    case kTrainerType:
      if (field.integer < 1 || field.integer > 4) {
        return Fail(ErrorCode::kUnsupported,
                    "expected a model type of 1 to 4, found " + std::to_string(field.integer),
                    "byte " + std::to_string(offset));
      }
      model.type = static_cast<SentencePieceModel::Type>(field.integer);
      break;
    case kTrainerSuffix:
      model.space_as_suffix = field.integer != 0;
      break;
    case kTrainerByteFallback:
      model.byte_fallback = field.integer != 0;
      break;
    case kTrainerUnknownSurface:
      model.unknown_surface = std::string(field.bytes);
      break;
    case kTrainerBosPiece:
      model.bos_piece = std::string(field.bytes);
      break;
    case kTrainerEosPiece:
      model.eos_piece = std::string(field.bytes);
      break;
    default:
      break;
  }
  return {};
}

Status ReadNormalizer(const WireField& field, SentencePieceModel& model) {
  switch (field.number) {
    case kNormalizerCharsmap:
      model.charsmap = std::string(field.bytes);
      break;
    case kNormalizerDummyPrefix:
      model.add_dummy_prefix = field.integer != 0;
      break;
    case kNormalizerExtraSpaces:
      model.remove_extra_whitespaces = field.integer != 0;
      break;
    case kNormalizerEscape:
      model.escape_whitespaces = field.integer != 0;
      break;
    default:
      break;
  }
  return {};
}

Status ReadModelField(const WireField& field, std::size_t offset, SentencePieceModel& model) {
  if (field.type != kBytes) return {};
  switch (field.number) {
    case kModelPieces: {
      SentencePieceModel::Piece& piece = model.pieces.emplace_back();
      return ForEachField(field.bytes, offset, [&](const WireField& inner, std::size_t at) {
        return ReadPiece(inner, at, piece);
      });
    }
    case kModelTrainer:
      return ForEachField(field.bytes, offset, [&](const WireField& inner, std::size_t at) {
        return ReadTrainer(inner, at, model);
      });
    case kModelNormalizer:
      return ForEachField(field.bytes, offset, [&](const WireField& inner, std::size_t) {
        return ReadNormalizer(inner, model);
      });
    case kModelDenormalizer:
      return ForEachField(field.bytes, offset, [&](const WireField& inner, std::size_t) -> Status {
        if (inner.number == kNormalizerCharsmap && !inner.bytes.empty()) model.denormalizes = true;
        return {};
      });
    default:
      return {};
  }
}

void PutVarint(std::uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void PutInteger(int field, std::uint64_t value, std::string& out) {
  PutVarint(static_cast<std::uint64_t>(field) << 3 | kVarint, out);
  PutVarint(value, out);
}

void PutBytes(int field, std::string_view bytes, std::string& out) {
  PutVarint(static_cast<std::uint64_t>(field) << 3 | kBytes, out);
  PutVarint(bytes.size(), out);
  out += bytes;
}

void PutFloat(int field, float value, std::string& out) {
  PutVarint(static_cast<std::uint64_t>(field) << 3 | kFixed32, out);
  char bytes[4];
  std::memcpy(bytes, &value, 4);
  out.append(bytes, 4);
}

}  // namespace

Result<SentencePieceModel> ParseSentencePieceModel(std::string_view bytes) {
  SentencePieceModel model;
  ADJUDGE_RETURN_IF_ERROR(ForEachField(bytes, 0, [&](const WireField& field, std::size_t offset) {
    return ReadModelField(field, offset, model);
  }));
  return model;
}

std::string SerializeSentencePieceModel(const SentencePieceModel& model) {
  std::string out;
  std::string message;
  for (const SentencePieceModel::Piece& piece : model.pieces) {
    message.clear();
    PutBytes(kPieceText, piece.text, message);
    PutFloat(kPieceScore, piece.score, message);
    PutInteger(kPieceType, static_cast<std::uint64_t>(piece.type), message);
    PutBytes(kModelPieces, message, out);
  }
  message.clear();
  PutInteger(kTrainerType, static_cast<std::uint64_t>(model.type), message);
  PutInteger(kTrainerSuffix, model.space_as_suffix ? 1 : 0, message);
  PutInteger(kTrainerByteFallback, model.byte_fallback ? 1 : 0, message);
  PutBytes(kTrainerUnknownSurface, model.unknown_surface, message);
  PutBytes(kTrainerBosPiece, model.bos_piece, message);
  PutBytes(kTrainerEosPiece, model.eos_piece, message);
  PutBytes(kModelTrainer, message, out);
  message.clear();
  PutBytes(kNormalizerCharsmap, model.charsmap, message);
  PutInteger(kNormalizerDummyPrefix, model.add_dummy_prefix ? 1 : 0, message);
  PutInteger(kNormalizerExtraSpaces, model.remove_extra_whitespaces ? 1 : 0, message);
  PutInteger(kNormalizerEscape, model.escape_whitespaces ? 1 : 0, message);
  PutBytes(kModelNormalizer, message, out);
  return out;
}

std::string WithoutDummyPrefix() {
  std::string message;
  PutInteger(kNormalizerDummyPrefix, 0, message);
  std::string out;
  PutBytes(kModelNormalizer, message, out);
  return out;
}

Status CheckSentencePieceModel(const SentencePieceModel& model, const std::string& key,
                               const TokenizerLimits& limits) {
  if (model.pieces.empty()) {
    return Fail(ErrorCode::kMalformed, "expected pieces, found none", key);
  }
  if (model.pieces.size() > limits.max_tokens) {
    return Fail(ErrorCode::kLimit,
                "expected at most " + std::to_string(limits.max_tokens) +
                    " tokens (max_tokens), found " + std::to_string(model.pieces.size()),
                key);
  }
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePieceModel::Piece& piece = model.pieces[i];
    const auto fail = [&](ErrorCode code, const std::string& message) {
      return Fail(code, message, key + "[" + std::to_string(i) + "]");
    };
    const bool control = piece.type == SentencePieceModel::PieceType::kControl;
    const std::size_t limit = control ? limits.max_special_bytes : limits.max_token_bytes;
    if (piece.text.size() > limit) {
      return fail(ErrorCode::kLimit, "expected a token of at most " + std::to_string(limit) +
                                         " bytes (" +
                                         (control ? "max_special_bytes" : "max_token_bytes") +
                                         "), found " + std::to_string(piece.text.size()));
    }
    if (piece.text.empty()) return fail(ErrorCode::kMalformed, "expected a piece, found nothing");
    if (const auto bad = FirstInvalidUtf8(piece.text)) {
      return fail(ErrorCode::kMalformed,
                  "expected UTF-8, found bytes that are not, at byte " + std::to_string(*bad));
    }
    if (!std::isfinite(piece.score)) {
      return fail(ErrorCode::kMalformed, "expected a score that is a number");
    }
    if (piece.type == SentencePieceModel::PieceType::kByte && !ParseBytePiece(piece.text)) {
      return fail(ErrorCode::kMalformed, "expected a byte piece <0xHH>");
    }
  }
  if (model.space_as_suffix) {
    return Fail(ErrorCode::kUnsupported, "treat_whitespace_as_suffix is not supported", key);
  }
  if (model.denormalizes) {
    return Fail(ErrorCode::kUnsupported, "a denormalizer is not supported", key);
  }
  ADJUDGE_RETURN_IF_ERROR(Charsmap::Parse(model.charsmap));
  return {};
}

}  // namespace adjudge
