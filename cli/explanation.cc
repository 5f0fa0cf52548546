#include "cli/explanation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/printable.h"

namespace adjudge::cli {
namespace {

// Of the 256 colours: three greens and three reds, faint to strong.
constexpr int kGreens[] = {194, 157, 120};
constexpr int kReds[] = {224, 217, 210};

std::string Coloured(const std::string& text, double share) {
  const int strength = static_cast<int>(std::abs(share) * 3);
  if (strength < 1) return text;
  const int at = std::min(strength, 3) - 1;
  const int colour = share > 0 ? kGreens[at] : kReds[at];
  return "\x1b[30;48;5;" + std::to_string(colour) + "m" + text + "\x1b[0m";
}

}  // namespace

std::string ExplanationLines(std::string_view state, const Explanation& explanation, bool colours) {
  double largest = 0;
  for (const ExplainedPart& part : explanation.parts) {
    largest = std::max(largest, std::abs(part.importance));
  }
  std::string lines = "  rests on (probability lost without it):\n";
  for (const ExplainedPart& part : explanation.parts) {
    char number[32];
    std::snprintf(number, sizeof number, "    %+.4f  ", part.importance);
    std::string_view text = state.substr(part.begin, part.end - part.begin);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
    const std::string shown = Printable(text);
    lines += number;
    lines += colours && largest > 0 ? Coloured(shown, part.importance / largest) : shown;
    lines += '\n';
  }
  return lines;
}

}  // namespace adjudge::cli
