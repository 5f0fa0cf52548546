// SafetensorsFile: the header of one safetensors file, memory-mapped and checked.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/mapped_file.h"
#include "engine/model/model_readers.h"

namespace adjudge {

struct SafetensorsTensor {
  std::string dtype;                // as the file spells it: "BF16"
  std::vector<std::int64_t> shape;  // outermost first; all positive
  const std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

// The tensors by name; data lie in `file` and live as long as it. The ranges must cover the data
// exactly, without overlap or holes, as the format asks. Errors: kMalformed, kUnsupported (a dtype)
// or kLimit, with the byte offset or the tensor's name.
Result<std::map<std::string, SafetensorsTensor>> ReadSafetensors(
    const MappedFile& file, const SafetensorsLimits& limits = {});

// The text under "__metadata__" (an object of strings), empty where there is none.
Result<std::map<std::string, std::string>> ReadSafetensorsMetadata(
    const MappedFile& file, const SafetensorsLimits& limits = {});

// The file of each tensor, from the text of a model.safetensors.index.json. File names stay inside
// the model's folder.
Result<std::map<std::string, std::string>> ReadSafetensorsIndex(
    std::string_view text, const SafetensorsLimits& limits = {});

}  // namespace adjudge
