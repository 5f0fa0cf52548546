// CpuBackend: threads and vectors.
#pragma once

#include <memory>
#include <optional>

#include "engine/backend.h"
#include "engine/base/result.h"
#include "engine/cpu/isa.h"
#include "engine/precision.h"

namespace adjudge {

struct CpuBackendOptions {
  int threads = 0;            // 0 = physical cores that this process may use; at most 256
  std::optional<CpuIsa> isa;  // the best available unless given
  Precision precision = Precision::kDefault;
};

// Errors: kLimit for a thread count outside 0 to 256, or when the system gives no more threads;
// kUnsupported for an instruction set that this machine lacks.
Result<std::unique_ptr<Backend>> NewCpuBackend(const CpuBackendOptions& options = {});

}  // namespace adjudge
