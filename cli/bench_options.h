// bench --options: many options scored on one state, beside what they are measured by.
#pragma once

#include <cstdint>

#include "cli/interrupt.h"
#include "cli/model_options.h"
#include "cli/outcome.h"

namespace adjudge::cli {

struct OptionsBench {
  int options = 77;
  int state_tokens = 100;
  int repeats = 5;
  std::uint64_t seed = 1;
  bool json = false;
};

// Measures by turns, on fresh random tokens: all options as one token trie in one pass; one plain
// pass over as many tokens; and each option in a cold pass of its own. Prints both counts, the
// medians, and the medians of each round's ratios. Gives the exit code.
Outcome<int> RunOptionsBench(const LoadedModel& loaded, const OptionsBench& bench,
                             const Interrupt& interrupt);

}  // namespace adjudge::cli
