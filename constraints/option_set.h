// OptionSet: the constraint "the text is one of these strings", over the tokens of a vocabulary.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/matcher.h"
#include "engine/base/result.h"
#include "engine/base/vocabulary.h"

namespace adjudge {

struct OptionSetOptions {
  // One space before an option is also allowed. Models whose tokens carry the space before a word
  // need it where the prompt ends without one ("Answer:"), since there the usual first token is
  // " Paris". Off: the text is an option byte for byte.
  bool allow_leading_space = false;

  std::size_t max_options = 100'000;
  std::size_t max_option_bytes = 65'536;
  std::size_t max_total_bytes = 4 << 20;  // all options, leading spaces included
};

// Immutable; safe to share between threads. Matchers keep it alive.
//
// Every split of an option into text tokens of the vocabulary is allowed, tokens of parts of UTF-8
// characters included: a token's bit is set if and only if the text so far and the token's bytes
// begin an option whose rest the vocabulary can spell. The bytes are those of Vocabulary::bytes, so
// the first token after a prompt adds its bytes as they are, a SentencePiece space too. A stop
// token's bit is set if and only if the text so far is an option. Control tokens are never set.
class OptionSet : public std::enable_shared_from_this<OptionSet> {
 public:
  virtual ~OptionSet() = default;
  OptionSet(const OptionSet&) = delete;
  OptionSet& operator=(const OptionSet&) = delete;

  // A matcher at the empty text. ForcedTokens() gives a token only where its bit is the only one
  // set: every other rule (say, the longest token) would choose among splits that the model may
  // weigh otherwise, and so change how likely each option is.
  virtual std::unique_ptr<Matcher> NewMatcher() const = 0;

  // The index of the option that this text is (after an allowed leading space, too).
  virtual std::optional<int> Find(std::string_view text) const = 0;
  virtual int size() const = 0;

 protected:
  OptionSet() = default;
};

// Compiles option sets for one vocabulary. Sorts the vocabulary once (some tens of milliseconds for
// 250,000 tokens); keep it where many sets are compiled. Immutable, safe to share between threads;
// does not need the Vocabulary afterwards.
class OptionSetCompiler {
 public:
  explicit OptionSetCompiler(const Vocabulary& vocabulary);
  ~OptionSetCompiler();
  OptionSetCompiler(OptionSetCompiler&&) noexcept;
  OptionSetCompiler& operator=(OptionSetCompiler&&) noexcept;

  // Errors: no options; an option that is empty, that equals an earlier one, or that the vocabulary
  // cannot spell (place "options[i]"); a limit, by its name.
  Result<std::shared_ptr<const OptionSet>> Compile(const std::vector<std::string>& options,
                                                   const OptionSetOptions& settings = {}) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

// OptionSetCompiler(vocabulary).Compile(options, settings).
Result<std::shared_ptr<const OptionSet>> CompileOptionSet(const std::vector<std::string>& options,
                                                          const Vocabulary& vocabulary,
                                                          const OptionSetOptions& settings = {});

}  // namespace adjudge
