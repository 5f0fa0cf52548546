// KvCache: keys and values of computed tokens, in blocks of a fixed number of tokens.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/base/result.h"
#include "engine/sequence.h"

namespace adjudge {

struct KvCacheOptions {
  // Most tokens held at once by all sequences, rounded up to whole blocks; 0 = 16 context windows.
  std::int64_t max_tokens = 0;
};

// The memory behind any number of sequences of one model. Blocks are allocated as tokens come and
// returned when the last sequence that sees them is gone. Every layer keeps every key, windowed
// ones too, so that a fork or a cut-back at any length is exact. Used by one thread at a time;
// sequences keep their cache alive.
class KvCache {
 public:
  static constexpr int kBlockTokens = 16;

  virtual ~KvCache() = default;
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  // An empty sequence.
  virtual Sequence NewSequence() = 0;

  virtual std::int64_t max_tokens() const = 0;
  // Tokens that still fit in whole free blocks.
  virtual std::int64_t free_tokens() const = 0;
  virtual std::int64_t used_blocks() const = 0;
  virtual std::int64_t bytes_per_token() const = 0;  // all layers, keys and values

 protected:
  KvCache() = default;
};

}  // namespace adjudge
