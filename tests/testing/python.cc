#include "tests/testing/python.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace adjudge::testing {

std::optional<std::string> RunCommand(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string output;
  std::array<char, 4096> chunk;
  while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
    output.append(chunk.data(), n);
  }
  if (pclose(pipe) != 0) return std::nullopt;
  return output;
}

std::optional<std::string> PythonWith(const std::string& modules) {
  const char* named = std::getenv("ADJUDGE_PYTHON");
  const std::string python = named != nullptr && *named != '\0' ? named : "python3";
  if (!RunCommand(python + " -c 'import " + modules + "' 2>/dev/null")) return std::nullopt;
  return python;
}

}  // namespace adjudge::testing
