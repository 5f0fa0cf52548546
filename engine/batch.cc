#include "engine/batch.h"

#include <string>
#include <utility>

#include "engine/base/check.h"
#include "engine/model/batch_plan.h"

namespace adjudge {
namespace {

Status CheckTokens(std::span<const TokenId> tokens, int vocab_size) {
  if (tokens.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "expected one token or more, found none", "tokens");
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= vocab_size) {
      return Fail(ErrorCode::kInvalidArgument,
                  "expected a token id from 0 to " + std::to_string(vocab_size - 1) + ", found " +
                      std::to_string(tokens[i]),
                  "tokens[" + std::to_string(i) + "]");
    }
  }
  return {};
}

Status CheckWants(const Wants& wants, std::int64_t n_tokens, const CacheShape& shape) {
  for (std::size_t i = 0; i < wants.rows.size(); ++i) {
    const int low = i == 0 ? 0 : wants.rows[i - 1] + 1;
    if (wants.rows[i] < low || wants.rows[i] >= n_tokens) {
      return Fail(ErrorCode::kInvalidArgument,
                  "expected ascending rows from 0 to " + std::to_string(n_tokens - 1) + ", found " +
                      std::to_string(wants.rows[i]),
                  "wants.rows[" + std::to_string(i) + "]");
    }
  }
  for (std::size_t i = 0; i < wants.logit_ids.size(); ++i) {
    if (wants.logit_ids[i] < 0 || wants.logit_ids[i] >= shape.vocab_size) {
      return Fail(ErrorCode::kInvalidArgument,
                  "expected a token id from 0 to " + std::to_string(shape.vocab_size - 1) +
                      ", found " + std::to_string(wants.logit_ids[i]),
                  "wants.logit_ids[" + std::to_string(i) + "]");
    }
  }
  for (std::size_t i = 0; i < wants.hidden_layers.size(); ++i) {
    if (wants.hidden_layers[i] < 0 || wants.hidden_layers[i] >= shape.n_layers) {
      return Fail(ErrorCode::kInvalidArgument,
                  "expected a layer from 0 to " + std::to_string(shape.n_layers - 1) + ", found " +
                      std::to_string(wants.hidden_layers[i]),
                  "wants.hidden_layers[" + std::to_string(i) + "]");
    }
  }
  return {};
}

// The positions of the new tokens, all inside the context window.
Result<std::vector<int>> CheckPositions(std::int64_t n_tokens, std::span<const int> given,
                                        int next_position, int context_length) {
  if (!given.empty() && static_cast<std::int64_t>(given.size()) != n_tokens) {
    return Fail(ErrorCode::kInvalidArgument,
                "expected a position for each of " + std::to_string(n_tokens) + " tokens, found " +
                    std::to_string(given.size()),
                "positions");
  }
  std::vector<int> positions(given.begin(), given.end());
  if (given.empty()) {
    const int room = std::max(context_length - next_position, 0);
    if (n_tokens > room) {
      return Fail(ErrorCode::kLimit,
                  std::to_string(n_tokens) + " tokens given, " + std::to_string(room) +
                      " fit: the context window is " + std::to_string(context_length) +
                      " tokens, " + std::to_string(context_length - room) + " of them used",
                  "context window");
    }
    for (int i = 0; i < static_cast<int>(n_tokens); ++i) positions.push_back(next_position + i);
  }
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::string place = "positions[" + std::to_string(i) + "]";
    if (positions[i] < 0) {
      return Fail(ErrorCode::kInvalidArgument,
                  "expected a position of 0 or more, found " + std::to_string(positions[i]), place);
    }
    if (positions[i] >= context_length) {
      return Fail(ErrorCode::kLimit,
                  "position " + std::to_string(positions[i]) +
                      " lies outside the context window of " + std::to_string(context_length) +
                      " tokens; " + std::to_string(i) + " of " + std::to_string(n_tokens) +
                      " tokens fit",
                  place);
    }
  }
  return positions;
}

}  // namespace

Batch::Batch() = default;
Batch::~Batch() { Unstage(); }

Batch::Batch(Batch&& other) noexcept
    : entries_(std::move(other.entries_)),
      stop_after_layers_(other.stop_after_layers_),
      cancel_(other.cancel_) {
  other.entries_.clear();
}

Batch& Batch::operator=(Batch&& other) noexcept {
  if (this == &other) return *this;
  Unstage();
  entries_ = std::move(other.entries_);
  other.entries_.clear();
  stop_after_layers_ = other.stop_after_layers_;
  cancel_ = other.cancel_;
  return *this;
}

int Batch::n_entries() const { return static_cast<int>(entries_.size()); }

int Batch::n_tokens() const {
  int n = 0;
  for (const Entry& entry : entries_) n += entry.n_tokens;
  return n;
}

Result<int> Batch::Add(Sequence& sequence, std::span<const TokenId> tokens, Wants wants,
                       std::span<const int> positions) {
  if (sequence.state() == nullptr) {
    return Fail(ErrorCode::kInvalidArgument,
                "the sequence belongs to no cache; use KvCache::NewSequence", "sequence");
  }
  SequenceState& state = *sequence.state();
  if (state.staged()) {
    return Fail(ErrorCode::kInvalidArgument,
                "the sequence is already in a batch that was not run; a sequence may appear once",
                "sequence");
  }
  if (!entries_.empty() && !entries_.front().pending) {
    return Fail(ErrorCode::kInvalidArgument, "the batch was run; use a new one", "batch");
  }
  const CacheShape& shape = state.cache().shape();
  ADJUDGE_RETURN_IF_ERROR(CheckTokens(tokens, shape.vocab_size));
  const auto n_tokens = static_cast<std::int64_t>(tokens.size());
  ADJUDGE_RETURN_IF_ERROR(CheckWants(wants, n_tokens, shape));
  ADJUDGE_ASSIGN_OR_RETURN(
      const std::vector<int> checked,
      CheckPositions(n_tokens, positions, state.next_position(), shape.context_length));
  const int begin = state.length();
  ADJUDGE_RETURN_IF_ERROR(state.Append(tokens, checked));
  state.set_staged(true);
  entries_.push_back({sequence.state(), begin, static_cast<int>(n_tokens), std::move(wants)});
  return n_entries() - 1;
}

void Batch::Unstage() {
  // Last staged first, so that cells behind a shared fill mark become free again.
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (!entry->pending) continue;
    entry->state->TruncateTo(entry->begin);
    entry->state->set_staged(false);
  }
  entries_.clear();
}

}  // namespace adjudge
