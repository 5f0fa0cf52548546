// Makes GGUF files in memory, good ones and (through the raw knobs) bad ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backend.h"
#include "engine/model/gguf_file.h"

namespace adjudge::testing {

// Little-endian bytes of a number.
template <typename T>
std::string LittleEndian(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// Bytes of floats in a plain type (F32, F16 (to nearest even) or BF16).
std::string EncodeFloats(TensorType type, const std::vector<float>& values);
std::uint16_t FloatToHalf(float value);

//   GgufBuilder builder;
//   builder.Text("general.architecture", "llama").U32("llama.block_count", 2);
//   builder.Tensor("token_embd.weight", {n_vocab, dim}, TensorType::kF32, bytes);
//   TempFolder folder;
//   auto path = folder.Write("tiny.gguf", builder.Build());
class GgufBuilder {
 public:
  GgufBuilder& U32(std::string_view key, std::uint32_t value);
  GgufBuilder& I32(std::string_view key, std::int32_t value);
  GgufBuilder& U64(std::string_view key, std::uint64_t value);
  GgufBuilder& F32(std::string_view key, float value);
  GgufBuilder& Bool(std::string_view key, bool value);
  GgufBuilder& Text(std::string_view key, std::string_view value);
  GgufBuilder& Texts(std::string_view key, const std::vector<std::string>& values);
  GgufBuilder& Floats(std::string_view key, const std::vector<float>& values);
  GgufBuilder& Ints(std::string_view key, const std::vector<std::int32_t>& values);
  GgufBuilder& Bools(std::string_view key, const std::vector<bool>& values);
  // A value of any type from its bytes (an array's begin with element type and length).
  GgufBuilder& Raw(std::string_view key, std::uint32_t type, std::string_view bytes);
  // Takes the key out again, so that a test can leave out or replace one.
  GgufBuilder& Remove(std::string_view key);

  // `shape` is outermost first: {rows, cols} for a matrix, {n} for a vector.
  GgufBuilder& Tensor(std::string_view name, std::vector<std::int64_t> shape, TensorType type,
                      std::string bytes);
  // The same from floats in F32.
  GgufBuilder& Tensor(std::string_view name, std::vector<std::int64_t> shape,
                      const std::vector<float>& values);
  GgufBuilder& RemoveTensor(std::string_view name);

  // Knobs for bad files.
  GgufBuilder& Version(std::uint32_t version);
  GgufBuilder& Magic(std::string_view magic);
  GgufBuilder& TensorCount(std::uint64_t count);
  GgufBuilder& KeyCount(std::uint64_t count);
  GgufBuilder& Alignment(std::uint32_t alignment);  // writes the key as well
  GgufBuilder& OffsetOf(std::string_view name, std::uint64_t offset);
  GgufBuilder& TypeOf(std::string_view name, std::uint32_t gguf_type);

  std::string Build() const;

 private:
  struct Entry {
    std::string name;
    std::vector<std::int64_t> shape;
    std::uint32_t type = 0;
    std::string bytes;
    std::optional<std::uint64_t> offset;
  };
  Entry& Find(std::string_view name);

  std::vector<std::pair<std::string, std::string>> values_;  // key, type and value bytes
  std::vector<Entry> tensors_;
  std::string magic_ = "GGUF";
  std::uint32_t version_ = 3;
  std::uint32_t alignment_ = 32;
  std::optional<std::uint64_t> tensor_count_;
  std::optional<std::uint64_t> key_count_;
};

}  // namespace adjudge::testing
