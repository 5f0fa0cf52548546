#include "engine/model/create_backend.h"

#include <optional>
#include <string>

#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/thread_count.h"
#include "engine/cpu/thread_pool.h"
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

static_assert(ModelOptions::kMaxThreads == ThreadPool::kMaxThreads);

Result<std::unique_ptr<Backend>> CreateBackend(BackendKind kind, int threads, Precision precision,
                                               std::string_view cpu_isa) {
  const std::optional<CpuIsa> isa = ParseCpuIsa(cpu_isa);
  if (!isa && !cpu_isa.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "unknown instruction set \"" + std::string(cpu_isa) + "\"; this machine has " +
                    AvailableIsaNames(),
                "cpu-isa");
  }
  switch (kind) {
    case BackendKind::kCpu:
      return NewCpuBackend({.threads = threads, .isa = isa, .precision = precision});
    case BackendKind::kReference: {
      ADJUDGE_ASSIGN_OR_RETURN(const int n, ResolveThreadCount(threads));
      return NewReferenceBackend(n);
    }
  }
  return Fail(ErrorCode::kUnsupported, "a backend kind without an implementation", "backend");
}

}  // namespace adjudge
