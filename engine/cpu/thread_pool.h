// ThreadPool: a fixed set of threads that all run the same body, one part each.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace adjudge {

// Split statically, so that a thread streams the same part of a weight every time and no queue is
// needed. A part that its thread has not begun when the caller is through with its own is run by
// the caller: where a core was taken away, work goes on at the speed of the others. Waiting threads
// spin a short while and then sleep: two operations of a forward pass lie a few microseconds apart,
// and a core that was taken away must not be fought for. Used by one thread at a time; calling Run
// from inside a body, or from two threads, is a bug.
class ThreadPool {
 public:
  static constexpr int kMaxThreads = 256;

  // The caller is one of the threads: n_threads - 1 are started, and end with the pool.
  // REQUIRES: 1 <= n_threads <= kMaxThreads. Throws std::system_error when the system has no more.
  explicit ThreadPool(int n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int n_threads() const { return n_threads_; }

  // Calls body(part) once for each part in [0, n_threads), 0 on the caller and others on their
  // thread or the caller, and returns when all have ended. The body may not throw.
  template <typename Body>
  void Run(Body&& body) {
    RunRaw([](void* context, int thread) { (*static_cast<Body*>(context))(thread); }, &body);
  }

  // Splits [0, n) into one contiguous part a thread, each but the last a multiple of `grain`, and
  // calls body(thread, begin, end) for those that are not empty. With one part it stays on the
  // caller.
  template <typename Body>
  void For(std::int64_t n, std::int64_t grain, Body&& body) {
    const std::int64_t n_grains = (n + grain - 1) / grain;
    if (n_threads_ == 1 || n_grains <= 1) {
      if (n > 0) RunHere([&] { body(0, std::int64_t{0}, n); });
      return;
    }
    Run([&](int thread) {
      const std::int64_t begin = n_grains * thread / n_threads_ * grain;
      std::int64_t end = n_grains * (thread + 1) / n_threads_ * grain;
      if (end > n) end = n;
      if (begin < end) body(thread, begin, end);
    });
  }

 private:
  using RawBody = void (*)(void* context, int thread);

  template <typename Body>
  void RunHere(Body&& body) {
    Enter();
    body();
    busy_.store(false, std::memory_order_release);
  }
  void Enter();
  void RunRaw(RawBody body, void* context);
  void WorkerLoop(int thread);
  // True for the first that asks for this part of this job, and for nobody after.
  bool Claim(int part, std::uint32_t epoch);
  void Stop();

  const int n_threads_;
  RawBody body_ = nullptr;
  void* context_ = nullptr;
  std::atomic<bool> stopping_{false};  // read by threads that wake late too
  std::atomic<bool> busy_{false};
  // A new job is a new epoch; the last part to be finished takes `pending_` to zero.
  alignas(64) std::atomic<std::uint32_t> epoch_{0};
  alignas(64) std::atomic<std::uint32_t> pending_{0};
  // The last job in which each part was claimed. When a job has ended, that is this job for all of
  // them, so a thread that wakes late finds nothing to claim. [n_threads]
  std::vector<std::atomic<std::uint32_t>> claimed_;
  std::vector<std::thread> workers_;
};

}  // namespace adjudge
