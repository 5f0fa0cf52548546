#include "constraints/mask/vocabulary_index.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/base/utf8.h"

namespace adjudge {
namespace {

constexpr std::size_t kLongestClassToken = 200;  // characters; longer ones are special

std::uint8_t ClassOfAscii(std::uint8_t byte) {
  using V = VocabularyIndex;
  if (byte >= 'a' && byte <= 'z') return V::kLower;
  if (byte >= 'A' && byte <= 'Z') return V::kUpper;
  if (byte >= '0' && byte <= '9') return V::kDigit;
  if (byte == ' ') return V::kSpace;
  if (byte == '_' || byte == '-') return V::kJoin;
  if (byte < 0x20 || byte == 0x7F || byte == '"' || byte == '\\') return V::kSpecial;
  return V::kOther;
}

struct Cut {
  std::uint8_t signature = 0;
  std::size_t characters = 0;  // before the first special byte, or in all
  std::size_t bytes = 0;       // the same
};

Cut CutToken(std::string_view text) {
  Cut cut;
  while (cut.bytes < text.size()) {
    const auto byte = static_cast<std::uint8_t>(text[cut.bytes]);
    std::uint8_t bit = VocabularyIndex::kWide;
    std::size_t length = 1;
    if (byte < 0x80) {
      bit = ClassOfAscii(byte);
    } else {
      const Utf8Step step = NextUtf8(text.substr(cut.bytes));
      length = step.length;
      // A part that the token's end cuts off is a character of its own.
      const bool cut_off = step.truncated && cut.bytes + length == text.size();
      if (!step.valid && !cut_off) bit = VocabularyIndex::kSpecial;
    }
    if (cut.characters >= kLongestClassToken) bit = VocabularyIndex::kSpecial;
    cut.signature |= bit;
    if (bit == VocabularyIndex::kSpecial) return cut;
    cut.bytes += length;
    ++cut.characters;
  }
  return cut;
}

class Hasher {
 public:
  void Add(std::uint64_t value) {
    hash_ = (hash_ ^ value) * 0xFF51AFD7ED558CCD;
    hash_ ^= hash_ >> 32;
  }
  void Add(std::string_view text) {
    Add(text.size());
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      word = (word << 8) | static_cast<unsigned char>(text[i]);
      if (i % 8 == 7) Add(word);
    }
    Add(word);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325;
};

}  // namespace

VocabularyIndex::VocabularyIndex(const Vocabulary& vocabulary) : tokens_(vocabulary) {
  std::vector<std::string_view> sorted;
  sorted.reserve(tokens_.ids().size());
  for (const TokenId id : tokens_.ids()) sorted.push_back(tokens_.text(id));
  trie_ = MaskTrie(sorted);
  Sign();
  CutSpecial();
  IndexNames(vocabulary);
}

void VocabularyIndex::Sign() {
  const std::size_t padded = (static_cast<std::size_t>(width()) + 63) / 64 * 64;
  signatures_.assign(padded, kSpecial);
  lengths_.assign(padded, 255);
  std::array<std::size_t, 256> of_signature{};
  for (const TokenId id : tokens_.ids()) {
    const Cut cut = CutToken(tokens_.text(id));
    signatures_[static_cast<std::size_t>(id)] = cut.signature;
    ++of_signature[cut.signature];
    if ((cut.signature & kSpecial) != 0) continue;
    lengths_[static_cast<std::size_t>(id)] = static_cast<std::uint8_t>(cut.characters);
    longest_ = std::max(longest_, static_cast<std::uint32_t>(cut.characters));
  }
  const auto& nodes = trie_.nodes();
  below_.assign(trie_.n_nodes(), 0);
  for (std::uint32_t i = trie_.n_nodes(); i-- > 0;) {
    for (std::uint32_t s = nodes[i].first_string; s < nodes[i + 1].first_string; ++s) {
      below_[i] |= signatures_[static_cast<std::size_t>(tokens_.ids()[s])];
    }
    for (std::uint32_t child = i + 1; child < nodes[i].end; child = nodes[child].end) {
      below_[i] |= below_[child];
    }
  }
  for (std::size_t classes = 0; classes < 128; ++classes) {
    for (std::size_t s = 0; s < 128; ++s) {
      if ((s & ~classes) == 0) n_tokens_[classes] += of_signature[s];
    }
  }
}

void VocabularyIndex::CutSpecial() {
  struct Special {
    std::string_view rest;
    Exit exit;
  };
  std::vector<Special> specials;
  std::vector<std::string_view> whole;
  std::vector<std::string_view> quoted;
  for (const TokenId id : tokens_.ids()) {
    const std::string_view text = tokens_.text(id);
    const bool is_quoted = std::count(text.begin(), text.end(), '"') >= 2;
    if (is_quoted) {
      quoted.push_back(text);
      quoted_ids_.push_back(id);
    }
    if ((signatures_[static_cast<std::size_t>(id)] & kSpecial) == 0) continue;
    whole.push_back(text);
    special_ids_.push_back(id);
    const Cut cut = CutToken(text);
    const auto before = static_cast<std::uint8_t>(cut.characters);
    longest_before_ = std::max(longest_before_, before);
    specials.push_back({text.substr(cut.bytes), {id, before, is_quoted}});
  }
  special_ = MaskTrie(whole);
  quoted_ = MaskTrie(quoted);
  std::sort(specials.begin(), specials.end(), [](const Special& a, const Special& b) {
    const int order = a.rest.compare(b.rest);
    return order != 0 ? order < 0 : a.exit.before < b.exit.before;
  });
  std::vector<std::string_view> rests;
  for (const Special& special : specials) {
    if (rests.empty() || rests.back() != special.rest) {
      rests.push_back(special.rest);
      first_exit_.push_back(static_cast<std::uint32_t>(exits_.size()));
    }
    exits_.push_back(special.exit);
  }
  first_exit_.push_back(static_cast<std::uint32_t>(exits_.size()));
  rests_ = MaskTrie(rests);
}

void VocabularyIndex::IndexNames(const Vocabulary& vocabulary) {
  Hasher hasher;
  hasher.Add(static_cast<std::uint64_t>(vocabulary.width()));
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    hasher.Add(vocabulary.bytes(id));
    hasher.Add(static_cast<std::uint64_t>(vocabulary.kind(id)));
    if (vocabulary.is_special(id))
      control_names_.try_emplace(std::string(vocabulary.bytes(id)), id);
    if (vocabulary.is_producible(id) && !vocabulary.is_stop(id)) producible_.push_back(id);
  }
  for (const TokenId id : vocabulary.stop_ids()) hasher.Add(static_cast<std::uint64_t>(id));
  fingerprint_ = hasher.value();
  for (int byte = 0; byte < 256; ++byte) {
    const auto range = tokens_.Narrow(tokens_.all(), static_cast<unsigned char>(byte));
    const auto [first, last] = tokens_.Ending(range);
    if (first == last) missing_bytes_.push_back(static_cast<std::uint8_t>(byte));
  }
}

