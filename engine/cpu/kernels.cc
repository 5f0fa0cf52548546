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
    case CpuIsa::kAvxVnni:
      return kKernelsAvxVnni;
    case CpuIsa::kAvx512:
      return kKernelsAvx512;
    case CpuIsa::kAvx512Vnni:
      return kKernelsAvx512Vnni;
    case CpuIsa::kAvx512Bf16:
      return kKernelsAvx512Bf16;
    case CpuIsa::kAmx:
      return kKernelsAmx;
#endif
#if defined(__aarch64__) && !defined(ADJUDGE_SCALAR)
    case CpuIsa::kNeon:
      return kKernelsNeon;
#endif
    default:
      break;
  }
  ADJUDGE_CHECK_MSG(false, "an instruction set that is not compiled in");
  return kKernelsBaseline;
}

}  // namespace adjudge
