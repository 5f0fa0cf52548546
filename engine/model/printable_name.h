// Names out of files, made safe to print in an error.
#pragma once

#include <string>
#include <string_view>

namespace adjudge {

// `name` with control and non-ASCII bytes as \xNN, and cut after 200 bytes: a bad file must not
// write megabytes or escape sequences to a terminal.
std::string PrintableName(std::string_view name);

}  // namespace adjudge
