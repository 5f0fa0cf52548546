// StateCache: hidden states of texts on disk, so that they are computed once.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace adjudge {

// A file of records that is only ever appended to: after a kill or a full disk its whole records
// are still good, and opening it cuts off the rest. Locked against other processes while open.
//   "adjudge states 1\n" key "\n" width "\n", then records:
//   32 bytes fingerprint of the text, width floats, 32 bytes fingerprint of these.
class StateCache {
 public:
  // Errors: kIo; kInvalidArgument where another process has the file; kMalformed where the file is
  // something else.
  static Result<StateCache> Open(const std::filesystem::path& path, const std::string& key,
                                 int width);

  // [width], or null. Valid until the next Append.
  const float* Find(std::string_view text_fingerprint) const;
  // Errors: kIo with the system's words and how many records are kept; a record cut short is taken
  // back.
  Status Append(std::span<const std::string> fingerprints, std::span<const float> values);
  std::size_t size() const { return index_.size(); }

  ~StateCache();
  StateCache(StateCache&& other) noexcept;
  StateCache& operator=(StateCache&&) = delete;

 private:
  StateCache(std::filesystem::path path, int file, int width);
  Status Load(const std::string& header);
  std::size_t record_bytes() const;

  std::filesystem::path path_;
  int file_ = -1;
  std::size_t width_ = 0;
  std::map<std::string, std::size_t, std::less<>> index_;  // fingerprint -> row
  std::vector<float> values_;                              // [rows, width]
  std::size_t end_ = 0;                                    // bytes of header and whole records
};

}  // namespace adjudge
