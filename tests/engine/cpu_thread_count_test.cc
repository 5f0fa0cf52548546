#include <gtest/gtest.h>

#include <fstream>

#include "engine/cpu/thread_count.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

namespace fs = std::filesystem;

void Put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(ThreadCount, DefaultIsBetweenOneAndTheCpusAllowed) {
  const int n = DefaultThreadCount();
  EXPECT_GE(n, 1);
  EXPECT_LE(n, static_cast<int>(AllowedCpus().size()));
}

TEST(ThreadCount, HyperthreadsOfOneCoreCountOnce) {
  const testing::TempFolder root;
  const auto topology = [&](int cpu, const char* file) {
    return root.path() / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology" /
           file;
  };
  for (int cpu : {0, 4}) Put(topology(cpu, "core_cpus_list"), "0,4\n");
  for (int cpu : {1, 5}) Put(topology(cpu, "thread_siblings_list"), "1,5\n");  // older kernels
  struct Row {
    std::vector<int> cpus;
    int cores;
  };
  // CPUs 2 and 3 have no files: cores of their own.
  for (const Row& row :
       {Row{{0}, 1}, Row{{0, 4}, 1}, Row{{0, 1, 4, 5}, 2}, Row{{0, 2, 3}, 3}, Row{{4, 5}, 2}}) {
    EXPECT_EQ(CountPhysicalCores(row.cpus, root.path()), row.cores);
  }
}

TEST(ThreadCount, QuotaOfTheTightestGroup) {
  struct Row {
    const char* name;
    const char* cgroup;
    std::vector<std::pair<const char*, const char*>> files;
    int quota;
  };
  const std::vector<Row> rows = {
      {"no files", "", {}, 0},
      {"v2 without a quota", "0::/\n", {{"cpu.max", "max 100000\n"}}, 0},
      {"v2 of one core", "0::/\n", {{"cpu.max", "100000 100000\n"}}, 1},
      {"v2 of two and a half", "0::/a\n", {{"a/cpu.max", "250000 100000\n"}}, 2},
      {"v2 of half a core", "0::/\n", {{"cpu.max", "50000 100000\n"}}, 1},
      {"v2, the parent is tighter",
       "0::/a/b\n",
       {{"a/b/cpu.max", "800000 100000\n"}, {"a/cpu.max", "300000 100000\n"}},
       3},
      {"v1",
       "5:memory:/x\n4:cpu,cpuacct:/x\n",
       {{"cpu,cpuacct/x/cpu.cfs_quota_us", "400000\n"},
        {"cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"}},
       4},
      {"v1 without a quota",
       "4:cpu:/x\n",
       {{"cpu/x/cpu.cfs_quota_us", "-1\n"}, {"cpu/x/cpu.cfs_period_us", "100000\n"}},
       0},
      {"nonsense", "a\n:\n0::\n", {{"cpu.max", "what\n"}}, 0},
  };
  for (const Row& row : rows) {
    const testing::TempFolder root;
    Put(root.path() / "proc/self/cgroup", row.cgroup);
    for (const auto& [file, text] : row.files) Put(root.path() / "sys/fs/cgroup" / file, text);
    EXPECT_EQ(CpuQuota(root.path()), row.quota) << row.name;
  }
}

}  // namespace
}  // namespace adjudge
