// The backend of a kind.
#pragma once

#include <memory>
#include <string_view>

#include "engine/backend.h"
#include "engine/base/result.h"
#include "engine/model.h"
#include "engine/precision.h"

namespace adjudge {

// Errors: kLimit for a thread count outside 0 (the machine's) to ThreadPool::kMaxThreads, and those
// of ModelOptions::cpu_isa.
Result<std::unique_ptr<Backend>> CreateBackend(BackendKind kind, int threads,
                                               Precision precision = Precision::kDefault,
                                               std::string_view cpu_isa = {});

}  // namespace adjudge
