// UnigramSegmenter: SentencePiece's unigram models, by code of our own.
//
// The packaged library (0.1.97) takes quadratic time over a run of unknown characters (15 s of CPU
// for 1 MB of a letter that the vocabulary lacks), and it adds scores in double but keeps them in
// float, so that equally likely segmentations are told apart by rounding, otherwise than in the
// library's current version (0.2.x). This is linear, and does the current version's arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/text/charsmap.h"
#include "engine/text/sentencepiece_model.h"
#include "engine/text/special_trie.h"

namespace adjudge {

// Immutable; safe to share between threads.
class UnigramSegmenter {
 public:
  // REQUIRES: `model` was checked, and has one piece of type kUnknown.
  static Result<std::unique_ptr<const UnigramSegmenter>> Make(const SentencePieceModel& model);

  // Appends the ids of `text` (valid UTF-8), with the model's dummy prefix if `starts_text`.
  void Encode(std::string_view text, bool starts_text, std::vector<TokenId>& ids) const;

 private:
  // A byte trie of pieces; child (node, byte) by open addressing.
  class Trie {
   public:
    void Add(std::string_view piece, TokenId id);
    void Finish();
    std::int32_t Child(std::int32_t node, unsigned char byte) const;  // -1 = none
    TokenId id(std::int32_t node) const { return ids_[static_cast<std::size_t>(node)]; }

   private:
    struct Edge {
      std::uint64_t key;
      std::int32_t child;
    };
    std::size_t Place(std::uint64_t key) const;
    void Put(const Edge& edge);

    std::vector<TokenId> ids_ = {kNoToken};  // by node; kNoToken where no piece ends
    std::vector<Edge> edges_;
    std::vector<Edge> slots_;
  };

  // The last piece of the best segmentation that ends at some byte.
  struct Node {
    float score = 0;
    TokenId id = kNoToken;
    std::int32_t begin = -1;  // -1 = no segmentation ends here
  };

  UnigramSegmenter(const SentencePieceModel& model, Charsmap charsmap, SpecialTrie user_defined);

  std::string Normalize(std::string_view text, bool starts_text) const;
  void Segment(std::string_view text, std::vector<Node>& best) const;
  void ExtendFrom(std::string_view text, std::size_t at, std::vector<Node>& best,
                  std::size_t& frontier) const;

  Charsmap charsmap_;
  SpecialTrie user_defined_;
  Trie trie_;
  std::vector<float> scores_;  // by id
  float unknown_score_ = 0;
  TokenId unknown_ = kNoToken;
  bool byte_fallback_;
  bool add_dummy_prefix_;
  bool remove_extra_whitespaces_;
  std::string space_;                    // what a space becomes
  std::array<TokenId, 256> byte_ids_{};  // with byte_fallback_
};

}  // namespace adjudge
