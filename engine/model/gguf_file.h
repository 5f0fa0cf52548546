// GgufFile: the metadata and tensor table of a GGUF v3 file, memory-mapped and checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backend.h"
#include "engine/base/result.h"
#include "engine/model/mapped_file.h"

namespace adjudge {

// One metadata value, by the GGUF value types. Arrays are one-dimensional and of one element type.
struct GgufValue {
  enum class Type : std::uint32_t {
    kU8,
    kI8,
    kU16,
    kI16,
    kU32,
    kI32,
    kF32,
    kBool,
    kString,
    kArray,
    kU64,
    kI64,
    kF64,
  };
  Type type = Type::kU8;
  Type element = Type::kU8;  // of an array
  // The scalar, by type: all integers and bool in `integer`, floats in `real`, strings in `text`.
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;  // into the mapped file
  // Array elements, by element type (the others stay empty).
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string_view> texts;

  std::size_t array_size() const { return integers.size() + reals.size() + texts.size(); }
};

// The type's name as the format spells it: "uint8", "string", "array", ...
std::string_view ToString(GgufValue::Type type);
// The same of a value: "uint8", "array of uint8".
std::string TypeName(const GgufValue& value);

struct GgufTensor {
  std::string name;
  std::vector<std::int64_t> dims;  // innermost first, as stored; all positive
  std::uint32_t type_id = 0;       // GGUF's number
  std::optional<TensorType> type;  // absent when adjudge does not read the type
  const std::byte* data = nullptr;
  std::int64_t bytes = 0;  // 0 when adjudge does not read the type
};

struct GgufLimits {
  std::uint64_t max_metadata_bytes = std::uint64_t{1} << 28;
  std::uint64_t max_keys = 1 << 16;
  std::uint64_t max_tensors = 1 << 16;
  std::uint64_t max_array_elements = 1 << 24;  // of all arrays together
  std::uint64_t max_alignment = 1 << 20;
};

// Immutable; views live as long as the file. Versions 2 and 3 (they differ in nothing that is read
// here), little-endian. Errors: kMalformed, kUnsupported or kLimit with place "byte offset N" or
// the name of the key or tensor.
class GgufFile {
 public:
  // Without `tensors` the tensor table is not looked at, so a file that holds only a vocabulary, or
  // tensor types that adjudge does not know, opens.
  static Result<std::shared_ptr<const GgufFile>> Open(const std::filesystem::path& path,
                                                      bool tensors = true,
                                                      const GgufLimits& limits = {});

  static Result<std::shared_ptr<const GgufFile>> FromMapping(std::shared_ptr<const MappedFile> file,
                                                             bool tensors = true,
                                                             const GgufLimits& limits = {});
  // The same over bytes in memory.
  static Result<std::shared_ptr<const GgufFile>> Parse(std::string bytes, bool tensors = true,
                                                       const GgufLimits& limits = {});

  const GgufValue* Find(std::string_view key) const;
  // The typed value of a key: nullopt when absent, an error naming the key when of another type or
  // out of range. Any integer type will do for Int; f32 or f64 for Real.
  Result<std::optional<std::int64_t>> Int(std::string_view key) const;
  Result<std::optional<double>> Real(std::string_view key) const;
  Result<std::optional<bool>> Bool(std::string_view key) const;
  Result<std::optional<std::string_view>> Text(std::string_view key) const;
  // The array at a key, nullptr when absent, an error naming the key and the type found when it is
  // no array of `element`.
  Result<const GgufValue*> Array(std::string_view key, GgufValue::Type element) const;

  std::uint32_t version() const { return version_; }
  const std::vector<std::pair<std::string, GgufValue>>& metadata() const { return metadata_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  const GgufTensor* FindTensor(std::string_view name) const;
  const std::shared_ptr<const MappedFile>& file() const { return file_; }
  std::int64_t file_bytes() const;
  // Tells the operating system that the mapped pages are not needed any more.
  void ReleasePages() const;

  ~GgufFile() = default;
  GgufFile(const GgufFile&) = delete;
  GgufFile& operator=(const GgufFile&) = delete;

 private:
  GgufFile() = default;
  friend class GgufParser;

  std::shared_ptr<const MappedFile> file_;
  std::uint32_t version_ = 0;
  std::vector<std::pair<std::string, GgufValue>> metadata_;  // in file order
  std::vector<std::size_t> keys_by_name_;                    // indices of metadata_, by key
  std::vector<GgufTensor> tensors_;                          // in file order
  std::vector<std::size_t> tensors_by_name_;                 // indices of tensors_, by name
};

}  // namespace adjudge
