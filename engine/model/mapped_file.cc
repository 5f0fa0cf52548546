#include "engine/model/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace adjudge {
namespace {

// Closes a file descriptor at the end of a scope.
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

tl::unexpected<Error> SystemError(const char* what, const std::filesystem::path& path) {
  const int code = errno;
  return Fail(code == ENOENT || code == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo,
              std::string("cannot ") + what + " the file: " + std::strerror(code), path.string());
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe without a writer must not hang.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return SystemError("open", path);
  struct stat status = {};
  if (fstat(file.fd, &status) != 0) return SystemError("look at", path);
  if (!S_ISREG(status.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument,
                S_ISDIR(status.st_mode) ? "expected a file, found a folder"
                                        : "expected a regular file, found a pipe or device",
                path.string());
  }
  std::shared_ptr<MappedFile> mapped(new MappedFile);
  mapped->size_ = static_cast<std::size_t>(status.st_size);
  if (mapped->size_ > 0) {
    void* start = mmap(nullptr, mapped->size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (start == MAP_FAILED) return SystemError("map", path);
    mapped->mapping_ = start;
    mapped->data_ = static_cast<const std::byte*>(start);
  }
  return mapped;
}

std::shared_ptr<const MappedFile> MappedFile::FromBytes(std::string bytes) {
  std::shared_ptr<MappedFile> mapped(new MappedFile);
  mapped->owned_ = std::move(bytes);
  mapped->data_ = reinterpret_cast<const std::byte*>(mapped->owned_.data());
  mapped->size_ = mapped->owned_.size();
  return mapped;
}

void MappedFile::ReleasePages() const {
  if (mapping_ != nullptr) madvise(mapping_, size_, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (mapping_ != nullptr) munmap(mapping_, size_);
}

}  // namespace adjudge
