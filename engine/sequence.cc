#include "engine/sequence.h"

#include <string>

#include "engine/model/sequence_state.h"

namespace adjudge {
namespace {

constexpr const char* kNoCache = "the sequence belongs to no cache; use KvCache::NewSequence";

}  // namespace

int Sequence::length() const { return state_ == nullptr ? 0 : state_->length(); }

int Sequence::next_position() const { return state_ == nullptr ? 0 : state_->next_position(); }

std::vector<TokenId> Sequence::tokens() const {
  std::vector<TokenId> tokens;
  if (state_ == nullptr) return tokens;
  tokens.reserve(static_cast<std::size_t>(length()));
  state_->ForEachCell(0, length(), [&](const CacheBlock& block, int cell) {
    tokens.push_back(block.tokens[static_cast<std::size_t>(cell)]);
  });
  return tokens;
}

std::vector<int> Sequence::positions() const {
  std::vector<int> positions;
  if (state_ == nullptr) return positions;
  positions.reserve(static_cast<std::size_t>(length()));
  state_->ForEachCell(0, length(), [&](const CacheBlock& block, int cell) {
    positions.push_back(block.positions[static_cast<std::size_t>(cell)]);
  });
  return positions;
}

Result<Sequence> Sequence::Fork(int length) const {
  if (state_ == nullptr) return Fail(ErrorCode::kInvalidArgument, kNoCache, "fork");
  if (length < 0 || length > state_->length()) {
    return Fail(ErrorCode::kInvalidArgument,
                "expected a length from 0 to " + std::to_string(state_->length()) + ", found " +
                    std::to_string(length),
                "fork");
  }
  return Sequence(state_->Prefix(length));
}

Status Sequence::Truncate(int length) {
  if (state_ == nullptr) return Fail(ErrorCode::kInvalidArgument, kNoCache, "truncate");
  if (length < 0 || length > state_->length()) {
    return Fail(ErrorCode::kInvalidArgument,
                "expected a length from 0 to " + std::to_string(state_->length()) + ", found " +
                    std::to_string(length),
                "truncate");
  }
  if (state_->staged() && length < state_->length()) {
    return Fail(ErrorCode::kInvalidArgument,
                "the sequence has tokens in a batch that was not run; run or drop the batch first",
                "truncate");
  }
  state_->TruncateTo(length);
  return {};
}

Result<Sequence> Sequence::Join(std::span<const SequenceRange> ranges) {
  if (ranges.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "expected one range or more, found none", "join");
  }
  std::shared_ptr<SequenceState> joined;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const SequenceRange& range = ranges[i];
    const std::string place = "join, range " + std::to_string(i);
    if (range.sequence == nullptr || range.sequence->state_ == nullptr) {
      return Fail(ErrorCode::kInvalidArgument, kNoCache, place);
    }
    const SequenceState& state = *range.sequence->state_;
    if (range.begin < 0 || range.begin > range.end || range.end > state.length()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "expected a range inside [0, " + std::to_string(state.length()) + "), found [" +
                      std::to_string(range.begin) + ", " + std::to_string(range.end) + ")",
                  place);
    }
    if (joined == nullptr) {
      joined = state.Prefix(0);
    } else if (!joined->same_cache(state)) {
      return Fail(ErrorCode::kInvalidArgument, "the sequence is of another cache", place);
    }
    joined->AppendRange(state, range.begin, range.end);
  }
  return Sequence(std::move(joined));
}

}  // namespace adjudge