TokenId VocabularyIndex::Find(std::string_view name) const {
  const auto found = control_names_.find(std::string(name));
  if (found != control_names_.end()) return found->second;
  auto range = tokens_.all();
  for (const char c : name) range = tokens_.Narrow(range, static_cast<unsigned char>(c));
  const auto [first, last] = tokens_.Ending(range);
  return name.empty() || first == last ? kNoToken : tokens_.ids()[first];
}

std::uint8_t VocabularyIndex::ClassesIn(const CharClass& chars) {
  std::uint8_t refused = chars.non_ascii ? 0 : kWide;
  for (std::uint8_t byte = 0x20; byte < 0x7F; ++byte) {
    if (!chars.has(byte)) refused |= ClassOfAscii(byte);
  }
  return static_cast<std::uint8_t>(~refused & kAllClasses);
}

void VocabularyIndex::FillClass(std::uint8_t classes, std::uint32_t room, TokenMask& mask) const {
  ADJUDGE_CHECK(mask.width() == width());
  FillClassMask(isa_, signatures_.data(), lengths_.data(), static_cast<std::uint8_t>(~classes),
                static_cast<std::uint8_t>(std::min<std::uint32_t>(room, 254)), mask.words());
}

std::shared_ptr<const TokenMask> VocabularyIndex::ClassMask(std::uint8_t classes) const {
  const std::lock_guard lock(mutex_);
  auto& kept = class_masks_[classes];
  if (kept == nullptr) {
    auto mask = std::make_shared<TokenMask>(width());
    FillClass(classes, Recognizer::kNoLimit, *mask);
    kept = std::move(mask);
  }
  return kept;
}

std::size_t VocabularyIndex::bytes() const {
  const auto trie = [](const MaskTrie& t) { return t.nodes().capacity() * sizeof(MaskTrie::Node); };
  std::size_t text = 0;
  for (const TokenId id : tokens_.ids()) text += tokens_.text(id).size();
  return text + static_cast<std::size_t>(width()) * (8 + 4 + 2 + 4) + trie(trie_) + trie(rests_) +
         trie(special_) + trie(quoted_) + below_.size() + exits_.size() * sizeof(Exit);
}

}  // namespace adjudge
