// Tokenizer: text <-> token ids, by the rules stored beside a model's weights.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/base/vocabulary.h"

namespace adjudge {

// A stretch of text and whether it may make special tokens. A rendered chat is a list of these: the
// template's own text is trusted, what came from message contents is not.
struct TextSpan {
  std::string text;
  bool trusted = false;
};

struct EncodeOptions {
  bool parse_special = false;  // text that spells a control token becomes that token
  bool add_bos = false;        // put the beginning-of-sequence id in front, once
  bool lossy = false;          // U+FFFD for each maximal invalid part instead of an error
};

// Immutable; safe to share between threads. ids -> bytes is exact always. text -> ids -> text is
// exact where the vocabulary is byte-level or has byte fallback and there is no normaliser.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Reads a GGUF file's vocabulary, a SentencePiece .model, a tokenizer.json, or a model folder
  // that holds one of the latter two (with tokenizer_config.json and config.json where present).
  // Needs no tensors and takes any architecture. Errors: an unknown tokenizer or pre-tokenizer by
  // name, a malformed vocabulary by key.
  static Result<std::shared_ptr<const Tokenizer>> Load(const std::filesystem::path& path);

  virtual const Vocabulary& vocabulary() const = 0;

  // Invalid UTF-8 is refused with the byte offset of its first bad byte, unless options.lossy.
  Result<std::vector<TokenId>> Encode(std::string_view text,
                                      const EncodeOptions& options = {}) const;

  // As Encode over the joined text with special tokens recognised only where they lie wholly inside
  // trusted spans. Ordinary text is tokenised across span boundaries, as if it had been one string.
  Result<std::vector<TokenId>> EncodeSpans(std::span<const TextSpan> spans,
                                           const EncodeOptions& options = {}) const;

  // The text of ids, as bytes (they need not be whole UTF-8). Control tokens spell nothing unless
  // `special`, when they spell their name. A dummy space that the tokenizer itself puts before the
  // text is dropped from the start (after control tokens too). REQUIRES: every id is in the
  // vocabulary.
  std::string Decode(std::span<const TokenId> ids, bool special = false) const;

  // True when Encode puts one space of its own before the text (SentencePiece's dummy prefix).
  virtual bool adds_dummy_prefix() const = 0;

  // Metadata of the file that text handling needs.
  virtual std::optional<TokenId> bos() const = 0;
  virtual std::optional<TokenId> eos() const = 0;
  virtual bool wants_bos() const = 0;  // the file says that a text begins with bos()
  virtual const std::optional<std::string>& chat_template() const = 0;  // Jinja source
  virtual std::string_view kind() const = 0;  // "sentencepiece", "bpe smollm", ...

  // The id of a control or user-defined token by its exact name.
  virtual std::optional<TokenId> FindSpecial(std::string_view name) const = 0;

 protected:
  // Where one special token stands in the text: [begin, end) bytes.
  struct Special {
    std::size_t begin = 0;
    std::size_t end = 0;
    TokenId id = kNoToken;
  };
  // Appends the ids of `text` (valid UTF-8), whose special tokens were already found, ascending.
  virtual Status EncodeValid(std::string_view text, std::span<const Special> specials,
                             std::vector<TokenId>& ids) const = 0;
  // All special tokens of `text`, leftmost then longest; only control tokens when `user_defined` is
  // false leaves user-defined ones to EncodeValid.
  virtual std::vector<Special> FindSpecials(std::string_view text) const = 0;
};

// Turns tokens into whole UTF-8 characters as they come. One per text; not thread-safe.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool special = false);
  // The characters completed by this token; bytes that can no longer become a character come out as
  // U+FFFD, one for each maximal bad part.
  std::string Push(TokenId id);
  // What is left at the end: U+FFFD for an unfinished character, otherwise nothing.
  std::string Finish();

 private:
  const Tokenizer* tokenizer_;
  bool special_;
  bool at_start_ = true;
  std::string pending_;
};

}  // namespace adjudge
