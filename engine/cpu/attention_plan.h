// AttentionPlan: one attention call cut into items of work for threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/backend.h"
#include "engine/cpu/kernels.h"

namespace adjudge {

// An item is a few neighbouring rows that look at the same runs, with the heads that share one key
// head: its keys are read once for all of them. How rows are grouped is never seen in their bits.
class AttentionPlan {
 public:
  struct Call {  // the arguments of Backend::Attention
    int layer = 0;
    const float* q = nullptr;
    float* out = nullptr;
    int n = 0;
    int stride = 0;
    int n_heads = 0;
    int n_kv_heads = 0;
    int head_dim = 0;
    float scale = 0;
    std::span<const AttentionRow> rows;
  };
  struct Item {
    int first_row = 0;
    int n_rows = 0;
    int first_head = 0;
    int n_heads = 0;
    int n_keys = 0;  // the most of any row
  };

  // How an item may grow, and whether few rows are cut into heads for more threads.
  struct Limits {
    int queries = 24;
    std::int64_t scores = 48 << 10;  // floats of scratch that stay in cache
    bool by_head = true;
  };

  void Build(const Call& call, int n_threads, const Limits& limits);
  const Call& call() const { return call_; }
  const std::vector<Item>& items() const { return items_; }
  // Items [first_item(t), first_item(t + 1)) are thread t's: about the same number of keys each.
  std::size_t first_item(int thread) const { return first_item_[static_cast<std::size_t>(thread)]; }
  std::int64_t work() const { return work_; }  // multiplications

  void Queries(const Item& item, std::vector<AttentionQuery>* out) const;
  // Returns the cells of a block.
  int Runs(const Item& item, std::vector<KeyRun>* out) const;

 private:
  void Divide(int n_threads);

  Call call_;
  std::vector<Item> items_;
  std::vector<std::size_t> first_item_;
  std::int64_t work_ = 0;
};

}  // namespace adjudge
