// GGUF files: metadata, tensor table, config and the values of every tensor that opens.
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "engine/model/dequantize.h"
#include "engine/model/gguf_file.h"
#include "engine/model/model_readers.h"

namespace {

void ReadAll(const adjudge::GgufFile& file) {
  std::vector<float> values;
  for (const adjudge::GgufTensor& tensor : file.tensors()) {
    if (!tensor.type) continue;
    std::int64_t n = 1;
    for (const std::int64_t dim : tensor.dims) n *= dim;
    values.resize(static_cast<std::size_t>(n));
    adjudge::Dequantize(*tensor.type, tensor.data, n, values.data());
  }
  for (const auto& [key, value] : file.metadata()) {
    ADJUDGE_CHECK(file.Find(key) == &value);
    (void)file.Int(key);
    (void)file.Real(key);
    (void)file.Bool(key);
    (void)file.Text(key);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(data, data + size);
  (void)adjudge::GgufFile::Parse(bytes, false);
  const auto file = adjudge::GgufFile::Parse(bytes);
  if (!file) {
    ADJUDGE_CHECK(!file.error().message.empty());
    return 0;
  }
  ReadAll(**file);
  const auto model = adjudge::OpenGgufModel(**file);
  ADJUDGE_CHECK(!model || (*model)->config().n_layers > 0);
  return 0;
}
