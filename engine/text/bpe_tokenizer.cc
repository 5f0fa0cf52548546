#include "engine/text/bpe_tokenizer.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/utf8.h"
#include "engine/text/bpe_merger.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/nfc.h"
#include "engine/text/special_trie.h"

namespace adjudge {
namespace {

using TokenIndex = std::unordered_map<std::string_view, TokenId>;

bool IsSpecialKind(TokenKind kind) {
  return kind == TokenKind::kControl || kind == TokenKind::kUserDefined ||
         kind == TokenKind::kUnknown;
}

// May come out of ordinary text.
bool IsText(TokenKind kind) {
  return kind == TokenKind::kNormal || kind == TokenKind::kUserDefined || kind == TokenKind::kByte;
}

std::string At(const std::string& key, std::size_t index) {
  return key + "[" + std::to_string(index) + "]";
}

// The words of one text that were tokenised already: their ids stand earlier in the output.
class WordCache {
 public:
  struct Entry {
    std::string_view word;
    std::size_t begin = 0;  // of its ids in the output
    std::size_t n = 0;
  };

  explicit WordCache(std::size_t text_bytes) {
    std::size_t slots = 64;
    while (slots < kMaxSlots && slots * 8 < text_bytes) slots *= 2;
    entries_.resize(slots);
  }

  Entry& At(std::string_view word) {
    return entries_[std::hash<std::string_view>{}(word) & (entries_.size() - 1)];
  }

 private:
  static constexpr std::size_t kMaxSlots = 1 << 14;
  std::vector<Entry> entries_;  // a power of two
};

class BpeTokenizer : public Tokenizer {
 public:
  BpeTokenizer(BpeModel&& model, Vocabulary vocabulary, PreTokenizer pre_tokenizer,
               const std::vector<BpeRule>& rules, SpecialTrie controls, SpecialTrie user_defined,
               const TokenIndex& index);

  const Vocabulary& vocabulary() const override { return vocabulary_; }
  bool adds_dummy_prefix() const override { return false; }
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
  // One Encode call's memory.
  struct Work {
    std::vector<std::size_t> ends;
    std::vector<SpecialTrie::Match> user_defined;
    std::deque<std::string> texts;  // normalised stretches; the cache holds views of them
    std::optional<WordCache> cache;
    std::string_view whole;  // the text as given, to say where a refused character stands
    bool lossy = false;
  };

  Status EncodeBetween(std::string_view text, Work& work, std::vector<TokenId>& ids) const;
  Status EncodeStretch(std::string_view text, Work& work, std::vector<TokenId>& ids) const;
  Status EncodeWord(std::string_view word, Work& work, std::vector<TokenId>& ids) const;
  // Appends the symbols that merging starts from.
  Status AppendBytes(std::string_view word, const Work& work, std::vector<TokenId>& ids) const;
  Status AppendCharacters(std::string_view word, const Work& work, std::vector<TokenId>& ids) const;
  tl::unexpected<Error> CannotSpell(std::string_view character, const Work& work) const;
  bool AppendCharacterBytes(std::string_view character, std::vector<TokenId>& ids) const;

  Vocabulary vocabulary_;
  TokenizerMetadata metadata_;
  PreTokenizer pre_tokenizer_;
  BpeMerger merger_;
  SpecialTrie controls_;
  SpecialTrie user_defined_;
  bool byte_level_;
  bool nfc_;
  bool all_bytes_ = true;  // every byte has a token
  std::string kind_;
  std::array<TokenId, 256> byte_ids_{};
  std::unordered_map<std::string, TokenId> characters_;  // without byte_level_
  TokenIndex words_;  // bytes -> id of the normal tokens, with ignore_merges; views of vocabulary_
  std::unordered_map<std::string, TokenId> specials_;
};

BpeTokenizer::BpeTokenizer(BpeModel&& model, Vocabulary vocabulary, PreTokenizer pre_tokenizer,
                           const std::vector<BpeRule>& rules, SpecialTrie controls,
                           SpecialTrie user_defined, const TokenIndex& index)
    : vocabulary_(std::move(vocabulary)),
      metadata_(std::move(model.metadata)),
      pre_tokenizer_(std::move(pre_tokenizer)),
      merger_(rules),
      controls_(std::move(controls)),
      user_defined_(std::move(user_defined)),
      byte_level_(model.byte_level),
      nfc_(model.nfc),
      kind_("bpe " + std::string(ToString(model.pre_tokenizer))) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto it = index.find(ByteToLetter(static_cast<unsigned char>(byte)));
    const bool found = byte_level_ && it != index.end() && IsText(vocabulary_.kind(it->second));
    byte_ids_[static_cast<std::size_t>(byte)] = found ? it->second : kNoToken;
    all_bytes_ = all_bytes_ && found;
  }
  for (std::size_t i = 0; i < model.tokens.size(); ++i) {
    const BpeModel::Token& token = model.tokens[i];
    const auto id = static_cast<TokenId>(i);
    if (IsSpecialKind(token.kind)) specials_.emplace(token.text, id);
    if (IsText(token.kind)) {
      if (model.ignore_merges) words_.emplace(vocabulary_.bytes(id), id);
      if (!byte_level_ && !token.text.empty() && Utf8Length(token.text[0]) == token.text.size()) {
        characters_.emplace(token.text, id);
      }
    }
  }
}

