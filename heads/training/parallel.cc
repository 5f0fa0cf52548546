#include "heads/training/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace adjudge {

void ParallelFor(int n, int threads, const std::function<void(int)>& work) {
  std::atomic<int> next = 0;
  const auto take = [&] {
    for (int i = next++; i < n; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < std::min(threads, n); ++t) others.emplace_back(take);
  take();
}

int UsableThreads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace adjudge
