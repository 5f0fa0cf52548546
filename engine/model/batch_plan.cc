#include "engine/model/batch_plan.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "engine/base/check.h"

namespace adjudge {
namespace {

// Which cells of each block this batch computes, one bit a cell.
using StagedCells = std::unordered_map<const CacheBlock*, std::uint32_t>;

StagedCells CollectStaged(const Batch& batch) {
  static_assert(KvCache::kBlockTokens <= 32);
  StagedCells staged;
  for (const Batch::Entry& entry : batch.entries()) {
    entry.state->ForEachCell(
        entry.begin, entry.begin + entry.n_tokens,
        [&](const CacheBlock& block, int cell) { staged[&block] |= std::uint32_t{1} << cell; });
  }
  return staged;
}

Status CheckDependencies(const Batch::Entry& entry, const StagedCells& staged, int n_layers,
                         const std::string& place) {
  int index = 0;
  int bad = -1;
  int bad_layers = 0;
  entry.state->ForEachCell(0, entry.begin, [&](const CacheBlock& block, int cell) {
    const int layers = block.layers_done[static_cast<std::size_t>(cell)];
    if (bad < 0 && layers < n_layers) {
      const auto found = staged.find(&block);
      if (found == staged.end() || ((found->second >> cell) & 1U) == 0) {
        bad = index;
        bad_layers = layers;
      }
    }
    ++index;
  });
  if (bad < 0) return {};
  const std::string what = bad_layers == 0
                               ? "was never computed and is not in this batch"
                               : "was computed through " + std::to_string(bad_layers) + " of the " +
                                     std::to_string(n_layers) + " layers that this pass needs";
  return Fail(ErrorCode::kInvalidArgument,
              "token " + std::to_string(bad) + " of the sequence " + what, place);
}

Status CheckReach(const Batch::Entry& entry, std::optional<int> stop, const std::string& place) {
  if (!stop) return {};
  const Wants& wants = entry.wants;
  if (wants.logits || !wants.logit_ids.empty() || wants.log_sum_exp || wants.hidden) {
    return Fail(ErrorCode::kInvalidArgument,
                "the pass stops after " + std::to_string(*stop) +
                    " layers; only hidden_layers can be wanted",
                place);
  }
  for (const int layer : wants.hidden_layers) {
    if (layer >= *stop) {
      return Fail(ErrorCode::kInvalidArgument,
                  "layer " + std::to_string(layer) + " is wanted, but the pass stops after " +
                      std::to_string(*stop) + " layers",
                  place);
    }
  }
  return {};
}

// What the rows of one entry see under one window.
class WindowedEntry {
 public:
  WindowedEntry(const Batch::Entry& entry, int window, std::span<const KvRun> runs)
      : begin_(entry.begin), window_(window), runs_(runs) {
    entry.state->ForEachCell(
        0, entry.begin + entry.n_tokens, [this](const CacheBlock& block, int cell) {
          positions_.push_back(block.positions[static_cast<std::size_t>(cell)]);
        });
    // Up to where positions never go down, so that a window is a suffix found by bisection.
    sorted_ = static_cast<int>(std::is_sorted_until(positions_.begin(), positions_.end()) -
                               positions_.begin());
  }

  // `own` takes the runs of a row whose window is not a suffix of the list.
  AttentionRow Row(int i, std::vector<std::vector<KvRun>>& own) const {
    const int n_keys = begin_ + i + 1;
    const int low = positions_[static_cast<std::size_t>(n_keys - 1)] - window_ + 1;
    if (n_keys <= sorted_) {
      const auto end = positions_.begin() + n_keys;
      const auto first = std::lower_bound(positions_.begin(), end, low);
      return {runs_, n_keys, static_cast<int>(first - positions_.begin())};
    }
    int first = n_keys;  // of the longest suffix inside the window
    while (first > 0 && positions_[static_cast<std::size_t>(first - 1)] >= low) --first;
    const auto outside = [low](int position) { return position < low; };
    if (std::all_of(positions_.begin(), positions_.begin() + first, outside)) {
      return {runs_, n_keys, first};
    }
    return OwnRuns(n_keys, low, own);
  }

 private:
  AttentionRow OwnRuns(int n_keys, int low, std::vector<std::vector<KvRun>>& own) const {
    std::vector<KvRun>& list = own.emplace_back();
    int index = 0;
    int kept = 0;
    for (const KvRun& run : runs_) {
      for (int i = 0; i < run.count && index < n_keys; ++i, ++index) {
        if (positions_[static_cast<std::size_t>(index)] < low) continue;
        const int cell = run.begin + i;
        ++kept;
        if (!list.empty() && list.back().block == run.block &&
            list.back().begin + list.back().count == cell) {
          ++list.back().count;
        } else {
          list.push_back({run.block, cell, 1});
        }
      }
    }
    return {list, kept, 0};
  }

