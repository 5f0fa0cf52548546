// PreTokenizer: cuts text into the words that byte-level BPE merges within.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace adjudge {

enum class PreTokenizerKind {
  kNone,    // the whole text is one word
  kGpt2,    // GPT-2's pattern
  kSmollm,  // each digit alone, then GPT-2's pattern
  kLlama3,  // contractions in any case, up to three digits, newlines kept together
  kQwen2,   // llama3's with each digit alone
};

std::string_view ToString(PreTokenizerKind kind);

// By the names of tokenizer.ggml.pre; nullopt for one that is not known.
std::optional<PreTokenizerKind> PreTokenizerFromGguf(std::string_view name);

// By the pattern of a tokenizer.json's Split; nullopt for one that is not known.
std::optional<PreTokenizerKind> PreTokenizerFromPattern(std::string_view pattern);

// Immutable; safe to share between threads.
class PreTokenizer {
 public:
  static Result<PreTokenizer> Make(PreTokenizerKind kind);

  PreTokenizerKind kind() const { return kind_; }

  // Overwrites `ends` with the end of each word of `text` (valid UTF-8); the words follow each
  // other without gaps. Takes linear time.
  Status Split(std::string_view text, std::vector<std::size_t>& ends) const;

  ~PreTokenizer();
  PreTokenizer(PreTokenizer&&) noexcept;
  PreTokenizer& operator=(PreTokenizer&&) noexcept;

 private:
  struct Code;  // a compiled pattern
  PreTokenizer(PreTokenizerKind kind, std::unique_ptr<Code> code);
  PreTokenizerKind kind_;
  std::unique_ptr<Code> code_;
};

}  // namespace adjudge
