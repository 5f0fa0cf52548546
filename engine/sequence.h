// Sequence: an ordered list of tokens that a model has seen or is about to see.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"

namespace adjudge {

class SequenceState;  // private: engine/model/sequence_state.h
struct SequenceRange;

// A handle to tokens whose keys and values are in a KvCache. What a new token attends to is the
// whole list in order: the segments shared with the sequences it was forked or joined from, then
// its own. Owned by one thread. Moving is cheap; copying is Fork().
//
//   Sequence state = cache->NewSequence();
//   Batch batch;
//   batch.Add(state, state_tokens);
//   Sequence question = *state.Fork(state.length());  // sees tokens of the same pass
//   batch.Add(question, question_tokens, wants);
//   model->Forward(batch);
class Sequence {
 public:
  Sequence() = default;  // belongs to no cache; only to be assigned to
  explicit Sequence(std::shared_ptr<SequenceState> state) : state_(std::move(state)) {}
  Sequence(Sequence&&) noexcept = default;
  Sequence& operator=(Sequence&&) noexcept = default;
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  // Tokens seen by the next token, those staged in a batch included.
  int length() const;
  // Position of the next token unless a batch states another: one past the last token's.
  int next_position() const;
  std::vector<TokenId> tokens() const;
  std::vector<int> positions() const;

  // A sequence that shares the first `length` tokens. No key or value is copied.
  Result<Sequence> Fork(int length) const;
  // Keeps the first `length` tokens; tokens that other sequences see stay with them.
  Status Truncate(int length);

  // A sequence that sees the given ranges in the given order (sums run in that order). All must be
  // of one cache. Its next position is one past the largest position in them.
  static Result<Sequence> Join(std::span<const SequenceRange> ranges);

  const std::shared_ptr<SequenceState>& state() const { return state_; }

 private:
  std::shared_ptr<SequenceState> state_;
};

// Tokens [begin, end) of a sequence.
struct SequenceRange {
  const Sequence* sequence = nullptr;
  int begin = 0;
  int end = 0;
};

}  // namespace adjudge
