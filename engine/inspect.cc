#include "engine/inspect.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string_view>

#include "engine/model/dequantize.h"
#include "engine/model/gguf_file.h"
#include "engine/model/model_file.h"

namespace adjudge {
namespace fs = std::filesystem;

namespace {

bool IsGguf(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;  // opening a pipe would wait
  std::array<char, 4> magic = {};
  std::ifstream(path, std::ios::binary).read(magic.data(), magic.size());
  return std::string_view(magic.data(), magic.size()) == "GGUF";
}

std::string RealText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// A scalar as text; an array as its length.
std::string ValueText(const GgufValue& value) {
  switch (value.type) {
    case GgufValue::Type::kString:
      return std::string(value.text);
    case GgufValue::Type::kArray:
      return "[" + std::to_string(value.array_size()) + "]";
    case GgufValue::Type::kF32:
    case GgufValue::Type::kF64:
      return RealText(value.real);
    case GgufValue::Type::kBool:
      return value.integer != 0 ? "true" : "false";
    default:
      return std::to_string(value.integer);
  }
}

std::string TextOf(const GgufFile& file, std::string_view key) {
  const GgufValue* value = file.Find(key);
  return value != nullptr && value->type == GgufValue::Type::kString ? std::string(value->text)
                                                                     : std::string();
}

std::vector<InspectedTensor> TensorsOf(const GgufFile& file) {
  std::vector<InspectedTensor> tensors;
  for (const GgufTensor& tensor : file.tensors()) {
    tensors.push_back({.name = tensor.name,
                       .type = tensor.type ? std::string(ToString(*tensor.type))
                                           : "type " + std::to_string(tensor.type_id),
                       .shape = {tensor.dims.rbegin(), tensor.dims.rend()},
                       .bytes = tensor.bytes});
  }
  return tensors;
}

Result<InspectedModel> InspectGguf(const fs::path& path) {
  InspectedModel inspected;
  Result<std::shared_ptr<const GgufFile>> file = GgufFile::Open(path);
  if (file) {
    inspected.tensors = TensorsOf(**file);
  } else {
    inspected.tensors = tl::unexpected<Error>(file.error());
    file = GgufFile::Open(path, /*tensors=*/false);
  }
  if (!file) return tl::unexpected<Error>(std::move(file).error());
  inspected.format = "gguf v3";
  inspected.file_bytes = (*file)->file_bytes();
  inspected.name = TextOf(**file, "general.name");
  inspected.architecture = TextOf(**file, "general.architecture");
  for (const auto& [key, value] : (*file)->metadata()) {
    inspected.metadata.emplace_back(key, ValueText(value));
  }
  return inspected;
}

std::vector<InspectedTensor> TensorsOf(const ModelFile& file) {
  std::vector<InspectedTensor> tensors;
  for (const TensorInfo& tensor : file.tensors()) {
    tensors.push_back({.name = tensor.name,
                       .type = std::string(ToString(tensor.type)),
                       .shape = tensor.shape,
                       .bytes = tensor.bytes});
  }
  return tensors;
}

}  // namespace

Result<InspectedModel> InspectModel(const fs::path& path) {
  InspectedModel inspected;
  const bool gguf = IsGguf(path);
  if (gguf) {
    ADJUDGE_ASSIGN_OR_RETURN(inspected, InspectGguf(path));
  }
  Result<std::unique_ptr<ModelFile>> file = ModelFile::Open(path);
  if (!file) {
    if (!gguf) return tl::unexpected<Error>(std::move(file).error());
    inspected.config = tl::unexpected<Error>(std::move(file).error());
    return inspected;
  }
  inspected.config = (*file)->config();
  if (gguf) return inspected;
  inspected.format = std::string((*file)->format());
  inspected.file_bytes = (*file)->file_bytes();
  inspected.name = inspected.config->name;
  inspected.architecture = inspected.config->architecture;
  inspected.tensors = TensorsOf(**file);
  return inspected;
}

std::int64_t CacheBytesPerToken(const ModelConfig& config) {
  return std::int64_t{2} * config.n_layers * config.kv_dim() *
         static_cast<std::int64_t>(sizeof(float));
}

}  // namespace adjudge
