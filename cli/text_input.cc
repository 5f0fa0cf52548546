#include "cli/text_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace adjudge::cli {
namespace {

tl::unexpected<Failure> Failed(const std::string& name, const std::string& why) {
  return tl::unexpected<Failure>(Failure(kFailed, name + ": " + why));
}

Outcome<std::string> ReadAll(int fd, const std::string& name, std::size_t max_bytes) {
  std::string bytes;
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0) return Failed(name, std::string("cannot read: ") + std::strerror(errno));
    if (n == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(n));
    if (bytes.size() > max_bytes) {
      return Failed(name, "larger than the limit of " + std::to_string(max_bytes) + " bytes");
    }
  }
}

}  // namespace

Outcome<std::string> ReadText(const std::string& text_or_dash, std::size_t max_bytes) {
  if (text_or_dash != "-") return text_or_dash;
  return ReadAll(STDIN_FILENO, "standard input", max_bytes);
}

Outcome<std::string> ReadFileOrInput(const std::string& path_or_dash, std::size_t max_bytes) {
  if (path_or_dash == "-") return ReadAll(STDIN_FILENO, "standard input", max_bytes);
  const int fd = open(path_or_dash.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Failed(path_or_dash, std::strerror(errno));
  Outcome<std::string> bytes = ReadAll(fd, path_or_dash, max_bytes);
  close(fd);
  return bytes;
}

}  // namespace adjudge::cli
