// "Did you mean": the nearest of the known names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace adjudge::cli {

// ", did you mean \"x\"?" for the known name with the fewest edits, or nothing when none is near.
std::string Suggestion(std::string_view given, const std::vector<std::string>& known);

}  // namespace adjudge::cli
