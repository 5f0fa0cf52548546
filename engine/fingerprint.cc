#include "engine/fingerprint.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <system_error>
#include <vector>

#include "engine/model/mapped_file.h"

namespace adjudge {
namespace fs = std::filesystem;
namespace {

std::string Hex(const XXH128_hash_t& hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const std::uint64_t half : {hash.high64, hash.low64}) {
    for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[(half >> shift) & 15U];
  }
  return out;
}

Result<std::string> FileFingerprint(const fs::path& path) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  std::string fingerprint = Hex(XXH3_128bits(file->data(), file->size()));
  file->ReleasePages();
  return fingerprint;
}

bool IsPartOfModel(const fs::path& path) {
  constexpr std::array<std::string_view, 3> kEndings = {".safetensors", ".json", ".model"};
  const std::string ending = path.extension().string();
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

}  // namespace

std::string Fingerprint(std::string_view bytes) {
  return Hex(XXH3_128bits(bytes.data(), bytes.size()));
}

Result<std::string> ModelFingerprint(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return FileFingerprint(path);
  std::vector<fs::path> files;
  for (auto it = fs::directory_iterator(path, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    if (IsPartOfModel(it->path())) files.push_back(it->path());
  }
  if (error) return Fail(ErrorCode::kIo, error.message(), path.string());
  std::sort(files.begin(), files.end());
  std::string all;
  for (const fs::path& file : files) {
    ADJUDGE_ASSIGN_OR_RETURN(const std::string fingerprint, FileFingerprint(file));
    all += file.filename().string() + '\0' + fingerprint + '\n';
  }
  return Fingerprint(all);
}

}  // namespace adjudge
