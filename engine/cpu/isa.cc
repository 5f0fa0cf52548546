#include "engine/cpu/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace adjudge {
namespace {

std::vector<CpuIsa> Detect() {
  std::vector<CpuIsa> isas{CpuIsa::kBaseline};
#if defined(__x86_64__) && !defined(ADJUDGE_SCALAR)
  __builtin_cpu_init();
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  const bool f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  if (!f16c || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return isas;
  isas.push_back(CpuIsa::kAvx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    isas.push_back(CpuIsa::kAvx512);
    if (__builtin_cpu_supports("avx512vnni")) isas.push_back(CpuIsa::kAvx512Vnni);
  }
#endif
  return isas;
}

}  // namespace

std::string_view ToString(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::kBaseline:
      return "baseline";
    case CpuIsa::kAvx2:
      return "avx2";
    case CpuIsa::kAvx512:
      return "avx512";
    case CpuIsa::kAvx512Vnni:
      return "avx512vnni";
  }
  return "?";
}

std::optional<CpuIsa> ParseCpuIsa(std::string_view name) {
  for (CpuIsa isa : {CpuIsa::kBaseline, CpuIsa::kAvx2, CpuIsa::kAvx512, CpuIsa::kAvx512Vnni}) {
    if (ToString(isa) == name) return isa;
  }
  return std::nullopt;
}

const std::vector<CpuIsa>& AvailableIsas() {
  static const std::vector<CpuIsa> isas = Detect();
  return isas;
}

}  // namespace adjudge
