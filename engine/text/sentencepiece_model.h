// SentencePieceModel: the parts of a SentencePiece model file (a protocol buffer) that tokenising
// depends on, read and written without the library's generated classes, which are not installed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/tokenizer.h"

namespace adjudge {

struct SentencePieceModel {
  enum class Type { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };
  enum class PieceType {
    kNormal = 1,
    kUnknown = 2,
    kControl = 3,
    kUserDefined = 4,
    kUnused = 5,
    kByte = 6
  };
  struct Piece {
    std::string text;
    float score = 0;
    PieceType type = PieceType::kNormal;
  };

  std::vector<Piece> pieces;
  Type type = Type::kUnigram;
  bool byte_fallback = false;
  bool space_as_suffix = false;
  std::string unknown_surface = " \xE2\x81\x87 ";
  std::string bos_piece = "<s>";
  std::string eos_piece = "</s>";
  std::string charsmap;  // precompiled normaliser; empty = identity
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
  bool denormalizes = false;  // has a rule for the way back
};

// Errors: kMalformed with place "byte N".
Result<SentencePieceModel> ParseSentencePieceModel(std::string_view bytes);
std::string SerializeSentencePieceModel(const SentencePieceModel& model);

// What to append to a serialised model so that it puts no dummy prefix before a text: the later
// value of a field wins.
std::string WithoutDummyPrefix();

// Refuses what the library would trip over or what adjudge does not do: no pieces, scores that are
// not numbers, byte pieces that are not "<0xHH>", a normaliser whose tables point outside
// themselves. `key` names the place.
Status CheckSentencePieceModel(const SentencePieceModel& model, const std::string& key,
                               const TokenizerLimits& limits);

}  // namespace adjudge
