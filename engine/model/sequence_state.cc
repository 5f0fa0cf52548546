#include "engine/model/sequence_state.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/check.h"

namespace adjudge {

SequenceState::SequenceState(std::shared_ptr<KvCacheImpl> cache) : cache_(std::move(cache)) {}

int SequenceState::next_position() const {
  if (length_ == joined_length_) return joined_next_;
  const BlockRef& last = refs_.back();
  return last.block->positions[static_cast<std::size_t>(last.end() - 1)] + 1;
}

std::shared_ptr<SequenceState> SequenceState::Prefix(int n) const {
  ADJUDGE_CHECK(n >= 0 && n <= length_);
  auto fork = std::make_shared<SequenceState>(cache_);
  for (const BlockRef& ref : refs_) {
    const int left = n - fork->length_;
    if (left == 0) break;
    fork->refs_.push_back({ref.block, ref.begin, std::min(ref.count, left)});
    fork->length_ += fork->refs_.back().count;
  }
  if (n >= joined_length_) {
    fork->joined_length_ = joined_length_;
    fork->joined_next_ = joined_next_;
  }
  return fork;
}

void SequenceState::TruncateTo(int n) {
  ADJUDGE_CHECK(n >= 0 && n <= length_);
  while (length_ > n) {
    BlockRef& last = refs_.back();
    const int cut = std::min(last.count, length_ - n);
    last.count -= cut;
    length_ -= cut;
    if (last.count == 0) refs_.pop_back();
  }
  if (length_ < joined_length_) joined_length_ = joined_next_ = 0;
}

void SequenceState::AppendRange(const SequenceState& other, int begin, int end) {
  ADJUDGE_CHECK(same_cache(other) && begin >= 0 && begin <= end && end <= other.length_);
  int index = 0;
  for (const BlockRef& ref : other.refs_) {
    const int first = std::max(begin - index, 0);
    const int last = std::min(end - index, ref.count);
    if (first < last) refs_.push_back({ref.block, ref.begin + first, last - first});
    index += ref.count;
  }
  length_ += end - begin;
  other.ForEachCell(begin, end, [this](const CacheBlock& block, int cell) {
    joined_next_ = std::max(joined_next_, block.positions[static_cast<std::size_t>(cell)] + 1);
  });
  joined_length_ = length_;
}

int SequenceState::AppendableCells() const {
  if (refs_.empty()) return 0;
  const BlockRef& last = refs_.back();
  // Where nobody else sees the block, cells behind this sequence's last may be given out again.
  if (last.block.use_count() == 1) last.block->fill = last.end();
  return last.end() == last.block->fill ? KvCache::kBlockTokens - last.block->fill : 0;
}

Status SequenceState::Append(std::span<const TokenId> tokens, std::span<const int> positions) {
  ADJUDGE_CHECK(tokens.size() == positions.size());
  const int appendable = AppendableCells();
  const auto n = static_cast<std::int64_t>(tokens.size());
  std::vector<std::shared_ptr<CacheBlock>> blocks;
  std::int64_t room = appendable;
  for (; room < n; room += KvCache::kBlockTokens) {
    auto block = cache_->NewBlock();
    if (block == nullptr) {
      return Fail(ErrorCode::kLimit,
                  std::to_string(n) + " tokens given, " + std::to_string(room) +
                      " fit: the key-value cache holds " + std::to_string(cache_->max_tokens()) +
                      " tokens in all",
                  "cache");
    }
    blocks.push_back(std::move(block));
  }
  std::size_t next_block = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (AppendableCells() == 0) refs_.push_back({std::move(blocks[next_block++]), 0, 0});
    BlockRef& last = refs_.back();
    const auto cell = static_cast<std::size_t>(last.block->fill++);
    last.block->tokens[cell] = tokens[i];
    last.block->positions[cell] = positions[i];
    last.block->layers_done[cell] = 0;
    ++last.count;
    ++length_;
  }
  return {};
}

}  // namespace adjudge
