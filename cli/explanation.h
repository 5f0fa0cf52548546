// An explanation as lines of text.
#pragma once

#include <string>
#include <string_view>

#include "heads/explain.h"

namespace adjudge::cli {

// A line a part with its importance; coloured, green for and red against the option, the more the
// darker the ground.
std::string ExplanationLines(std::string_view state, const Explanation& explanation, bool colours);

}  // namespace adjudge::cli
