#include "cli/line_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/printable.h"

namespace adjudge::cli {

Outcome<std::unique_ptr<LineInput>> LineInput::Open(const std::string& path_or_dash,
                                                    std::size_t max_line_bytes) {
  int fd = STDIN_FILENO;
  if (path_or_dash != "-") fd = open(path_or_dash.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return tl::unexpected<Failure>(
        Failure(kFailed, Printable(path_or_dash) + ": " + std::strerror(errno)));
  }
  return std::unique_ptr<LineInput>(new LineInput(fd, max_line_bytes));
}

LineInput::LineInput(int fd, std::size_t max_line_bytes)
    : fd_(fd), max_line_bytes_(max_line_bytes) {
  struct stat status = {};
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) file_bytes_ = status.st_size;
}

LineInput::~LineInput() {
  if (fd_ != STDIN_FILENO) close(fd_);
}

bool LineInput::Read(const Interrupt& interrupt) {
  if (!interrupt.WaitToRead(fd_)) return false;
  char buffer[1 << 16];
  const ssize_t n = read(fd_, buffer, sizeof buffer);
  if (n < 0 && errno != EINTR) error_ = errno;
  if (n == 0) ended_ = true;
  if (n > 0) pending_.append(buffer, static_cast<std::size_t>(n));
  return n > 0;
}

LineInput::Line LineInput::Take(std::size_t end, bool too_long) {
  Line line = {pending_.substr(0, end), too_long};
  const std::size_t taken = std::min(pending_.size(), too_long ? end : end + 1);
  pending_.erase(0, taken);
  taken_ += static_cast<std::int64_t>(taken);
  searched_ = 0;
  passing_over_ = too_long;
  if (!too_long && !line.text.empty() && line.text.back() == '\r') line.text.pop_back();
  return line;
}

std::optional<LineInput::Line> LineInput::Next(const Interrupt& interrupt) {
  while (true) {
    const std::size_t newline = pending_.find('\n', searched_);
    const bool found = newline != std::string::npos;
    if (passing_over_) {
      const std::size_t n = found ? newline + 1 : pending_.size();
      pending_.erase(0, n);
      taken_ += static_cast<std::int64_t>(n);
      passing_over_ = !found && !ended_;
      searched_ = 0;
      if (found) continue;
    } else if ((found ? newline : pending_.size()) > max_line_bytes_) {
      return Take(max_line_bytes_, /*too_long=*/true);
    } else if (found) {
      return Take(newline, /*too_long=*/false);
    } else if (ended_ && !pending_.empty()) {
      return Take(pending_.size(), /*too_long=*/false);
    }
    searched_ = pending_.size();
    if (ended_ || !Read(interrupt)) {
      if (ended_ && !pending_.empty()) continue;
      return std::nullopt;
    }
  }
}

}  // namespace adjudge::cli
