// KeyHash: hashes the number lists by which states are interned.
#pragma once

#include <cstdint>
#include <vector>

namespace adjudge {

struct KeyHash {
  std::size_t operator()(const std::vector<std::uint32_t>& key) const {
    std::uint64_t hash = 0x9E3779B97F4A7C15 ^ key.size();
    for (const std::uint32_t value : key) {
      hash = (hash ^ value) * 0xFF51AFD7ED558CCD;
      hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
  }
};

}  // namespace adjudge
