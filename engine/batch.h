// Batch: the new tokens of several sequences, and what is wanted of them, for one forward pass.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/sequence.h"

namespace adjudge {

// What one entry of a batch gives back, for each of `rows`.
struct Wants {
  // Indices into the entry's new tokens, ascending. Row r's logits predict the token after token r.
  std::vector<int> rows;
  bool logits = false;             // over the whole vocabulary
  std::vector<TokenId> logit_ids;  // logits of these ids alone
  bool log_sum_exp = false;        // of the logits over the whole vocabulary
  bool hidden = false;             // after the final norm
  std::vector<int> hidden_layers;  // the residual stream after layer l (0-based), before any norm

  static Wants None() { return {}; }
  static Wants LastLogits(int n_tokens) { return {.rows = {n_tokens - 1}, .logits = true}; }
};

// One forward pass's work. Add() stages the tokens: it allocates their cache cells and counts them
// in the sequence's length at once, so that a Fork or Join of staged tokens can be added to the
// same batch. If the batch is destroyed before a Forward succeeded, the staged tokens are taken
// back. Owned by one thread.
class Batch {
 public:
  Batch();
  ~Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;

  // Stages `tokens` at the end of `sequence` and returns the entry's index. `positions` (same
  // length, or empty for next_position() onwards) are where the rotary embedding puts them. Errors:
  // kLimit when the context window or the cache is too small, saying how many tokens fit;
  // kInvalidArgument for an empty list, an id outside the vocabulary, or a row outside the tokens.
  // One sequence may appear once in a batch.
  Result<int> Add(Sequence& sequence, std::span<const TokenId> tokens, Wants wants = {},
                  std::span<const int> positions = {});

  // The pass ends after this many layers; only hidden_layers below it may then be wanted.
  void StopAfterLayers(int n_layers) { stop_after_layers_ = n_layers; }

  // Forward looks at the flag between parts of its work and, once it is set, ends with kCancelled.
  // Not owned; null = never.
  void CancelWith(const std::atomic<bool>* flag) { cancel_ = flag; }
  bool cancelled() const { return cancel_ != nullptr && cancel_->load(); }

  int n_entries() const;
  int n_tokens() const;

  struct Entry;  // private: engine/model/batch_plan.h
  std::vector<Entry>& entries() { return entries_; }
  const std::vector<Entry>& entries() const { return entries_; }
  std::optional<int> stop_after_layers() const { return stop_after_layers_; }

 private:
  void Unstage();

  std::vector<Entry> entries_;
  std::optional<int> stop_after_layers_;
  const std::atomic<bool>* cancel_ = nullptr;
};

// What Forward gives back. Row i of an entry is wants.rows[i].
struct EntryOutput {
  int n_rows = 0;
  std::vector<float> logits;         // [n_rows, vocab_size] or empty
  std::vector<float> logit_ids;      // [n_rows, wants.logit_ids.size()] or empty
  std::vector<double> log_sum_exp;   // [n_rows] or empty
  std::vector<float> hidden;         // [n_rows, dim] or empty
  std::vector<float> hidden_layers;  // [wants.hidden_layers.size(), n_rows, dim] or empty
};

struct ForwardOutput {
  std::vector<EntryOutput> entries;  // in the order of Batch::Add
};

}  // namespace adjudge
