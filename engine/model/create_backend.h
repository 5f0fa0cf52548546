// The backend of a kind.
#pragma once

#include <memory>

#include "engine/backend.h"
#include "engine/base/result.h"
#include "engine/model.h"
#include "engine/precision.h"

namespace adjudge {

// Errors: kLimit for a thread count outside 0 (the machine's) to ThreadPool::kMaxThreads.
Result<std::unique_ptr<Backend>> CreateBackend(BackendKind kind, int threads,
                                               Precision precision = Precision::kDefault);

}  // namespace adjudge
