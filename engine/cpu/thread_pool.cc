#include "engine/cpu/thread_pool.h"

#include <chrono>

#include "engine/base/check.h"

namespace adjudge {
namespace {

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

constexpr auto kSpin = std::chrono::microseconds(20);

// Waits until `value` is no longer `old`: spins a short while, then sleeps in the kernel.
void AwaitChange(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  const auto deadline = std::chrono::steady_clock::now() + kSpin;
  while (true) {
    for (int i = 0; i < 32; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
      Pause();
    }
    if (std::chrono::steady_clock::now() >= deadline) break;
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int n_threads)
    : n_threads_(n_threads), claimed_(static_cast<std::size_t>(n_threads)) {
  ADJUDGE_CHECK(n_threads >= 1 && n_threads <= kMaxThreads);
  workers_.reserve(static_cast<std::size_t>(n_threads - 1));
  try {
    for (int t = 1; t < n_threads; ++t) {
      workers_.emplace_back([this, t] { WorkerLoop(t); });
    }
  } catch (...) {
    Stop();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  Enter();
  Stop();
}

void ThreadPool::Stop() {
  stopping_ = true;
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Enter() {
  ADJUDGE_CHECK_MSG(!busy_.exchange(true, std::memory_order_acquire),
                    "the pool is in use: nested, or from a second thread");
}

bool ThreadPool::Claim(int part, std::uint32_t epoch) {
  std::atomic<std::uint32_t>& claimed = claimed_[static_cast<std::size_t>(part)];
  std::uint32_t last = claimed.load(std::memory_order_acquire);
  // A thread that slept through jobs may ask with an old epoch: only a later one claims.
  return static_cast<std::int32_t>(epoch - last) > 0 &&
         claimed.compare_exchange_strong(last, epoch, std::memory_order_acq_rel);
}

void ThreadPool::RunRaw(RawBody body, void* context) {
  Enter();
  if (workers_.empty()) {
    body(context, 0);
    busy_.store(false, std::memory_order_release);
    return;
  }
  body_ = body;
  context_ = context;
  pending_.store(static_cast<std::uint32_t>(workers_.size()), std::memory_order_relaxed);
  const std::uint32_t epoch = epoch_.load(std::memory_order_relaxed) + 1;
  epoch_.store(epoch, std::memory_order_release);
  epoch_.notify_all();
  body(context, 0);
  for (int part = n_threads_ - 1; part > 0; --part) {
    if (!Claim(part, epoch)) continue;
    body(context, part);
    pending_.fetch_sub(1, std::memory_order_acq_rel);
  }
  while (true) {
    const std::uint32_t pending = pending_.load(std::memory_order_acquire);
    if (pending == 0) break;
    AwaitChange(pending_, pending);
  }
  busy_.store(false, std::memory_order_release);
}

void ThreadPool::WorkerLoop(int thread) {
  std::uint32_t epoch = 0;
  while (true) {
    AwaitChange(epoch_, epoch);
    epoch = epoch_.load(std::memory_order_acquire);
    if (stopping_) return;
    // The job of a claimed part cannot end before it, so body_ and context_ are this job's.
    if (!Claim(thread, epoch)) continue;
    body_(context_, thread);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
  }
}

}  // namespace adjudge
