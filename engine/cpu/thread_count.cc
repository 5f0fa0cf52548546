#include "engine/cpu/thread_count.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "engine/cpu/thread_pool.h"

namespace adjudge {
namespace fs = std::filesystem;
namespace {

std::string FirstLine(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// quota / period in whole cores, at least 1; 0 when there is no quota.
int WholeCores(const std::string& quota, const std::string& period) {
  char* end = nullptr;
  const double q = std::strtod(quota.c_str(), &end);
  if (end == quota.c_str() || q <= 0) return 0;  // "max", "-1", or no such file
  const double p = std::strtod(period.c_str(), nullptr);
  if (p <= 0) return 0;
  const double cores = q / p;
  return cores >= 1 << 20 ? 0 : std::max(1, static_cast<int>(cores));
}

int Tighter(int a, int b) {
  if (a == 0) return b;
  return b == 0 ? a : std::min(a, b);
}

// The tightest quota of a group and of all those above it.
int QuotaOfGroup(const fs::path& mount, fs::path group, bool v2) {
  int tightest = 0;
  group = group.relative_path();
  while (true) {
    const fs::path folder = mount / group;
    if (v2) {
      std::istringstream words(FirstLine(folder / "cpu.max"));
      std::string quota;
      std::string period = "100000";
      words >> quota >> period;
      tightest = Tighter(tightest, WholeCores(quota, period));
    } else {
      tightest = Tighter(tightest, WholeCores(FirstLine(folder / "cpu.cfs_quota_us"),
                                              FirstLine(folder / "cpu.cfs_period_us")));
    }
    if (group.empty()) return tightest;
    group = group.parent_path();
  }
}

}  // namespace

Result<int> ResolveThreadCount(int requested) {
  if (requested == 0) return DefaultThreadCount();
  if (requested < 0 || requested > ThreadPool::kMaxThreads) {
    return Fail(ErrorCode::kLimit,
                "expected 0 (physical cores) to " + std::to_string(ThreadPool::kMaxThreads) +
                    " threads, found " + std::to_string(requested),
                "threads");
  }
  return requested;
}

int DefaultThreadCount() {
  int n = CountPhysicalCores(AllowedCpus(), "/");
  const int quota = CpuQuota("/");
  if (quota > 0) n = std::min(n, quota);
  return std::clamp(n, 1, ThreadPool::kMaxThreads);
}

std::vector<int> AllowedCpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) {
    const int n = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    for (int cpu = 0; cpu < n; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

int CountPhysicalCores(const std::vector<int>& cpus, const fs::path& root) {
  std::set<std::string> cores;
  for (int cpu : cpus) {
    const fs::path topology =
        root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology";
    std::string siblings = FirstLine(topology / "core_cpus_list");
    if (siblings.empty()) siblings = FirstLine(topology / "thread_siblings_list");
    if (siblings.empty()) siblings = "cpu " + std::to_string(cpu);  // unknown: a core of its own
    cores.insert(siblings);
  }
  return static_cast<int>(cores.size());
}

int CpuQuota(const fs::path& root) {
  int tightest = 0;
  std::ifstream groups(root / "proc/self/cgroup");
  const fs::path mount = root / "sys/fs/cgroup";
  for (std::string line; std::getline(groups, line);) {
    // "0::/path" (v2) or "4:cpu,cpuacct:/path" (v1)
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      tightest = Tighter(tightest, QuotaOfGroup(mount, path, true));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      tightest = Tighter(tightest, QuotaOfGroup(mount / controllers, path, false));
      tightest = Tighter(tightest, QuotaOfGroup(mount / "cpu", path, false));
    }
  }
  return tightest;
}

}  // namespace adjudge
