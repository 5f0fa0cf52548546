#include "engine/cpu/isa.h"

#include <array>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace adjudge {
namespace {

#if defined(__x86_64__) && !defined(ADJUDGE_SCALAR)
struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
  Leaf(unsigned leaf, unsigned sub) { __get_cpuid_count(leaf, sub, &a, &b, &c, &d); }
};

bool Bit(unsigned word, int bit) { return (word >> bit & 1) != 0; }

// The system keeps a thread's tiles only for a process that asked for it.
bool HasMatrixUnit(const Leaf& seven) {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;
  const bool has = Bit(seven.d, 22) && Bit(seven.d, 24) && Bit(seven.d, 25);
  return has && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
#endif

std::vector<CpuIsa> Detect() {
  std::vector<CpuIsa> isas{CpuIsa::kBaseline};
#if defined(__x86_64__) && !defined(ADJUDGE_SCALAR)
  __builtin_cpu_init();
  const bool f16c = Bit(Leaf(1, 0).c, 29);
  if (!f16c || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return isas;
  const Leaf seven(7, 0);
  const Leaf more(7, 1);
  isas.push_back(CpuIsa::kAvx2);
  if (Bit(more.a, 4)) isas.push_back(CpuIsa::kAvxVnni);
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) {
    return isas;
  }
  isas.push_back(CpuIsa::kAvx512);
  if (!__builtin_cpu_supports("avx512vnni")) return isas;
  isas.push_back(CpuIsa::kAvx512Vnni);
  const bool bf16 = Bit(more.a, 5);
  if (bf16) {
    // At twice the speed of float32 on AMD's machines, at half of it on Intel's.
    const bool fast = __builtin_cpu_is("amd") != 0;
    isas.insert(isas.end() - (fast ? 0 : 1), CpuIsa::kAvx512Bf16);
  }
  if (bf16 && HasMatrixUnit(seven)) isas.push_back(CpuIsa::kAmx);
#elif defined(__aarch64__) && defined(__linux__) && !defined(ADJUDGE_SCALAR)
  if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) isas.push_back(CpuIsa::kNeon);
#endif
  return isas;
}

constexpr std::array kAll = {CpuIsa::kBaseline, CpuIsa::kAvx2,       CpuIsa::kAvxVnni,
                             CpuIsa::kAvx512,   CpuIsa::kAvx512Vnni, CpuIsa::kAvx512Bf16,
                             CpuIsa::kAmx,      CpuIsa::kNeon};

}  // namespace

std::string_view ToString(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::kBaseline:
      return "baseline";
    case CpuIsa::kAvx2:
      return "avx2";
    case CpuIsa::kAvxVnni:
      return "avx-vnni";
    case CpuIsa::kAvx512:
      return "avx512";
    case CpuIsa::kAvx512Vnni:
      return "avx512-vnni";
    case CpuIsa::kAvx512Bf16:
      return "avx512-bf16";
    case CpuIsa::kAmx:
      return "amx";
    case CpuIsa::kNeon:
      return "neon";
  }
  return "?";
}

std::optional<CpuIsa> ParseCpuIsa(std::string_view name) {
  for (const CpuIsa isa : kAll) {
    if (ToString(isa) == name) return isa;
  }
  return std::nullopt;
}

const std::vector<CpuIsa>& AvailableIsas() {
  static const std::vector<CpuIsa> isas = Detect();
  return isas;
}

std::string AvailableIsaNames() {
  std::string names;
  for (const CpuIsa isa : AvailableIsas()) {
    names += (names.empty() ? "" : ", ") + std::string(ToString(isa));
  }
  return names;
}

}  // namespace adjudge
