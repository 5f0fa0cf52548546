// Makes safetensors files in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace adjudge::testing {

class SafetensorsBuilder {
 public:
  // `shape` is outermost first; `dtype` as the format spells it.
  SafetensorsBuilder& Tensor(std::string_view name, std::string_view dtype,
                             std::vector<std::int64_t> shape, std::string_view bytes);
  // The same from floats in F32.
  SafetensorsBuilder& Tensor(std::string_view name, std::vector<std::int64_t> shape,
                             const std::vector<float>& values);
  std::string Build() const;

 private:
  std::string entries_;  // of the header's JSON object
  std::string data_;
};

// A file with any header, good or bad.
std::string SafetensorsBytes(std::string_view header_json, std::string_view data);

}  // namespace adjudge::testing
