// ParallelFor: independent pieces of work on a few threads.
#pragma once

#include <functional>

namespace adjudge {

// Calls work(i) once for each i < n, on up to `threads` threads. Which thread takes which piece is
// left open, so pieces must not depend on each other. REQUIRES: work throws nothing.
void ParallelFor(int n, int threads, const std::function<void(int)>& work);

// Cores that this process may use.
int UsableThreads();

}  // namespace adjudge
