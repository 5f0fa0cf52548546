// The first byte chooses: a safetensors file, a config.json, or an index.
#include <cstdint>
#include <string>

#include "engine/base/check.h"
#include "engine/model/config_reader.h"
#include "engine/model/mapped_file.h"
#include "engine/model/model_tensors.h"
#include "engine/model/safetensors_file.h"

namespace {

void ReadFile(std::string bytes) {
  const auto file = adjudge::MappedFile::FromBytes(std::move(bytes));
  const auto tensors = adjudge::ReadSafetensors(*file);
  if (!tensors) return;
  unsigned sum = 0;
  for (const auto& [name, tensor] : *tensors) {
    for (std::int64_t i = 0; i < tensor.bytes; ++i) sum += static_cast<unsigned>(tensor.data[i]);
  }
  [[maybe_unused]] static volatile unsigned sink;
  sink = sum;
}

void ReadConfig(const std::string& text) {
  const auto config = adjudge::ReadJsonConfig(text);
  if (!config) return;
  ADJUDGE_CHECK(config->layer_window.size() == static_cast<std::size_t>(config->n_layers));
  ADJUDGE_CHECK(config->n_heads % config->n_kv_heads == 0);
  for (const auto& tensor : adjudge::ModelTensors(*config)) {
    ADJUDGE_CHECK(!adjudge::HuggingFaceName(*config, tensor.name).empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string rest(data + 1, data + size);
  switch (data[0]) {
    case 'f':
      ReadFile(std::move(rest));
      break;
    case 'c':
      ReadConfig(rest);
      break;
    case 'i':
      (void)adjudge::ReadSafetensorsIndex(rest);
      break;
    default:
      break;
  }
  return 0;
}
