// Folds: which texts are held out together.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace adjudge {

// [text] from 0 to n_folds - 1. Texts of one first label are dealt out evenly, in an order that
// follows from the seed and each text's fingerprint, so the order of the texts does not matter;
// equal texts share a fold.
std::vector<int> DealFolds(std::span<const std::string> fingerprints,
                           std::span<const std::vector<int>> labels, int n_folds,
                           std::uint64_t seed);

}  // namespace adjudge