  int begin_;
  int window_;
  std::span<const KvRun> runs_;
  std::vector<int> positions_;  // of every visible token
  int sorted_ = 0;
};

std::vector<KvRun> RunsOf(const SequenceState& state) {
  std::vector<KvRun> runs;
  runs.reserve(state.refs().size());
  for (const BlockRef& ref : state.refs()) {
    runs.push_back({ref.block->kv.get(), ref.begin, ref.count});
  }
  return runs;
}

void AddEntryRows(const Batch::Entry& entry, BatchPlan& plan) {
  plan.runs.push_back(RunsOf(*entry.state));
  const std::span<const KvRun> runs = plan.runs.back();
  for (BatchPlan::WindowRows& window : plan.windows) {
    if (window.window == 0) {
      for (int i = 0; i < entry.n_tokens; ++i)
        window.rows.push_back({runs, entry.begin + i + 1, 0});
      continue;
    }
    const WindowedEntry windowed(entry, window.window, runs);
    for (int i = 0; i < entry.n_tokens; ++i) window.rows.push_back(windowed.Row(i, plan.runs));
  }
}

}  // namespace

const std::vector<AttentionRow>& BatchPlan::rows_of_window(int window) const {
  for (const WindowRows& rows : windows) {
    if (rows.window == window) return rows.rows;
  }
  ADJUDGE_CHECK_MSG(false, "a window that was not planned");
  return windows.front().rows;
}

Status CheckBatch(const Batch& batch, const ModelConfig& config, const Backend* backend) {
  const std::optional<int> stop = batch.stop_after_layers();
  if (stop && (*stop < 1 || *stop > config.n_layers)) {
    return Fail(ErrorCode::kInvalidArgument,
                "expected to stop after 1 to " + std::to_string(config.n_layers) +
                    " layers, found " + std::to_string(*stop),
                "batch");
  }
  const StagedCells staged = CollectStaged(batch);
  for (int i = 0; i < batch.n_entries(); ++i) {
    const Batch::Entry& entry = batch.entries()[static_cast<std::size_t>(i)];
    const std::string place = "entry " + std::to_string(i);
    if (!entry.pending) {
      return Fail(ErrorCode::kInvalidArgument, "the batch was run already; use a new one", place);
    }
    if (entry.state->cache().backend() != backend) {
      return Fail(ErrorCode::kInvalidArgument, "the sequence is of another model's cache", place);
    }
    ADJUDGE_RETURN_IF_ERROR(CheckReach(entry, stop, place));
    ADJUDGE_RETURN_IF_ERROR(
        CheckDependencies(entry, staged, stop.value_or(config.n_layers), place));
  }
  return {};
}

BatchPlan PlanBatch(const Batch& batch, const ModelConfig& config) {
  BatchPlan plan;
  for (const int window : config.layer_window) {
    const auto same = [window](const BatchPlan::WindowRows& rows) { return rows.window == window; };
    if (std::none_of(plan.windows.begin(), plan.windows.end(), same)) {
      plan.windows.push_back({window, {}});
    }
  }
  for (int e = 0; e < batch.n_entries(); ++e) {
    const Batch::Entry& entry = batch.entries()[static_cast<std::size_t>(e)];
    const int first_row = plan.n_rows();
    entry.state->ForEachCell(entry.begin, entry.begin + entry.n_tokens,
                             [&](const CacheBlock& block, int cell) {
                               const auto at = static_cast<std::size_t>(cell);
                               plan.tokens.push_back(block.tokens[at]);
                               plan.positions.push_back(block.positions[at]);
                               plan.cells.push_back({block.kv.get(), cell});
                             });
    for (std::size_t i = 0; i < entry.wants.rows.size(); ++i) {
      plan.wanted.push_back({first_row + entry.wants.rows[i], e, static_cast<int>(i)});
    }
    AddEntryRows(entry, plan);
  }
  return plan;
}

void CommitBatch(Batch& batch, int n_layers) {
  for (Batch::Entry& entry : batch.entries()) {
    entry.state->ForEachCell(entry.begin, entry.begin + entry.n_tokens,
                             [n_layers](CacheBlock& block, int cell) {
                               block.layers_done[static_cast<std::size_t>(cell)] = n_layers;
                             });
    entry.state->set_staged(false);
    entry.pending = false;
  }
}

}  // namespace adjudge
