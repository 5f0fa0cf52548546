#include "cli/line_input.h"

#include <unistd.h>

#include <cerrno>

namespace adjudge::cli {

std::optional<std::string> LineInput::Next() {
  while (true) {
    const std::size_t newline = pending_.find('\n', searched_);
    if (newline != std::string::npos || ended_ || pending_.size() >= kMaxLineBytes) {
      if (newline == std::string::npos && pending_.empty()) return std::nullopt;
      std::string line = pending_.substr(0, newline);
      pending_.erase(0, newline == std::string::npos ? pending_.size() : newline + 1);
      searched_ = 0;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
    searched_ = pending_.size();
    char buffer[1 << 14];
    const ssize_t n = read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0) {
      if (errno != EINTR) error_ = errno;
      return std::nullopt;
    }
    if (n == 0) {
      ended_ = true;
    } else {
      pending_.append(buffer, static_cast<std::size_t>(n));
    }
  }
}

}  // namespace adjudge::cli
