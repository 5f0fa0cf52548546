#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/model/config_reader.h"
#include "engine/model/model_readers.h"
#include "engine/model/model_tensors.h"
#include "engine/model/printable_name.h"
#include "engine/model/safetensors_file.h"
#include "engine/model/weight_table.h"

namespace adjudge {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kConfig = "config.json";

// The same error with the file's name before its place.
tl::unexpected<Error> InFile(const std::string& name, Error error) {
  error.place = error.place.empty() ? name : name + ": " + error.place;
  return tl::unexpected<Error>(std::move(error));
}

// A small text file, whole.
Result<std::string> ReadText(const fs::path& path, std::size_t max_bytes, const char* limit) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  if (file->size() > max_bytes) {
    return Fail(ErrorCode::kLimit,
                std::to_string(file->size()) + " bytes, more than " + limit + " = " +
                    std::to_string(max_bytes),
                path.filename().string());
  }
  return std::string(reinterpret_cast<const char*>(file->data()), file->size());
}

// All files of a model and the tensors in them.
struct Weights {
  std::vector<std::shared_ptr<const MappedFile>> files;
  std::map<std::string, SafetensorsTensor> tensors;
};

Result<Weights> ReadSingle(const fs::path& folder, const SafetensorsLimits& limits) {
  Weights weights;
  ADJUDGE_ASSIGN_OR_RETURN(auto file, MappedFile::Open(folder / kSingle));
  auto tensors = ReadSafetensors(*file, limits);
  if (!tensors) return InFile(kSingle, std::move(tensors).error());
  weights.files.push_back(std::move(file));
  weights.tensors = std::move(*tensors);
  return weights;
}

// Adds one shard: what the index places in it, no more and no less.
Status AddShard(const fs::path& folder, const std::string& name,
                const std::map<std::string, std::string>& index, const SafetensorsLimits& limits,
                Weights& weights) {
  auto file = MappedFile::Open(folder / name);
  if (!file && file.error().code == ErrorCode::kNotFound) {
    return Fail(ErrorCode::kNotFound,
                std::string("the folder has no such file, which ") + kIndex + " names",
                PrintableName(name));
  }
  if (!file) return tl::unexpected<Error>(std::move(file).error());
  auto tensors = ReadSafetensors(**file, limits);
  if (!tensors) return InFile(PrintableName(name), std::move(tensors).error());
  for (const auto& [tensor_name, tensor] : *tensors) {
    const auto placed = index.find(tensor_name);
    if (placed == index.end() || placed->second != name) {
      return Fail(ErrorCode::kMalformed,
                  std::string(kIndex) + " does not place this tensor in " + PrintableName(name),
                  PrintableName(tensor_name));
    }
  }
  weights.tensors.merge(*tensors);
  weights.files.push_back(std::move(*file));
  return {};
}

Result<Weights> ReadShards(const fs::path& folder, const SafetensorsLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::string text,
                           ReadText(folder / kIndex, limits.max_index_bytes, "max_index_bytes"));
  auto index = ReadSafetensorsIndex(text, limits);
  if (!index) return InFile(kIndex, std::move(index).error());
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : *index) shards.insert(shard);
  Weights weights;
  for (const std::string& shard : shards) {
    ADJUDGE_RETURN_IF_ERROR(AddShard(folder, shard, *index, limits, weights));
  }
  for (const auto& [tensor, shard] : *index) {
    if (weights.tensors.contains(tensor)) continue;
    return Fail(ErrorCode::kNotFound,
                PrintableName(shard) + " has no such tensor, but " + kIndex + " places it there",
                PrintableName(tensor));
  }
  return weights;
}

Result<Weights> ReadWeights(const fs::path& folder, const SafetensorsLimits& limits) {
  std::error_code ignored;
  if (fs::exists(folder / kSingle, ignored)) return ReadSingle(folder, limits);
  if (fs::exists(folder / kIndex, ignored)) return ReadShards(folder, limits);
  return Fail(ErrorCode::kNotFound,
              std::string("expected ") + kSingle + " or " + kIndex +
                  " in the folder (a GGUF model is given by its file)",
              folder.string());
}

std::optional<TensorType> WeightType(std::string_view dtype) {
  if (dtype == "F32") return TensorType::kF32;
  if (dtype == "F16") return TensorType::kF16;
  if (dtype == "BF16") return TensorType::kBF16;
  return std::nullopt;
}

// GGUF's names by those of the checkpoint.
std::map<std::string, std::string> GgufNames(const ModelConfig& config) {
  std::map<std::string, std::string> names = {{"lm_head.weight", "output.weight"}};
  for (const TensorShape& tensor : ModelTensors(config)) {
    names.emplace(HuggingFaceName(config, tensor.name), tensor.name);
  }
  return names;
}

}  // namespace

Result<std::unique_ptr<ModelFile>> OpenSafetensorsModel(const fs::path& folder,
                                                        const SafetensorsLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(Weights weights, ReadWeights(folder, limits));
  ADJUDGE_ASSIGN_OR_RETURN(const std::string text,
                           ReadText(folder / kConfig, limits.max_config_bytes, "max_config_bytes"));
  auto config = ReadJsonConfig(text);
  if (!config) return InFile(kConfig, std::move(config).error());
  if (config->name.empty())
    config->name = fs::absolute(folder).lexically_normal().filename().string();
  const std::map<std::string, std::string> names = GgufNames(*config);
  auto table =
      std::make_unique<WeightTable>("safetensors", std::move(*config), std::move(weights.files));
  for (auto& [file_name, tensor] : weights.tensors) {
    const std::optional<TensorType> type = WeightType(tensor.dtype);
    if (!type) {
      return Fail(ErrorCode::kUnsupported,
                  "adjudge reads weights in F32, F16 and BF16, found " + tensor.dtype,
                  PrintableName(file_name));
    }
    const auto name = names.find(file_name);
    table->Add({.name = name == names.end() ? file_name : name->second,
                .file_name = file_name,
                .type = *type,
                .shape = std::move(tensor.shape),
                .bytes = tensor.bytes},
               tensor.data);
  }
  ADJUDGE_RETURN_IF_ERROR(table->Check());
  return table;
}

}  // namespace adjudge
