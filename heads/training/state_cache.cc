#include "heads/training/state_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "engine/fingerprint.h"

namespace adjudge {
namespace {

constexpr std::size_t kFingerprintBytes = 32;

tl::unexpected<Error> SystemError(int error, const std::filesystem::path& path) {
  return Fail(ErrorCode::kIo, std::generic_category().message(error), path.string());
}

// Reads up to n bytes at `offset`; how many there were, or -1.
ssize_t ReadAt(int file, char* to, std::size_t n, std::size_t offset) {
  std::size_t done = 0;
  while (done < n) {
    const ssize_t got = pread(file, to + done, n - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

// 0, or errno.
int WriteAt(int file, std::string_view bytes, std::size_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
    offset += static_cast<std::size_t>(n);
  }
  return 0;
}

}  // namespace

StateCache::StateCache(std::filesystem::path path, int file, int width)
    : path_(std::move(path)), file_(file), width_(static_cast<std::size_t>(width)) {}

StateCache::StateCache(StateCache&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      width_(other.width_),
      index_(std::move(other.index_)),
      values_(std::move(other.values_)),
      end_(other.end_) {}

StateCache::~StateCache() {
  if (file_ >= 0) close(file_);
}

std::size_t StateCache::record_bytes() const {
  return 2 * kFingerprintBytes + width_ * sizeof(float);
}

Result<StateCache> StateCache::Open(const std::filesystem::path& path, const std::string& key,
                                    int width) {
  std::error_code code;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), code);
  if (code) return SystemError(code.value(), path.parent_path());
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return SystemError(errno, path);
  StateCache cache(path, file, width);
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    return Fail(ErrorCode::kInvalidArgument, "another process is writing these states",
                path.string());
  }
  ADJUDGE_RETURN_IF_ERROR(
      cache.Load("adjudge states 1\n" + key + "\n" + std::to_string(width) + "\n"));
  return cache;
}

Status StateCache::Load(const std::string& header) {
  std::string found(header.size(), '\0');
  const ssize_t got = ReadAt(file_, found.data(), found.size(), 0);
  if (got < 0) return SystemError(errno, path_);
  found.resize(static_cast<std::size_t>(got));
  if (found.size() < header.size() && header.starts_with(found)) {
    // New, or killed before its header was whole.
    if (const int error = WriteAt(file_, header, 0)) return SystemError(error, path_);
  } else if (found != header) {
    return Fail(ErrorCode::kMalformed, "expected a file of hidden states, found something else",
                path_.string());
  }
  end_ = header.size();
  std::string record(record_bytes(), '\0');
  while (true) {
    const ssize_t n = ReadAt(file_, record.data(), record.size(), end_);
    if (n < 0) return SystemError(errno, path_);
    if (n < static_cast<ssize_t>(record.size())) break;
    const std::string_view all(record);
    const std::string_view body = all.substr(0, record.size() - kFingerprintBytes);
    if (Fingerprint(body) != all.substr(body.size())) break;
    index_.emplace(std::string(body.substr(0, kFingerprintBytes)), values_.size() / width_);
    values_.resize(values_.size() + width_);
    std::memcpy(values_.data() + values_.size() - width_, body.data() + kFingerprintBytes,
                width_ * sizeof(float));
    end_ += record.size();
  }
  if (ftruncate(file_, static_cast<off_t>(end_)) != 0) return SystemError(errno, path_);
  return {};
}

const float* StateCache::Find(std::string_view text_fingerprint) const {
  const auto found = index_.find(text_fingerprint);
  return found == index_.end() ? nullptr : values_.data() + found->second * width_;
}

Status StateCache::Append(std::span<const std::string> fingerprints,
                          std::span<const float> values) {
  std::string bytes;
  bytes.reserve(fingerprints.size() * record_bytes());
  for (std::size_t i = 0; i < fingerprints.size(); ++i) {
    std::string body = fingerprints[i];
    body.append(reinterpret_cast<const char*>(values.data() + i * width_), width_ * sizeof(float));
    bytes += body + Fingerprint(body);
  }
  if (const int error = WriteAt(file_, bytes, end_)) {
    // What is whole would be kept by the next Open anyway; nothing half-written stays.
    [[maybe_unused]] const int cut = ftruncate(file_, static_cast<off_t>(end_));
    return Fail(ErrorCode::kIo,
                std::generic_category().message(error) + "; the states of " +
                    std::to_string(size()) + " texts are kept there",
                path_.string());
  }
  end_ += bytes.size();
  for (std::size_t i = 0; i < fingerprints.size(); ++i) {
    index_.emplace(fingerprints[i], values_.size() / width_);
    values_.insert(values_.end(), values.begin() + static_cast<std::ptrdiff_t>(i * width_),
                   values.begin() + static_cast<std::ptrdiff_t>((i + 1) * width_));
  }
  return {};
}

}  // namespace adjudge
