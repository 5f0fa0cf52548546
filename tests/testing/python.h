// Python as an independent witness in tests.
#pragma once

#include <optional>
#include <string>

namespace adjudge::testing {

// The interpreter for tests ($ADJUDGE_PYTHON, else python3) when it can import all of `modules`
// (comma-separated, for example "numpy, jinja2"); nullopt otherwise, and the test should skip.
std::optional<std::string> PythonWith(const std::string& modules);

// Runs a shell command; its standard output, or nullopt when it did not exit with 0.
std::optional<std::string> RunCommand(const std::string& command);

}  // namespace adjudge::testing
