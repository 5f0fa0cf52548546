#include "engine/decision_tensors.h"

#include <cmath>
#include <fstream>
#include <string_view>
#include <utility>

#include "engine/model/dequantize.h"
#include "engine/model/gguf_file.h"

namespace adjudge {
namespace {

Result<FloatTensor> ReadTensor(const GgufFile& file, std::string_view name) {
  FloatTensor out;
  const GgufTensor* tensor = file.FindTensor(name);
  if (tensor == nullptr) return out;
  if (!tensor->type) {
    return Fail(ErrorCode::kUnsupported,
                "adjudge does not read tensor type " + GgufTypeName(tensor->type_id),
                std::string(name));
  }
  out.shape.assign(tensor->dims.rbegin(), tensor->dims.rend());
  std::int64_t n = 1;
  for (const std::int64_t dim : out.shape) n *= dim;
  out.values.resize(static_cast<std::size_t>(n));
  Dequantize(*tensor->type, tensor->data, n, out.values.data());
  for (const float value : out.values) {
    if (!std::isfinite(value)) {
      return Fail(ErrorCode::kNotFinite, "a value is no finite number", std::string(name));
    }
  }
  return out;
}

bool IsGguf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic(4, '\0');
  return file.read(magic.data(), 4) && magic == "GGUF";
}

}  // namespace

Result<std::optional<DecisionTensors>> ReadDecisionTensors(const std::filesystem::path& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code) || !IsGguf(path)) {
    return std::optional<DecisionTensors>();
  }
  ADJUDGE_ASSIGN_OR_RETURN(const auto file, GgufFile::Open(path));
  ADJUDGE_ASSIGN_OR_RETURN(const auto architecture, file->Text("general.architecture"));
  if (!architecture) return std::optional<DecisionTensors>();
  DecisionTensors found{.architecture = std::string(*architecture)};
  const std::string prefix = found.architecture + ".decision.";
  ADJUDGE_ASSIGN_OR_RETURN(const auto type, file->Text(prefix + "type"));
  if (!type) return std::optional<DecisionTensors>();
  found.type = *type;
  ADJUDGE_ASSIGN_OR_RETURN(const auto width,
                           file->Int(found.architecture + ".embedding_length_out"));
  if (width) found.embedding_length_out = static_cast<int>(*width);
  const std::string temperature = prefix + "temperature.";
  for (const auto& [key, value] : file->metadata()) {
    if (!key.starts_with(temperature)) continue;
    ADJUDGE_ASSIGN_OR_RETURN(const auto number, file->Real(key));
    found.temperatures[key.substr(temperature.size())] = number.value_or(1);
  }
  ADJUDGE_ASSIGN_OR_RETURN(found.weight, ReadTensor(*file, "cls.output.weight"));
  ADJUDGE_ASSIGN_OR_RETURN(found.bias, ReadTensor(*file, "cls.output.bias"));
  return std::optional<DecisionTensors>(std::move(found));
}

}  // namespace adjudge
