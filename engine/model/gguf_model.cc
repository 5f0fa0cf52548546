#include <utility>

#include "engine/model/config_reader.h"
#include "engine/model/dequantize.h"
#include "engine/model/model_readers.h"
#include "engine/model/printable_name.h"
#include "engine/model/weight_table.h"

namespace adjudge {

Result<std::unique_ptr<ModelFile>> OpenGgufModel(const GgufFile& file) {
  ADJUDGE_ASSIGN_OR_RETURN(ModelConfig config, ReadGgufConfig(file));
  auto table =
      std::make_unique<WeightTable>(file.version() == 2 ? "gguf v2" : "gguf v3", std::move(config),
                                    std::vector<std::shared_ptr<const MappedFile>>{file.file()});
  // A decision head's own tensors are no part of the transformer (engine/decision_tensors.h).
  const bool decides = file.Find(table->config().architecture + ".decision.type") != nullptr;
  for (const GgufTensor& tensor : file.tensors()) {
    if (decides && tensor.name.starts_with("cls.output.")) continue;
    if (!tensor.type) {
      return Fail(ErrorCode::kUnsupported,
                  "adjudge does not read tensor type " + GgufTypeName(tensor.type_id),
                  PrintableName(tensor.name));
    }
    table->Add({.name = tensor.name,
                .file_name = tensor.name,
                .type = *tensor.type,
                .shape = std::vector<std::int64_t>(tensor.dims.rbegin(), tensor.dims.rend()),
                .bytes = tensor.bytes},
               tensor.data);
  }
  ADJUDGE_RETURN_IF_ERROR(table->Check());
  return table;
}

}  // namespace adjudge
