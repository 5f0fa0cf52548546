// Counter-based random numbers: the n-th number of a seed is a function of the two alone.
#pragma once

#include <array>
#include <cstdint>

namespace adjudge {

// Philox 4x32 with ten rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011).
std::array<std::uint32_t, 4> Philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

// The n-th number of the seed's sequence: uniform in [0, 1), a multiple of 2^-53. The same on every
// machine and in every process.
double UniformDraw(std::uint64_t seed, std::uint64_t n);

}  // namespace adjudge
