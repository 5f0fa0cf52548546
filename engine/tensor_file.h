// TensorFile: named float tensors and text beside them, as a safetensors file in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace adjudge {

struct FloatTensor {
  std::vector<std::int64_t> shape;  // outermost first; all positive
  std::vector<float> values;        // row-major
};

struct TensorFileLimits {
  std::size_t max_bytes = std::size_t{1} << 30;
  std::size_t max_tensors = 1 << 12;
};

// A value.
struct TensorFile {
  std::map<std::string, std::string> metadata;  // the format's "__metadata__"
  std::map<std::string, FloatTensor> tensors;

  // F32, F16 and BF16 are read as floats. Errors: kMalformed, kUnsupported (a dtype), kLimit, and
  // kNotFinite for a value that is no finite number, with the tensor's name and the value's index.
  static Result<TensorFile> Read(const std::filesystem::path& path,
                                 const TensorFileLimits& limits = {});
  static Result<TensorFile> Parse(std::string bytes, const TensorFileLimits& limits = {});
  // The file's bytes, tensors in F32. REQUIRES: values of the shapes' sizes.
  std::string Bytes() const;
};

}  // namespace adjudge