std::optional<TokenId> BpeTokenizer::FindSpecial(std::string_view name) const {
  const auto it = specials_.find(std::string(name));
  if (it == specials_.end()) return std::nullopt;
  return it->second;
}

std::vector<Tokenizer::Special> BpeTokenizer::FindControls(
    std::string_view text, std::span<const TextRange> trusted) const {
  std::vector<Special> controls;
  if (controls_.empty()) return controls;
  std::vector<SpecialTrie::Match> matches;
  for (const TextRange& range : trusted) controls_.Find(text, range.begin, range.end, matches);
  controls.reserve(matches.size());
  for (const auto& match : matches) controls.push_back({match.begin, match.end, match.id});
  return controls;
}

Status BpeTokenizer::EncodeValid(std::string_view text, std::span<const Special> controls,
                                 const EncodeOptions& options, std::vector<TokenId>& ids) const {
  Work work;
  work.lossy = options.lossy;
  work.cache.emplace(text.size());
  work.whole = text;
  std::size_t at = 0;
  for (const Special& control : controls) {
    ADJUDGE_RETURN_IF_ERROR(EncodeBetween(text.substr(at, control.begin - at), work, ids));
    ids.push_back(control.id);
    at = control.end;
  }
  return EncodeBetween(text.substr(at), work, ids);
}

Status BpeTokenizer::EncodeBetween(std::string_view text, Work& work,
                                   std::vector<TokenId>& ids) const {
  if (user_defined_.empty()) return EncodeStretch(text, work, ids);
  work.user_defined.clear();
  user_defined_.Find(text, 0, text.size(), work.user_defined);
  std::size_t at = 0;
  for (const auto& match : work.user_defined) {
    ADJUDGE_RETURN_IF_ERROR(EncodeStretch(text.substr(at, match.begin - at), work, ids));
    ids.push_back(match.id);
    at = match.end;
  }
  return EncodeStretch(text.substr(at), work, ids);
}

Status BpeTokenizer::EncodeStretch(std::string_view text, Work& work,
                                   std::vector<TokenId>& ids) const {
  if (text.empty()) return {};
  if (nfc_ && !IsSurelyNfc(text)) {
    ADJUDGE_ASSIGN_OR_RETURN(std::string normal, ToNfc(text));
    work.texts.push_back(std::move(normal));
    text = work.texts.back();
  }
  ADJUDGE_RETURN_IF_ERROR(pre_tokenizer_.Split(text, work.ends));
  std::size_t begin = 0;
  for (const std::size_t end : work.ends) {
    ADJUDGE_RETURN_IF_ERROR(EncodeWord(text.substr(begin, end - begin), work, ids));
    begin = end;
  }
  return {};
}

Status BpeTokenizer::EncodeWord(std::string_view word, Work& work,
                                std::vector<TokenId>& ids) const {
  if (word.size() == 1 && byte_ids_[static_cast<unsigned char>(word[0])] != kNoToken) {
    ids.push_back(byte_ids_[static_cast<unsigned char>(word[0])]);
    return {};
  }
  WordCache::Entry& entry = work.cache->At(word);
  if (entry.word == word) {
    for (std::size_t i = 0; i < entry.n; ++i) ids.push_back(ids[entry.begin + i]);
    return {};
  }
  const std::size_t begin = ids.size();
  if (const auto it = words_.find(word); it != words_.end()) {
    ids.push_back(it->second);
  } else {
    ADJUDGE_RETURN_IF_ERROR(byte_level_ ? AppendBytes(word, work, ids)
                                        : AppendCharacters(word, work, ids));
    merger_.Merge(ids, begin);
  }
  entry = {word, begin, ids.size() - begin};
  return {};
}

