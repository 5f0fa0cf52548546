#include "engine/model/model_file.h"

#include <cstring>
#include <utility>

#include "engine/model/gguf_file.h"
#include "engine/model/model_readers.h"

namespace adjudge {

Result<std::unique_ptr<ModelFile>> ModelFile::Open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return OpenSafetensorsModel(path);
  if (path.extension() == ".safetensors") {
    return Fail(ErrorCode::kInvalidArgument,
                "expected the folder that holds config.json and the safetensors files",
                path.string());
  }
  ADJUDGE_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const bool gguf = file->size() >= 4 && std::memcmp(file->data(), "GGUF", 4) == 0;
  if (!gguf && path.extension() == ".bin") {
    return OpenLlama2cModel(std::move(file), path.stem().string());
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::shared_ptr<const GgufFile> parsed,
                           GgufFile::FromMapping(std::move(file)));
  return OpenGgufModel(*parsed);
}

}  // namespace adjudge
