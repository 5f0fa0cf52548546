#include "engine/cpu/kernels.h"

#include "engine/base/check.h"

namespace adjudge {

const CpuKernels& KernelsFor(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::kBaseline:
      return kKernelsBaseline;
#if defined(__x86_64__) && !defined(ADJUDGE_SCALAR)
    case CpuIsa::kAvx2:
      return kKernelsAvx2;
    case CpuIsa::kAvx512:
      return kKernelsAvx512;
    case CpuIsa::kAvx512Vnni:
      return kKernelsAvx512Vnni;
#else
    default:
      break;
#endif
  }
  ADJUDGE_CHECK_MSG(false, "an instruction set that is not compiled in");
  return kKernelsBaseline;
}

}  // namespace adjudge
