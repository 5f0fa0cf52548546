// The entries of a batch, and the flat lists of rows that a forward pass works through.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/backend.h"
#include "engine/base/result.h"
#include "engine/batch.h"
#include "engine/model/sequence_state.h"
#include "engine/model_config.h"

namespace adjudge {

struct Batch::Entry {
  std::shared_ptr<SequenceState> state;
  int begin = 0;  // the sequence's length before
  int n_tokens = 0;
  Wants wants;
  bool pending = true;  // staged, not computed yet
};

// One wanted row: row `row` of the batch is row `index` of the entry's output.
struct WantedRow {
  int row = 0;
  int entry = 0;
  int index = 0;
};

// The rows of all entries, one after the other. An entry sees only tokens staged before it, so any
// run of rows may be computed after the rows before it.
struct BatchPlan {
  std::vector<int> tokens;        // [n]
  std::vector<int> positions;     // [n]
  std::vector<KvCell> cells;      // [n]
  std::vector<WantedRow> wanted;  // by row
  // For each distinct window of the layers (0 = none), what each row attends to. [n] each
  struct WindowRows {
    int window = 0;
    std::vector<AttentionRow> rows;
  };
  std::vector<WindowRows> windows;
  std::vector<std::vector<KvRun>> runs;  // behind the spans above

  int n_rows() const { return static_cast<int>(tokens.size()); }
  const std::vector<AttentionRow>& rows_of_window(int window) const;
};

// Errors: an entry of another model's cache, a batch that was run, wants that the pass does not
// reach, and an entry that sees tokens never computed nor in this batch.
Status CheckBatch(const Batch& batch, const ModelConfig& config, const Backend* backend);

// REQUIRES: CheckBatch.
BatchPlan PlanBatch(const Batch& batch, const ModelConfig& config);

// Marks the batch's tokens as computed through `n_layers` layers.
void CommitBatch(Batch& batch, int n_layers);

}  // namespace adjudge
