// Tokenizer: text <-> token ids, by the rules stored beside a model's weights.
#pragma once

#include <cstdint>
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
  // Instead of an error: U+FFFD for each maximal invalid part (as Python's errors="replace"), and
  // for each character that a byte-level vocabulary has no token for.
  bool lossy = false;
  // The text begins a sequence, so a SentencePiece dummy prefix is put before it. False for a text
  // that continues other tokens.
  bool starts_text = true;
  std::size_t max_text_bytes = 64 << 20;
};

struct TokenizerLimits {
  std::size_t max_file_bytes = 128 << 20;  // of a .model or a JSON file (GGUF has its own limits)
  std::size_t max_tokens = 4 << 20;
  std::size_t max_token_bytes = 16 << 10;
  std::size_t max_special_bytes = 512;  // name of a control token
};

// Immutable; safe to share between threads. ids -> bytes is exact always. text -> ids -> text is
// exact where the vocabulary is byte-level or has byte fallback and there is no normaliser;
// otherwise it equals what the SentencePiece library, or the NFC form, gives.
//
// Control tokens come from text only when asked for (EncodeOptions::parse_special, trusted spans).
// User-defined tokens are ordinary text and are cut out whole always, as in the formats' own
// libraries. A dummy prefix stands once, before the first ordinary text (control tokens may precede
// it), never after a control token further on.
//
// Normal forms: a tokenizer.json says itself whether text is put into NFC. GGUF has no key for it:
// the pre-tokenizer "qwen2" means NFC (all models that use it were trained so), the others do not.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Reads a GGUF file's vocabulary, a SentencePiece model (any name), a tokenizer.json (any name),
  // or a model folder that holds tokenizer.model or else tokenizer.json (with
  // tokenizer_config.json, config.json, generation_config.json and chat_template.jinja where
  // present). Needs no tensors and takes any architecture. Errors: an unknown tokenizer or
  // pre-tokenizer by name, a malformed vocabulary by key.
  static Result<std::shared_ptr<const Tokenizer>> Load(const std::filesystem::path& path,
                                                       const TokenizerLimits& limits = {});

  // Its stop ids are: the end ids that the files name (GGUF: eos_token_id, eot_token_id,
  // eom_token_id; folder: eos_token of tokenizer_config.json, eos_token_id of config.json and
  // generation_config.json, one or several; SentencePiece: the trainer's eos piece), and control
  // tokens named <|im_end|>, <|eot_id|>, <|eom_id|>, <|end|>, <|end_of_turn|>, <end_of_turn>,
  // <|endoftext|>, <|end_of_text|> or <|return|>.
  // Its width is what the file says of the logits (GGUF: ARCH.vocab_size, config.json: vocab_size),
  // at least the number of tokens.
  virtual const Vocabulary& vocabulary() const = 0;

  // Invalid UTF-8 is refused with the byte offset of its first bad byte, unless options.lossy.
  Result<std::vector<TokenId>> Encode(std::string_view text,
                                      const EncodeOptions& options = {}) const;

  // As Encode over the joined text with special tokens recognised only where they lie wholly inside
  // trusted spans (neighbouring trusted spans count as one; options.parse_special is not looked
  // at). Ordinary text is tokenised across span boundaries, as if it had been one string.
  Result<std::vector<TokenId>> EncodeSpans(std::span<const TextSpan> spans,
                                           const EncodeOptions& options = {}) const;

  // The text of ids, as bytes (they need not be whole UTF-8). Control tokens spell nothing unless
  // `special`, when they spell their name. A dummy space that the tokenizer itself puts before the
  // text is dropped from the start (after control tokens too). REQUIRES: every id is in the
  // vocabulary.
  std::string Decode(std::span<const TokenId> ids, bool special = false) const;

  // What `id` adds to the text: Decode's share of one token. `at_start`: no ordinary token came
  // before; set to false by a token that is ordinary text.
  std::string_view DecodePiece(TokenId id, bool special, bool& at_start) const;

  // True when Encode puts one space of its own before the text (SentencePiece's dummy prefix).
  virtual bool adds_dummy_prefix() const = 0;

  // True when Encode drops spaces at the start of a text (SentencePiece's
  // remove_extra_whitespaces); Decode then drops one from each token before the first text.
  virtual bool drops_leading_spaces() const { return false; }

  // Metadata of the file that text handling needs.
  virtual std::optional<TokenId> bos() const = 0;
  virtual std::optional<TokenId> eos() const = 0;
  // The file says that a text begins with bos(). Where it says nothing: SentencePiece vocabularies
  // and llama3's pre-tokenizer do, others do not.
  virtual bool wants_bos() const = 0;
  virtual const std::optional<std::string>& chat_template() const = 0;  // Jinja source
  virtual std::string_view kind() const = 0;  // "sentencepiece bpe", "bpe smollm", ...

  // The id of a control or user-defined token by its exact name.
  virtual std::optional<TokenId> FindSpecial(std::string_view name) const = 0;

 protected:
  // A stretch [begin, end) of bytes of the text.
  struct TextRange {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // Where one special token stands in the text.
  struct Special {
    std::size_t begin = 0;
    std::size_t end = 0;
    TokenId id = kNoToken;
  };
  // The control tokens of `text` that lie wholly inside one of the `trusted` ranges, leftmost then
  // longest, ascending.
  virtual std::vector<Special> FindControls(std::string_view text,
                                            std::span<const TextRange> trusted) const = 0;
  // Appends the ids of `text` (valid UTF-8), whose control tokens were already found.
  virtual Status EncodeValid(std::string_view text, std::span<const Special> controls,
                             const EncodeOptions& options, std::vector<TokenId>& ids) const = 0;

 private:
  Result<std::vector<TokenId>> EncodeRanges(std::string_view text,
                                            std::span<const TextRange> trusted,
                                            const EncodeOptions& options) const;
};

// Turns tokens into whole UTF-8 characters as they come. One per text; not thread-safe. The pieces
// joined are Tokenizer::Decode with U+FFFD for each maximal bad part.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool special = false);
  // The characters completed by this token; bytes that can no longer become a character come out as
  // U+FFFD, one for each maximal bad part. REQUIRES: the id is in the vocabulary.
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