bool BpeTokenizer::AppendCharacterBytes(std::string_view character,
                                        std::vector<TokenId>& ids) const {
  for (const char c : character) {
    if (byte_ids_[static_cast<unsigned char>(c)] == kNoToken) return false;
  }
  for (const char c : character) ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
  return true;
}

tl::unexpected<Error> BpeTokenizer::CannotSpell(std::string_view character,
                                                const Work& work) const {
  // Text that was put into NFC stands elsewhere, and has no offset in what was given.
  const char* begin = work.whole.data();
  const bool given = std::greater_equal<>{}(character.data(), begin) &&
                     std::less<>{}(character.data(), begin + work.whole.size());
  return Fail(ErrorCode::kUnsupported,
              "the vocabulary has no token for character " +
                  CodePointName(DecodeUtf8(character.data(), character.size())),
              given ? "byte " + std::to_string(character.data() - begin) : std::string());
}

Status BpeTokenizer::AppendBytes(std::string_view word, const Work& work,
                                 std::vector<TokenId>& ids) const {
  if (all_bytes_) {
    for (const char c : word) ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
    return {};
  }
  for (std::size_t i = 0; i < word.size();) {
    const std::size_t length = Utf8Length(word[i]);
    if (!AppendCharacterBytes(word.substr(i, length), ids) &&
        !(work.lossy && AppendCharacterBytes(kReplacementCharacter, ids))) {
      return CannotSpell(word.substr(i, length), work);
    }
    i += length;
  }
  return {};
}

Status BpeTokenizer::AppendCharacters(std::string_view word, const Work& work,
                                      std::vector<TokenId>& ids) const {
  const auto replacement = characters_.find(std::string(kReplacementCharacter));
  for (std::size_t i = 0; i < word.size();) {
    const std::size_t length = Utf8Length(word[i]);
    auto it = characters_.find(std::string(word.substr(i, length)));
    if (it == characters_.end() && work.lossy) it = replacement;
    if (it == characters_.end()) {
      return CannotSpell(word.substr(i, length), work);
    }
    ids.push_back(it->second);
    i += length;
  }
  return {};
}

Result<TokenIndex> IndexTokens(const BpeModel& model, const TokenizerLimits& limits) {
  if (model.tokens.size() > limits.max_tokens) {
    return Fail(ErrorCode::kLimit,
                "expected at most " + std::to_string(limits.max_tokens) +
                    " tokens (max_tokens), found " + std::to_string(model.tokens.size()),
                model.tokens_key);
  }
  TokenIndex index;
  index.reserve(model.tokens.size());
  for (std::size_t i = 0; i < model.tokens.size(); ++i) {
    const BpeModel::Token& token = model.tokens[i];
    const bool special = IsSpecialKind(token.kind);
    const std::size_t limit = special ? limits.max_special_bytes : limits.max_token_bytes;
    if (token.text.size() > limit) {
      return Fail(ErrorCode::kLimit,
                  "expected a token of at most " + std::to_string(limit) + " bytes (" +
                      (special ? "max_special_bytes" : "max_token_bytes") + "), found " +
                      std::to_string(token.text.size()),
                  At(model.tokens_key, i));
    }
    if (const auto bad = FirstInvalidUtf8(token.text)) {
      return Fail(ErrorCode::kMalformed,
                  "expected UTF-8, found bytes that are not, at byte " + std::to_string(*bad),
                  At(model.tokens_key, i));
    }
    if (token.kind == TokenKind::kUnused) continue;
    if (token.text.empty()) {
      return Fail(ErrorCode::kMalformed, "expected a token, found an empty string",
                  At(model.tokens_key, i));
    }
    const auto [it, fresh] = index.emplace(token.text, static_cast<TokenId>(i));
    if (!fresh) {
      return Fail(ErrorCode::kMalformed,
                  "token \"" + token.text + "\" was already token " + std::to_string(it->second),
                  At(model.tokens_key, i));
    }
  }
  return index;
}

