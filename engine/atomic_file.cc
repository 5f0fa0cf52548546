#include "engine/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace adjudge {
namespace {

tl::unexpected<Error> SystemError(int error, const std::filesystem::path& path) {
  return Fail(ErrorCode::kIo, std::generic_category().message(error), path.string());
}

// 0, or errno.
int WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return fsync(file) == 0 ? 0 : errno;
}

}  // namespace

Status WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes) {
  const std::string beside = path.string() + ".part." + std::to_string(getpid());
  const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return SystemError(errno, path);
  int error = WriteAll(file, bytes);
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(beside.c_str());
  return SystemError(error, path);
}

}  // namespace adjudge
