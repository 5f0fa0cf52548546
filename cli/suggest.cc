#include "cli/suggest.h"

#include <algorithm>
#include <numeric>

namespace adjudge::cli {
namespace {

constexpr std::size_t kMaxLength = 64;

// Levenshtein distance over bytes.
std::size_t Edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Suggestion(std::string_view given, const std::vector<std::string>& known) {
  if (given.size() > kMaxLength) return {};
  const std::string* best = nullptr;
  std::size_t fewest = std::max<std::size_t>(1, given.size() / 3) + 1;
  for (const std::string& name : known) {
    const std::size_t edits = Edits(given, name);
    if (edits < fewest) {
      fewest = edits;
      best = &name;
    }
  }
  return best == nullptr ? std::string() : ", did you mean \"" + *best + "\"?";
}

}  // namespace adjudge::cli
