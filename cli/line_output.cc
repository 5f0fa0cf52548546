#include "cli/line_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "cli/printable.h"

namespace adjudge::cli {
namespace {

tl::unexpected<Failure> CannotOpen(const std::string& name) {
  return tl::unexpected<Failure>(Failure(kFailed, "--out " + name + ": " + std::strerror(errno)));
}

}  // namespace

Outcome<std::unique_ptr<LineOutput>> LineOutput::Open(const std::string& path_or_dash, Mode mode) {
  const bool resume = mode == Mode::kResume;
  if (path_or_dash == "-") {
    if (resume) return UsageFailure("--resume needs a file as --out, not standard output");
    return std::unique_ptr<LineOutput>(new LineOutput(STDOUT_FILENO, false));
  }
  const std::string name = Printable(path_or_dash);
  const int flags = (resume ? O_RDWR : O_WRONLY) | O_CREAT | O_CLOEXEC;
  const int fd = open(path_or_dash.c_str(), flags, 0666);
  if (fd < 0) return CannotOpen(name);
  struct stat status = {};
  const bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  std::unique_ptr<LineOutput> output(new LineOutput(fd, is_file));
  if (!is_file) {
    if (resume) return UsageFailure("--resume: --out " + name + " is not a regular file");
    return output;
  }
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return tl::unexpected<Failure>(
        Failure(kFailed, "--out " + name + ": another run is writing it"));
  }
  if (resume) {
    CLI_RETURN_IF_ERROR(output->FindLines(name));
  } else if (status.st_size > 0) {
    return UsageFailure("--out " + name + ": the file is not empty; --resume goes on with it");
  }
  return output;
}

Outcome<bool> LineOutput::FindLines(const std::string& name) {
  std::vector<char> buffer(std::size_t{1} << 16);
  std::int64_t at = 0;
  std::int64_t last_begin = 0;  // of the last whole line
  while (true) {
    const ssize_t n = pread(fd_, buffer.data(), buffer.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return CannotOpen(name);
    if (n == 0) break;
    for (ssize_t i = 0; i < n; ++i) {
      if (buffer[static_cast<std::size_t>(i)] != '\n') continue;
      last_begin = size_;
      size_ = at + i + 1;
      ++lines_there_;
    }
    at += n;
  }
  if (ftruncate(fd_, size_) != 0 || lseek(fd_, size_, SEEK_SET) < 0) return CannotOpen(name);
  last_line_.resize(static_cast<std::size_t>(std::max<std::int64_t>(size_ - last_begin - 1, 0)));
  for (std::size_t got = 0; got < last_line_.size();) {
    const ssize_t n = pread(fd_, last_line_.data() + got, last_line_.size() - got,
                            last_begin + static_cast<std::int64_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return CannotOpen(name);
    got += static_cast<std::size_t>(n);
  }
  return true;
}

LineOutput::~LineOutput() {
  if (fd_ != STDOUT_FILENO) close(fd_);
}

bool LineOutput::Write(std::string_view lines) {
  if (error_ != 0) return false;
  const std::size_t n = lines.size();
  while (!lines.empty()) {
    const ssize_t written = write(fd_, lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      error_ = errno;
      // Half a line would only be cut by the next run; failing to cut it now harms nothing.
      if (is_file_ && ftruncate(fd_, size_) != 0) return false;
      return false;
    }
    lines.remove_prefix(static_cast<std::size_t>(written));
  }
  size_ += static_cast<std::int64_t>(n);
  return true;
}

}  // namespace adjudge::cli
