#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <numeric>

#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/thread_pool.h"

namespace adjudge {
namespace {

// Waits until this process has `n` threads (a joined one may take the system a moment to remove)
// and returns how many it has in the end.
std::ptrdiff_t ThreadsOfProcess(std::ptrdiff_t n) {
  std::ptrdiff_t now = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    now = std::distance(begin(tasks), end(tasks));
    if (now == n) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return now;
}

// Threads of this process before a test; sanitizers start theirs with the first thread.
std::ptrdiff_t ThreadsBefore() {
  ThreadPool(2).Run([](int) {});
  return ThreadsOfProcess(1);
}

TEST(ThreadPool, StartsAndStopsManyTimesAndLeavesNoThread) {
  const auto before = ThreadsBefore();
  std::atomic<int> sum = 0;
  for (int i = 0; i < 200; ++i) {
    ThreadPool pool(1 + i % 5);
    if (i % 3 != 0) pool.Run([&](int) { ++sum; });
    EXPECT_EQ(ThreadsOfProcess(before + i % 5), before + i % 5);
  }
  int expected = 0;
  for (int i = 0; i < 200; ++i) expected += i % 3 != 0 ? 1 + i % 5 : 0;
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(ThreadsOfProcess(before), before);
}

TEST(ThreadPool, EveryThreadRunsOnceAndItsWritesAreSeen) {
  for (int n : {1, 2, 3, 7, 32}) {
    ThreadPool pool(n);
    std::vector<int> calls(static_cast<std::size_t>(n), 0);  // plain ints: the pool orders them
    for (int round = 0; round < 300; ++round) {
      pool.Run([&](int thread) { ++calls[static_cast<std::size_t>(thread)]; });
    }
    for (int c : calls) EXPECT_EQ(c, 300);
  }
}

TEST(ThreadPool, ForCoversEveryItemOnceWithWholeGrains) {
  for (int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    for (std::int64_t n : {0, 1, 2, 3, 7, 8, 9, 64, 100, 1001}) {
      for (std::int64_t grain : {1, 4, 8, 2000}) {
        std::vector<int> seen(static_cast<std::size_t>(n), 0);
        pool.For(n, grain, [&](int thread, std::int64_t begin, std::int64_t end) {
          EXPECT_TRUE(thread >= 0 && thread < threads);
          EXPECT_LT(begin, end);
          EXPECT_EQ(begin % grain, 0);
          for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
        });
        for (int s : seen) ASSERT_EQ(s, 1) << threads << " threads, " << n << " items";
      }
    }
  }
}

// Threads that wake late find their part done, and never run a part of a job that has ended.
TEST(ThreadPool, ShortJobsAfterSleepRunEveryPartOnce) {
  ThreadPool pool(4);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> calls(4, 0);  // dies with the round, so a late write is seen by the sanitizers
    pool.Run([&](int part) { ++calls[static_cast<std::size_t>(part)]; });
    for (int c : calls) ASSERT_EQ(c, 1) << round;
    if (round % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(ThreadPool, SleepingThreadsWake) {
  ThreadPool pool(3);
  std::atomic<int> sum = 0;
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // far beyond the spin
    pool.Run([&](int) { ++sum; });
  }
  EXPECT_EQ(sum, 15);
}

TEST(ThreadPoolDeathTest, NestedUseIsRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        ThreadPool pool(2);
        pool.Run([&](int thread) {
          if (thread == 0) pool.Run([](int) {});
        });
      },
      "nested");
  EXPECT_DEATH(
      {
        ThreadPool pool(1);
        pool.For(1, 1, [&](int, std::int64_t, std::int64_t) { pool.Run([](int) {}); });
      },
      "nested");
}

TEST(CpuBackendThreads, AnyCountFrom1To256WorksAndMoreIsRefusedByName) {
  const auto before = ThreadsBefore();
  for (int threads : {0, 1, 2, 3, 64, 256}) {
    const auto backend = NewCpuBackend({.threads = threads});
    ASSERT_TRUE(backend.has_value()) << threads;
    if (threads > 0) {
      EXPECT_EQ(ThreadsOfProcess(before + threads - 1), before + threads - 1);
    }
  }
  EXPECT_EQ(ThreadsOfProcess(before), before);
  for (int threads : {-1, 257, 1000}) {
    const auto backend = NewCpuBackend({.threads = threads});
    ASSERT_FALSE(backend.has_value());
    EXPECT_EQ(backend.error().code, ErrorCode::kLimit);
    EXPECT_EQ(backend.error().place, "threads");
    EXPECT_NE(backend.error().message.find(std::to_string(threads)), std::string::npos);
    EXPECT_NE(backend.error().message.find("256"), std::string::npos);
  }
}

}  // namespace
}  // namespace adjudge