Result<std::vector<BpeRule>> ResolveMerges(const BpeModel& model, const TokenIndex& index) {
  std::vector<BpeRule> rules;
  rules.reserve(model.merges.size());
  std::unordered_map<std::uint64_t, std::size_t> seen;
  seen.reserve(model.merges.size());
  std::string joined;
  for (std::size_t i = 0; i < model.merges.size(); ++i) {
    const auto& [left, right] = model.merges[i];
    joined = left + right;
    std::array<TokenId, 3> ids{};
    std::size_t n = 0;
    for (const std::string* part : {&left, &right, static_cast<const std::string*>(&joined)}) {
      const auto it = index.find(*part);
      if (it == index.end()) {
        return Fail(ErrorCode::kMalformed,
                    "expected merges of known tokens, found \"" + *part +
                        "\", which is not in the vocabulary",
                    At(model.merges_key, i));
      }
      ids[n++] = it->second;
    }
    if (!IsText(model.tokens[static_cast<std::size_t>(ids[2])].kind)) {
      return Fail(ErrorCode::kMalformed,
                  "expected merges of ordinary tokens, found one that makes the control token \"" +
                      joined + "\"",
                  At(model.merges_key, i));
    }
    const std::uint64_t pair = static_cast<std::uint64_t>(static_cast<std::uint32_t>(ids[0]))
                                   << 32 |
                               static_cast<std::uint32_t>(ids[1]);
    if (const auto [it, fresh] = seen.emplace(pair, i); !fresh) {
      return Fail(ErrorCode::kMalformed,
                  "the merge of \"" + left + "\" and \"" + right + "\" was already merge " +
                      std::to_string(it->second),
                  At(model.merges_key, i));
    }
    rules.push_back({ids[0], ids[1], ids[2]});
  }
  return rules;
}

Vocabulary BuildVocabulary(const BpeModel& model) {
  std::vector<Vocabulary::Entry> entries;
  entries.reserve(model.tokens.size());
  std::vector<TokenId> stop_ids = model.metadata.stop_ids;
  for (std::size_t i = 0; i < model.tokens.size(); ++i) {
    const BpeModel::Token& token = model.tokens[i];
    std::string bytes = token.text;
    if (token.kind == TokenKind::kByte) {
      if (const auto byte = ParseBytePiece(token.text)) bytes = static_cast<char>(*byte);
    } else if (token.kind == TokenKind::kNormal && model.byte_level) {
      if (auto spelled = LettersToBytes(token.text)) bytes = std::move(*spelled);
    }
    if (token.kind == TokenKind::kControl && EndsTurn(token.text)) {
      stop_ids.push_back(static_cast<TokenId>(i));
    }
    entries.push_back({std::move(bytes), token.kind});
  }
  const int n = static_cast<int>(entries.size());
  return Vocabulary(std::move(entries), std::max(n, model.metadata.width), std::move(stop_ids));
}

SpecialTrie BuildTrie(const BpeModel& model, bool controls) {
  std::vector<SpecialName> names;
  for (std::size_t i = 0; i < model.tokens.size(); ++i) {
    const BpeModel::Token& token = model.tokens[i];
    const bool wanted = controls
                            ? token.kind == TokenKind::kControl || token.kind == TokenKind::kUnknown
                            : token.kind == TokenKind::kUserDefined;
    if (!wanted) continue;
    names.push_back({token.text, static_cast<TokenId>(i), token.takes_left, token.takes_right});
  }
  return SpecialTrie(names);
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> MakeBpeTokenizer(BpeModel model,
                                                          const TokenizerLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(const TokenIndex index, IndexTokens(model, limits));
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<BpeRule> rules, ResolveMerges(model, index));
  ADJUDGE_ASSIGN_OR_RETURN(PreTokenizer pre_tokenizer, PreTokenizer::Make(model.pre_tokenizer));
  Vocabulary vocabulary = BuildVocabulary(model);
  SpecialTrie controls = BuildTrie(model, true);
  SpecialTrie user_defined = BuildTrie(model, false);
  return std::make_shared<const BpeTokenizer>(std::move(model), std::move(vocabulary),
                                              std::move(pre_tokenizer), rules, std::move(controls),
                                              std::move(user_defined), index);
}

}  // namespace adjudge
