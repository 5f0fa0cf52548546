#include "engine/tensor_file.h"

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "engine/backend.h"
#include "engine/base/check.h"
#include "engine/model/dequantize.h"
#include "engine/model/printable_name.h"
#include "engine/model/safetensors_file.h"

namespace adjudge {
namespace {

std::optional<TensorType> FloatType(std::string_view dtype) {
  if (dtype == "F32") return TensorType::kF32;
  if (dtype == "F16") return TensorType::kF16;
  if (dtype == "BF16") return TensorType::kBF16;
  return std::nullopt;
}

Result<FloatTensor> ReadFloats(const std::string& name, const SafetensorsTensor& tensor) {
  const std::optional<TensorType> type = FloatType(tensor.dtype);
  if (!type) {
    return Fail(ErrorCode::kUnsupported,
                "expected the dtype F32, F16 or BF16, found " + tensor.dtype, PrintableName(name));
  }
  FloatTensor floats{.shape = tensor.shape};
  std::int64_t n = 1;
  for (const std::int64_t dim : tensor.shape) n *= dim;
  floats.values.resize(static_cast<std::size_t>(n));
  Dequantize(*type, tensor.data, n, floats.values.data());
  for (std::size_t i = 0; i < floats.values.size(); ++i) {
    if (std::isfinite(floats.values[i])) continue;
    return Fail(ErrorCode::kNotFinite, "value " + std::to_string(i) + " is no finite number",
                PrintableName(name));
  }
  return floats;
}

Result<TensorFile> FromMapping(const MappedFile& file, const TensorFileLimits& limits) {
  if (file.size() > limits.max_bytes) {
    return Fail(ErrorCode::kLimit, std::to_string(file.size()) + " bytes, more than max_bytes = " +
                                       std::to_string(limits.max_bytes));
  }
  const SafetensorsLimits format{.max_tensors = limits.max_tensors};
  TensorFile out;
  ADJUDGE_ASSIGN_OR_RETURN(const auto tensors, ReadSafetensors(file, format));
  ADJUDGE_ASSIGN_OR_RETURN(out.metadata, ReadSafetensorsMetadata(file, format));
  for (const auto& [name, tensor] : tensors) {
    ADJUDGE_ASSIGN_OR_RETURN(out.tensors[name], ReadFloats(name, tensor));
  }
  return out;
}

}  // namespace

Result<TensorFile> TensorFile::Read(const std::filesystem::path& path,
                                    const TensorFileLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  return FromMapping(*file, limits);
}

Result<TensorFile> TensorFile::Parse(std::string bytes, const TensorFileLimits& limits) {
  return FromMapping(*MappedFile::FromBytes(std::move(bytes)), limits);
}

std::string TensorFile::Bytes() const {
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    std::int64_t n = 1;
    for (const std::int64_t dim : tensor.shape) n *= dim;
    ADJUDGE_CHECK(n == static_cast<std::int64_t>(tensor.values.size()));
    const std::size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(tensor.values.data()),
                tensor.values.size() * sizeof(float));
    header[name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  // The data begin at a multiple of eight bytes, as in the format's own library.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  return bytes + text + data;
}

}  // namespace adjudge
