#include "heads/readout/kept_state.h"

#include <algorithm>

namespace adjudge {
namespace {

bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The first bytes, at most n, that are whole characters.
std::string_view Front(std::string_view text, std::size_t n) {
  n = std::min(n, text.size());
  while (n > 0 && n < text.size() && Continues(text[n])) --n;
  return text.substr(0, n);
}

std::string_view Back(std::string_view text, std::size_t n) {
  std::size_t at = text.size() - std::min(n, text.size());
  while (at > 0 && at < text.size() && Continues(text[at])) ++at;
  return text.substr(at);
}

KeptState Cut(std::string_view state, Truncate truncate, std::size_t n) {
  KeptState kept;
  kept.truncation = {.cut = std::string(ToString(truncate)), .state_bytes = state.size()};
  if (truncate == Truncate::kStateTail) {
    kept.text = Front(state, n);
  } else if (truncate == Truncate::kStateHead) {
    kept.text = Back(state, n);
  } else {
    const std::string_view front = Front(state, (n + 1) / 2);
    const std::string_view back = Back(state.substr(front.size()), n / 2);
    kept.truncation.kept_bytes = front.size() + back.size();
    kept.text = std::string(front) + std::string(kMiddleMark) + std::string(back);
    return kept;
  }
  kept.truncation.kept_bytes = kept.text.size();
  return kept;
}

}  // namespace

std::optional<KeptState> CutState(std::string_view state, Truncate truncate, std::size_t max_bytes,
                                  const std::function<bool(const std::string&)>& fits) {
  std::size_t good = 0;
  std::size_t bad = std::min(state.size(), max_bytes) + 1;
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    (fits(Cut(state, truncate, middle).text) ? good : bad) = middle;
  }
  KeptState kept = Cut(state, truncate, good);
  if (kept.truncation.kept_bytes == 0) return std::nullopt;
  return kept;
}

}  // namespace adjudge
