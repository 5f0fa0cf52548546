#include "engine/text/unigram_segmenter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/text/byte_alphabet.h"

namespace adjudge {
namespace {

using PieceType = SentencePieceModel::PieceType;

constexpr float kUnknownPenalty = 10.0F;
// Beyond this the sums are counted from zero again, so that they keep their precision.
constexpr float kLargestSum = 100000.0F;

// A user-defined piece beats what it could be made of.
float UserDefinedScore(std::size_t bytes) {
  return static_cast<float>(0.1 * (static_cast<double>(bytes) - 1.0));
}

// Bytes of the character at `at`, cut at the end: a normaliser out of a bad file may write text
// that is not UTF-8.
std::size_t CharacterAt(std::string_view text, std::size_t at) {
  return std::min(Utf8Length(text[at]), text.size() - at);
}

}  // namespace

void UnigramSegmenter::Trie::Add(std::string_view piece, TokenId id) {
  std::int32_t node = 0;
  if (slots_.empty()) Finish();
  for (const char c : piece) {
    const auto byte = static_cast<unsigned char>(c);
    std::int32_t child = Child(node, byte);
    if (child < 0) {
      child = static_cast<std::int32_t>(ids_.size());
      ids_.push_back(kNoToken);
      const Edge edge{static_cast<std::uint64_t>(node) << 8 | byte, child};
      edges_.push_back(edge);
      if (2 * edges_.size() > slots_.size()) {
        Finish();
      } else {
        Put(edge);
      }
    }
    node = child;
  }
  ids_[static_cast<std::size_t>(node)] = id;
}

// Lays the table out anew with room to grow.
void UnigramSegmenter::Trie::Finish() {
  std::size_t size = 64;
  while (size < 4 * edges_.size()) size *= 2;
  slots_.assign(size, {0, -1});
  for (const Edge& edge : edges_) Put(edge);
}

std::size_t UnigramSegmenter::Trie::Place(std::uint64_t key) const {
  const std::uint64_t mixed = key * 0x9E3779B97F4A7C15U;
  return static_cast<std::size_t>(mixed ^ mixed >> 32) & (slots_.size() - 1);
}

void UnigramSegmenter::Trie::Put(const Edge& edge) {
  std::size_t at = Place(edge.key);
  while (slots_[at].child >= 0) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = edge;
}

std::int32_t UnigramSegmenter::Trie::Child(std::int32_t node, unsigned char byte) const {
  const std::uint64_t key = static_cast<std::uint64_t>(node) << 8 | byte;
  for (std::size_t at = Place(key);; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].child < 0) return -1;
    if (slots_[at].key == key) return slots_[at].child;
  }
}

Result<std::unique_ptr<const UnigramSegmenter>> UnigramSegmenter::Make(
    const SentencePieceModel& model) {
  ADJUDGE_ASSIGN_OR_RETURN(Charsmap charsmap, Charsmap::Parse(model.charsmap));
  std::vector<SpecialName> names;
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    if (model.pieces[i].type != PieceType::kUserDefined) continue;
    names.push_back({model.pieces[i].text, static_cast<TokenId>(i)});
  }
  return std::unique_ptr<const UnigramSegmenter>(
      new UnigramSegmenter(model, std::move(charsmap), SpecialTrie(names)));
}

UnigramSegmenter::UnigramSegmenter(const SentencePieceModel& model, Charsmap charsmap,
                                   SpecialTrie user_defined)
    : charsmap_(std::move(charsmap)),
      user_defined_(std::move(user_defined)),
      byte_fallback_(model.byte_fallback),
      add_dummy_prefix_(model.add_dummy_prefix),
      remove_extra_whitespaces_(model.remove_extra_whitespaces),
      space_(model.escape_whitespaces ? "\xE2\x96\x81" : " ") {
  float least = std::numeric_limits<float>::max();
  scores_.reserve(model.pieces.size());
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePieceModel::Piece& piece = model.pieces[i];
    const auto id = static_cast<TokenId>(i);
    scores_.push_back(piece.type == PieceType::kUserDefined ? UserDefinedScore(piece.text.size())
                                                            : piece.score);
    switch (piece.type) {
      case PieceType::kNormal:
        least = std::min(least, piece.score);
        trie_.Add(piece.text, id);
        break;
      case PieceType::kUserDefined:
        trie_.Add(piece.text, id);
        break;
      case PieceType::kUnknown:
        unknown_ = id;
        break;
      case PieceType::kByte:
        byte_ids_[*ParseBytePiece(piece.text)] = id;
        break;
      case PieceType::kControl:
      case PieceType::kUnused:
        break;
    }
  }
  trie_.Finish();
  unknown_score_ = least - kUnknownPenalty;
}

