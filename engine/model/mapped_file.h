// MappedFile: the bytes of a file, read-only, without reading them all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/base/result.h"

namespace adjudge {

// Immutable. The bytes live as long as the object. A file that another process cuts short while it
// is mapped ends this process with SIGBUS, as for every mapped file.
class MappedFile {
 public:
  // Only a regular file will do (not a folder, pipe or device). Errors: kNotFound, kIo, kMalformed
  // with the path as place.
  static Result<std::shared_ptr<const MappedFile>> Open(const std::filesystem::path& path);
  // The same over bytes in memory, for tests and fuzzing.
  static std::shared_ptr<const MappedFile> FromBytes(std::string bytes);

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Tells the operating system that the pages are not needed for now; they come back when touched.
  void ReleasePages() const;

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

 private:
  MappedFile() = default;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  void* mapping_ = nullptr;  // null for FromBytes and for an empty file
  std::string owned_;
};

}  // namespace adjudge
