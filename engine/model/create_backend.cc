#include "engine/model/create_backend.h"

#include <algorithm>
#include <string>
#include <thread>

#include "engine/reference/reference_backend.h"

namespace adjudge {

Result<BackendKind> ParseBackendKind(std::string_view name) {
  for (const BackendKind kind : {BackendKind::kReference, BackendKind::kCpu}) {
    if (name == ToString(kind)) return kind;
  }
  return Fail(ErrorCode::kInvalidArgument,
              "unknown backend \"" + std::string(name) + "\"; known: reference, cpu", "backend");
}

std::string_view ToString(BackendKind kind) {
  switch (kind) {
    case BackendKind::kReference:
      return "reference";
    case BackendKind::kCpu:
      return "cpu";
  }
  return "unknown";
}

Result<std::unique_ptr<Backend>> CreateBackend(BackendKind kind, int threads) {
  if (threads < 0 || threads > kMaxThreads) {
    return Fail(ErrorCode::kInvalidArgument,
                "expected 0 (the machine's cores) to " + std::to_string(kMaxThreads) +
                    " threads, found " + std::to_string(threads),
                "threads");
  }
  if (threads == 0) {
    threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxThreads);
  }
  switch (kind) {
    case BackendKind::kCpu:  // until engine/cpu has its own
    case BackendKind::kReference:
      return NewReferenceBackend(threads);
  }
  return Fail(ErrorCode::kUnsupported, "a backend kind without an implementation", "backend");
}

}  // namespace adjudge
