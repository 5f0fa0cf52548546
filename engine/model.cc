#include "engine/model.h"

#include <utility>

#include "engine/model/create_backend.h"
#include "engine/model/model_file.h"
#include "engine/model/transformer.h"

namespace adjudge {

Result<std::shared_ptr<const Model>> Model::Load(const std::filesystem::path& path,
                                                 const ModelOptions& options) {
  ADJUDGE_ASSIGN_OR_RETURN(
      std::unique_ptr<Backend> backend,
      CreateBackend(options.backend, options.threads, options.precision, options.cpu_isa));
  ADJUDGE_ASSIGN_OR_RETURN(const std::unique_ptr<ModelFile> file, ModelFile::Open(path));
  return BuildTransformer(*file, std::move(backend));
}

}  // namespace adjudge
