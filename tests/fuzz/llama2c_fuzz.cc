// llama2.c files: the header against the size of the file.
#include <cstdint>
#include <string>

#include "engine/base/check.h"
#include "engine/model/model_readers.h"
#include "engine/model/model_tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = adjudge::MappedFile::FromBytes(std::string(data, data + size));
  const auto model = adjudge::OpenLlama2cModel(file, "fuzz");
  if (!model) return 0;
  for (const auto& tensor : adjudge::ModelTensors((*model)->config())) {
    if (tensor.shape.size() == 2) {
      const auto view = (*model)->Matrix(tensor.name, tensor.shape[0], tensor.shape[1]);
      ADJUDGE_CHECK(view.has_value());
      const std::int64_t bytes = view->rows * view->cols * std::int64_t{sizeof(float)};
      ADJUDGE_CHECK(view->data >= file->data());
      ADJUDGE_CHECK(view->data + bytes <= file->data() + file->size());
    } else {
      ADJUDGE_CHECK((*model)->Vector(tensor.name, tensor.shape[0]).has_value());
    }
  }
  return 0;
}
