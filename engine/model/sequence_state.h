// SequenceState: what a Sequence handle points to, the list of cache cells that its tokens are in.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/model/kv_cache_impl.h"
#include "engine/sequence.h"

namespace adjudge {

// Cells [begin, begin + count) of a block that this sequence sees.
struct BlockRef {
  std::shared_ptr<CacheBlock> block;
  int begin = 0;
  int count = 0;

  int end() const { return begin + count; }
};

// Blocks are shared by reference, so a fork copies no key or value, and a block is freed with the
// last sequence that sees a cell of it.
class SequenceState {
 public:
  explicit SequenceState(std::shared_ptr<KvCacheImpl> cache);

  int length() const { return length_; }
  int next_position() const;
  const std::vector<BlockRef>& refs() const { return refs_; }
  KvCacheImpl& cache() const { return *cache_; }
  bool same_cache(const SequenceState& other) const { return cache_ == other.cache_; }

  // The state of a fork. REQUIRES: 0 <= n <= length(), here and below.
  std::shared_ptr<SequenceState> Prefix(int n) const;
  void TruncateTo(int n);
  // Adds tokens [begin, end) of another sequence of the same cache to the list, and makes the next
  // position one past the largest position here.
  void AppendRange(const SequenceState& other, int begin, int end);

  // Gives cells to new tokens; on error (kLimit, naming how many fit) nothing changes.
  // REQUIRES: positions.size() == tokens.size().
  Status Append(std::span<const TokenId> tokens, std::span<const int> positions);

  // Tokens of an unfinished batch are at the end; set and cleared by Batch.
  bool staged() const { return staged_; }
  void set_staged(bool staged) { staged_ = staged; }

  // Calls f(block, cell) for each token of [begin, end) in order.
  template <typename F>
  void ForEachCell(int begin, int end, F&& f) const {
    int index = 0;
    for (const BlockRef& ref : refs_) {
      if (index >= end) return;
      const int first = begin > index ? begin - index : 0;
      const int last = end - index < ref.count ? end - index : ref.count;
      for (int i = first; i < last; ++i) f(*ref.block, ref.begin + i);
      index += ref.count;
    }
  }

 private:
  int AppendableCells() const;  // free cells behind the last one, in its own block

  std::shared_ptr<KvCacheImpl> cache_;  // before refs_: outlives the blocks
  std::vector<BlockRef> refs_;
  int length_ = 0;
  // After a join of `joined_length_` tokens the next position is not the last token's plus one.
  int joined_length_ = 0;
  int joined_next_ = 0;
  bool staged_ = false;
};

}  // namespace adjudge
