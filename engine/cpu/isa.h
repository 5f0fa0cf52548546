// The instruction sets that the CPU kernels are compiled for.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace adjudge {

enum class CpuIsa {
  kBaseline,    // what the compiler assumes of every machine of this architecture
  kAvx2,        // AVX2, FMA, F16C
  kAvx512,      // AVX-512 F, BW, DQ, VL
  kAvx512Vnni,  // and its dot products of bytes
};

std::string_view ToString(CpuIsa isa);  // baseline, avx2, avx512, avx512vnni
std::optional<CpuIsa> ParseCpuIsa(std::string_view name);

// Those that are compiled in and that this machine has, weakest first; never empty.
const std::vector<CpuIsa>& AvailableIsas();

}  // namespace adjudge
