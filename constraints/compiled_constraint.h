// CompiledConstraint: a constraint over the tokens of one vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/matcher.h"
#include "engine/base/result.h"

namespace adjudge {

struct ConstraintLimits {
  // Work of one mask, one token or one question; a unit is about 10 ns. When it is spent the answer
  // is an error, never a looser mask.
  std::int64_t work = 100'000'000;
  std::size_t mask_bytes = std::size_t{4} << 20;     // masks kept
  std::size_t state_bytes = std::size_t{256} << 20;  // states made while matchers go on
};

// What a text came to.
enum class Verdict {
  kAccepted,
  kRefused,     // no accepted text begins with the text up to and with the byte at `offset`
  kIncomplete,  // an accepted text begins with it
};
struct TextVerdict {
  Verdict verdict = Verdict::kAccepted;
  std::size_t offset = 0;
};

// Immutable as far as its users see, safe to share between threads; what it finds out of states and
// masks it keeps, within its limits. Matchers keep it alive.
class CompiledConstraint : public std::enable_shared_from_this<CompiledConstraint> {
 public:
  virtual ~CompiledConstraint() = default;
  CompiledConstraint(const CompiledConstraint&) = delete;
  CompiledConstraint& operator=(const CompiledConstraint&) = delete;

  // A matcher at the empty text.
  //
  // Every split of an accepted text into text tokens is allowed, tokens of parts of characters
  // included. A token's bit is set iff some accepted text continues with its bytes; a stop token's
  // iff the text so far is accepted. ForcedTokens() gives tokens of the canonical split (of the
  // tokenizer that the compiler was given) as long as no allowed token could span their end;
  // without a tokenizer, tokens that are the only ones allowed. Where a vocabulary cannot spell
  // some byte, a text may be reached that no token continues: FillMask then gives an error
  // (kUnsupported).
  virtual std::unique_ptr<Matcher> NewMatcher() const = 0;
  // The same under a budget: at most `max_tokens` tokens, stop tokens not counted. When they run
  // short only tokens are allowed after which an end can still be reached. An error (kLimit, with
  // the number) where even the shortest text needs more.
  virtual Result<std::unique_ptr<Matcher>> NewMatcher(int max_tokens) const = 0;

  virtual Result<TextVerdict> Check(std::string_view text) const = 0;
  // The bytes that may follow a text that is not refused, ascending, and whether it may end there.
  struct Follow {
    std::vector<std::uint8_t> bytes;
    bool may_end = false;
  };
  virtual Result<Follow> After(std::string_view text) const = 0;
  // A shortest accepted text. Nothing where each needs tokens as terminals.
  virtual Result<std::optional<std::string>> Shortest() const = 0;
  // A random accepted text: at each byte every one that may follow is as likely, until about
  // `soft_bytes` are written, then a short way to the end.
  virtual Result<std::string> Sample(std::uint64_t seed, std::size_t soft_bytes) const = 0;

  // Things that were passed over without changing what is accepted (say, annotations), in words.
  virtual const std::vector<std::string>& notes() const = 0;
  // Memory, roughly.
  virtual std::size_t bytes() const = 0;

 protected:
  CompiledConstraint() = default;
};

}  // namespace adjudge
