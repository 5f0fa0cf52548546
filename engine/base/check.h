// ADJUDGE_CHECK: a violated invariant is a bug in adjudge, so it aborts with the place and the
// words. Bad input is never a CHECK: see result.h.
#pragma once

namespace adjudge {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              const char* message);

}  // namespace adjudge

#define ADJUDGE_CHECK_MSG(condition, message)                          \
  do {                                                                 \
    if (!(condition)) [[unlikely]] {                                   \
      ::adjudge::CheckFailed(__FILE__, __LINE__, #condition, message); \
    }                                                                  \
  } while (false)

#define ADJUDGE_CHECK(condition) ADJUDGE_CHECK_MSG(condition, "")
