// How many threads a process should compute with.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/base/result.h"

namespace adjudge {

// Threads for a request: 0 = DefaultThreadCount(); 1 to ThreadPool::kMaxThreads as asked; anything
// else is kLimit, naming the option.
Result<int> ResolveThreadCount(int requested);

// Physical cores that this process may run on, cut to whole cores of a container's CPU quota; at
// least 1.
int DefaultThreadCount();

// The parts of it, with the system's files under `root` ("/" outside tests).
std::vector<int> AllowedCpus();
int CountPhysicalCores(const std::vector<int>& cpus, const std::filesystem::path& root);
// Whole cores of the tightest quota on this process's control groups (v2 or v1); 0 = no quota.
int CpuQuota(const std::filesystem::path& root);

}  // namespace adjudge
