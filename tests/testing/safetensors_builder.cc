#include "tests/testing/safetensors_builder.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "tests/testing/gguf_builder.h"

namespace adjudge::testing {

SafetensorsBuilder& SafetensorsBuilder::Tensor(std::string_view name, std::string_view dtype,
                                               std::vector<std::int64_t> shape,
                                               std::string_view bytes) {
  const nlohmann::json entry = {{"dtype", dtype},
                                {"shape", shape},
                                {"data_offsets", {data_.size(), data_.size() + bytes.size()}}};
  if (!entries_.empty()) entries_ += ",";
  entries_ += nlohmann::json(name).dump() + ":" + entry.dump();
  data_ += bytes;
  return *this;
}

SafetensorsBuilder& SafetensorsBuilder::Tensor(std::string_view name,
                                               std::vector<std::int64_t> shape,
                                               const std::vector<float>& values) {
  return Tensor(name, "F32", std::move(shape), EncodeFloats(TensorType::kF32, values));
}

std::string SafetensorsBuilder::Build() const {
  return SafetensorsBytes("{" + entries_ + "}", data_);
}

std::string SafetensorsBytes(std::string_view header_json, std::string_view data) {
  std::string file = LittleEndian<std::uint64_t>(header_json.size());
  file += header_json;
  file += data;
  return file;
}

}  // namespace adjudge::testing
