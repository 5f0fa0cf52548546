// The instruction sets that the CPU kernels are compiled for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adjudge {

enum class CpuIsa {
  kBaseline,    // what the compiler assumes of every machine of this architecture
  kAvx2,        // AVX2, FMA, F16C
  kAvxVnni,     // and dot products of bytes, 256 bits wide
  kAvx512,      // AVX-512 F, BW, DQ, VL
  kAvx512Vnni,  // and its dot products of bytes
  kAvx512Bf16,  // and those of bfloat16
  kAmx,         // AVX-512 VNNI and the matrix unit: tiles of bytes and of bfloat16
  kNeon,        // AArch64 with dot products of bytes
};

std::string_view ToString(CpuIsa isa);  // baseline, avx2, avx-vnni, avx512, avx512-vnni, ...
std::optional<CpuIsa> ParseCpuIsa(std::string_view name);

// Those that are compiled in and that this machine has, weakest first; never empty. Products of
// bfloat16 are the slower ones on some machines that have them: there they come before VNNI.
const std::vector<CpuIsa>& AvailableIsas();

// "baseline, avx2, ...": what this machine and build can run.
std::string AvailableIsaNames();

}  // namespace adjudge
