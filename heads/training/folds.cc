#include "heads/training/folds.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/fingerprint.h"

namespace adjudge {

std::vector<int> DealFolds(std::span<const std::string> fingerprints,
                           std::span<const std::vector<int>> labels, int n_folds,
                           std::uint64_t seed) {
  std::vector<std::tuple<int, std::string, std::size_t>> order;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const int label = labels[i].empty() ? -1 : labels[i][0];
    order.emplace_back(label, Fingerprint(std::to_string(seed) + fingerprints[i]), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<int> folds(labels.size());
  std::map<std::string, int> of_text;
  int next = 0;
  for (const auto& [label, key, i] : order) {
    const auto [found, is_new] = of_text.emplace(key, next % n_folds);
    if (is_new) ++next;
    folds[i] = found->second;
  }
  return folds;
}

}  // namespace adjudge
