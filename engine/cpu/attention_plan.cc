#include "engine/cpu/attention_plan.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/cpu/cpu_memory.h"

namespace adjudge {
namespace {

constexpr int kItemsPerThread = 4;  // fewer than this are split by head

std::int64_t WorkOf(const AttentionPlan::Item& item) {
  return static_cast<std::int64_t>(item.n_rows) * item.n_heads * item.n_keys;
}

}  // namespace

void AttentionPlan::Build(const Call& call, int n_threads, const Limits& limits) {
  call_ = call;
  items_.clear();
  work_ = 0;
  const int group = call.n_heads / call.n_kv_heads;
  for (int first = 0; first < call.n;) {
    const auto& runs = call.rows[static_cast<std::size_t>(first)].runs;
    Item item{.first_row = first, .first_head = 0, .n_heads = group};
    while (first + item.n_rows < call.n) {
      const AttentionRow& row = call.rows[static_cast<std::size_t>(first + item.n_rows)];
      if (row.runs.data() != runs.data() || row.runs.size() != runs.size()) break;
      const int n_keys = std::max(item.n_keys, row.n_keys);
      const std::int64_t queries = static_cast<std::int64_t>(item.n_rows + 1) * group;
      const bool full = queries > limits.queries || queries * n_keys > limits.scores;
      if (item.n_rows > 0 && full) break;
      item.n_keys = n_keys;
      ++item.n_rows;
    }
    items_.push_back(item);
    first += item.n_rows;
  }
  // Few rows: a head at a time keeps all threads busy, at the price of reading keys more often.
  const auto tiles = static_cast<int>(items_.size());
  const bool by_head =
      limits.by_head && n_threads > 1 && tiles * call.n_kv_heads < kItemsPerThread * n_threads;
  const int heads = by_head ? 1 : group;
  std::vector<Item> whole;
  whole.swap(items_);
  for (Item item : whole) {
    item.n_heads = heads;
    for (int h = 0; h < call.n_heads; h += heads) {
      item.first_head = h;
      items_.push_back(item);
      work_ += WorkOf(item) * call.head_dim * 2;
    }
  }
  Divide(n_threads);
}

void AttentionPlan::Divide(int n_threads) {
  first_item_.assign(static_cast<std::size_t>(n_threads) + 1, items_.size());
  first_item_[0] = 0;
  std::int64_t total = 0;
  for (const Item& item : items_) total += WorkOf(item);
  std::int64_t done = 0;
  int thread = 1;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    // An item belongs to the part that its middle falls into.
    while (thread < n_threads && (2 * done + WorkOf(items_[i])) * n_threads >= 2 * total * thread) {
      first_item_[static_cast<std::size_t>(thread++)] = i;
    }
    done += WorkOf(items_[i]);
  }
}

void AttentionPlan::Queries(const Item& item, std::vector<AttentionQuery>* out) const {
  out->clear();
  for (int r = item.first_row; r < item.first_row + item.n_rows; ++r) {
    const AttentionRow& row = call_.rows[static_cast<std::size_t>(r)];
    ADJUDGE_CHECK(row.first_key >= 0 && row.first_key < row.n_keys);
    for (int h = item.first_head; h < item.first_head + item.n_heads; ++h) {
      out->push_back(
          {.q = call_.q + static_cast<std::int64_t>(r) * call_.stride +
                static_cast<std::int64_t>(h) * call_.head_dim,
           .out = call_.out + (static_cast<std::int64_t>(r) * call_.n_heads + h) * call_.head_dim,
           .first_key = row.first_key,
           .n_keys = row.n_keys});
    }
  }
}

int AttentionPlan::Runs(const Item& item, std::vector<KeyRun>* out) const {
  out->clear();
  const std::int64_t kv_head = item.first_head / (call_.n_heads / call_.n_kv_heads);
  const std::int64_t offset = kv_head * call_.head_dim;
  int cells = kMaxLanes;
  for (const KvRun& run : call_.rows[static_cast<std::size_t>(item.first_row)].runs) {
    const auto& block = static_cast<const CpuKvBlock&>(*run.block);
    cells = block.cells();
    out->push_back({.keys = block.keys(call_.layer) + offset * cells,
                    .values = block.values(call_.layer) + offset,
                    .begin = run.begin,
                    .count = run.count});
  }
  return cells;
}

}  // namespace adjudge
