// The backend that defines the results: scalar loops, sums in double in one order, float storage.
#pragma once

#include <memory>

#include "engine/backend.h"

namespace adjudge {

// `threads` (at least 1) share the rows of the output of large matrix products; each number is
// still one sum in one order. Weights stay in the file's format and are dequantised as they are
// used.
std::unique_ptr<Backend> NewReferenceBackend(int threads);

}  // namespace adjudge