std::string UnigramSegmenter::Normalize(std::string_view text, bool starts_text) const {
  std::string out;
  out.reserve(text.size() + text.size() / 4 + 8);
  bool after_space = remove_extra_whitespaces_;  // spaces here are dropped
  bool begun = false;
  std::vector<SpecialTrie::Match> matches;
  if (!user_defined_.empty()) user_defined_.Find(text, 0, text.size(), matches);
  std::size_t next_match = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = Utf8Length(text[at]);
    std::string_view piece = text.substr(at, length);
    while (next_match < matches.size() && matches[next_match].begin < at) ++next_match;
    if (next_match < matches.size() && matches[next_match].begin == at) {
      length = matches[next_match].end - at;
      piece = text.substr(at, length);
    } else if (const Charsmap::Match rule = charsmap_.Find(text.substr(at)); rule.length > 0) {
      length = rule.length;
      piece = rule.replacement;
    }
    at += length;
    if (!begun && remove_extra_whitespaces_ && piece == " ") continue;  // before any text
    if (!std::exchange(begun, true) && starts_text && add_dummy_prefix_) out += space_;
    while (after_space && piece.starts_with(' ')) piece.remove_prefix(1);
    if (piece.empty()) continue;
    for (const char c : piece) {
      if (c == ' ') {
        out += space_;
      } else {
        out.push_back(c);
      }
    }
    after_space = remove_extra_whitespaces_ && piece.back() == ' ';
  }
  if (remove_extra_whitespaces_) {
    while (out.ends_with(space_)) out.resize(out.size() - space_.size());
  }
  return out;
}

// Offers every piece that begins at `at` as the last of a segmentation that ends after it; an
// unknown character where no piece is just the one that stands there.
void UnigramSegmenter::ExtendFrom(std::string_view text, std::size_t at, std::vector<Node>& best,
                                  std::size_t& frontier) const {
  const float so_far = best[at].score;
  const std::size_t character = CharacterAt(text, at);
  bool character_is_piece = false;
  const auto offer = [&](std::size_t end, TokenId id, float score) {
    frontier = std::max(frontier, end);
    Node& node = best[end];
    const float sum = score + so_far;
    if (node.begin >= 0 && sum <= node.score) return;
    node = {sum, id, static_cast<std::int32_t>(at)};
  };
  std::int32_t node = 0;
  for (std::size_t end = at; end < text.size();) {
    node = trie_.Child(node, static_cast<unsigned char>(text[end++]));
    if (node < 0) break;
    const TokenId id = trie_.id(node);
    if (id == kNoToken) continue;
    offer(end, id, scores_[static_cast<std::size_t>(id)]);
    if (end == at + character) character_is_piece = true;
  }
  if (!character_is_piece) offer(at + character, unknown_, unknown_score_);
}

void UnigramSegmenter::Segment(std::string_view text, std::vector<Node>& best) const {
  best.assign(text.size() + 1, {});
  std::size_t frontier = 0;
  for (std::size_t at = 0; at < text.size(); at += CharacterAt(text, at)) {
    if (const float sum = best[at].score; std::abs(sum) > kLargestSum) {
      best[at].score = 0;
      for (std::size_t i = at + 1; i <= frontier; ++i) {
        if (best[i].begin >= 0) best[i].score -= sum;
      }
    }
    ExtendFrom(text, at, best, frontier);
  }
}

void UnigramSegmenter::Encode(std::string_view text, bool starts_text,
                              std::vector<TokenId>& ids) const {
  const std::string normal = Normalize(text, starts_text);
  if (normal.empty()) return;
  std::vector<Node> best;
  Segment(normal, best);
  std::vector<std::size_t> ends;
  for (std::size_t end = normal.size(); end > 0; end = static_cast<std::size_t>(best[end].begin)) {
    ends.push_back(end);
  }
  bool after_unknown = false;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    const Node& node = best[*end];
    const bool unknown = node.id == unknown_;
    if (unknown && byte_fallback_) {
      for (std::size_t i = static_cast<std::size_t>(node.begin); i < *end; ++i) {
        ids.push_back(byte_ids_[static_cast<unsigned char>(normal[i])]);
      }
    } else if (!(unknown && after_unknown)) {  // one token for a run of unknown characters
      ids.push_back(node.id);
    }
    after_unknown = unknown;
  }
}

}  // namespace adjudge
