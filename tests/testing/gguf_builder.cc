#include "tests/testing/gguf_builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "engine/base/check.h"
#include "engine/model/dequantize.h"

namespace adjudge::testing {
namespace {

using Type = GgufValue::Type;

std::uint32_t Id(Type type) { return static_cast<std::uint32_t>(type); }

std::string WithSize(std::string_view text) {
  return LittleEndian<std::uint64_t>(text.size()) + std::string(text);
}

template <typename T>
std::string ArrayOf(Type element, const std::vector<T>& values) {
  std::string bytes = LittleEndian(Id(element)) + LittleEndian<std::uint64_t>(values.size());
  for (const T value : values) bytes += LittleEndian<T>(value);
  return bytes;
}

void PadTo(std::string& bytes, std::size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

}  // namespace

std::uint16_t FloatToHalf(float value) {
  const auto sign =
      static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(value) >> 16) & 0x8000);
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520.0) return sign | 0x7c00;
  if (magnitude == 0) return sign;
  // In units of the spacing of halves there; nearbyint rounds to nearest even.
  const int exponent = std::max(std::ilogb(magnitude), -14);
  const auto units =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // A carry out of the fraction runs into the exponent, as it should.
  const std::uint32_t biased = static_cast<std::uint32_t>(exponent + 14) << 10;
  return static_cast<std::uint16_t>(sign | (biased + units));
}

std::string EncodeFloats(TensorType type, const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    switch (type) {
      case TensorType::kF32:
        bytes += LittleEndian(value);
        break;
      case TensorType::kF16:
        bytes += LittleEndian(FloatToHalf(value));
        break;
      case TensorType::kBF16:
        bytes += LittleEndian(FloatToBFloat16(value));
        break;
      default:
        ADJUDGE_CHECK_MSG(false, "EncodeFloats takes plain types only");
    }
  }
  return bytes;
}

GgufBuilder& GgufBuilder::Raw(std::string_view key, std::uint32_t type, std::string_view bytes) {
  values_.emplace_back(std::string(key), LittleEndian(type) + std::string(bytes));
  return *this;
}

GgufBuilder& GgufBuilder::U32(std::string_view key, std::uint32_t value) {
  return Raw(key, Id(Type::kU32), LittleEndian(value));
}

GgufBuilder& GgufBuilder::I32(std::string_view key, std::int32_t value) {
  return Raw(key, Id(Type::kI32), LittleEndian(value));
}

GgufBuilder& GgufBuilder::U64(std::string_view key, std::uint64_t value) {
  return Raw(key, Id(Type::kU64), LittleEndian(value));
}

GgufBuilder& GgufBuilder::F32(std::string_view key, float value) {
  return Raw(key, Id(Type::kF32), LittleEndian(value));
}

GgufBuilder& GgufBuilder::Bool(std::string_view key, bool value) {
  return Raw(key, Id(Type::kBool), LittleEndian<std::uint8_t>(value ? 1 : 0));
}

GgufBuilder& GgufBuilder::Text(std::string_view key, std::string_view value) {
  return Raw(key, Id(Type::kString), WithSize(value));
}

GgufBuilder& GgufBuilder::Texts(std::string_view key, const std::vector<std::string>& values) {
  std::string bytes = LittleEndian(Id(Type::kString)) + LittleEndian<std::uint64_t>(values.size());
  for (const std::string& value : values) bytes += WithSize(value);
  return Raw(key, Id(Type::kArray), bytes);
}

GgufBuilder& GgufBuilder::Floats(std::string_view key, const std::vector<float>& values) {
  return Raw(key, Id(Type::kArray), ArrayOf(Type::kF32, values));
}

GgufBuilder& GgufBuilder::Ints(std::string_view key, const std::vector<std::int32_t>& values) {
  return Raw(key, Id(Type::kArray), ArrayOf(Type::kI32, values));
}

GgufBuilder& GgufBuilder::Bools(std::string_view key, const std::vector<bool>& values) {
  const std::vector<std::uint8_t> bytes(values.begin(), values.end());
  return Raw(key, Id(Type::kArray), ArrayOf(Type::kBool, bytes));
}

GgufBuilder& GgufBuilder::Remove(std::string_view key) {
  std::erase_if(values_, [&](const auto& item) { return item.first == key; });
  return *this;
}

GgufBuilder& GgufBuilder::Tensor(std::string_view name, std::vector<std::int64_t> shape,
                                 TensorType type, std::string bytes) {
  tensors_.push_back(
      {std::string(name), std::move(shape), GgufTypeId(type), std::move(bytes), std::nullopt});
  return *this;
}

GgufBuilder& GgufBuilder::Tensor(std::string_view name, std::vector<std::int64_t> shape,
                                 const std::vector<float>& values) {
  return Tensor(name, std::move(shape), TensorType::kF32, EncodeFloats(TensorType::kF32, values));
}

GgufBuilder& GgufBuilder::RemoveTensor(std::string_view name) {
  std::erase_if(tensors_, [&](const Entry& entry) { return entry.name == name; });
  return *this;
}

GgufBuilder& GgufBuilder::Version(std::uint32_t version) {
  version_ = version;
  return *this;
}

GgufBuilder& GgufBuilder::Magic(std::string_view magic) {
  magic_ = magic;
  return *this;
}

GgufBuilder& GgufBuilder::TensorCount(std::uint64_t count) {
  tensor_count_ = count;
  return *this;
}

GgufBuilder& GgufBuilder::KeyCount(std::uint64_t count) {
  key_count_ = count;
  return *this;
}

GgufBuilder& GgufBuilder::Alignment(std::uint32_t alignment) {
  alignment_ = alignment;
  return U32("general.alignment", alignment);
}

GgufBuilder::Entry& GgufBuilder::Find(std::string_view name) {
  for (Entry& entry : tensors_) {
    if (entry.name == name) return entry;
  }
  ADJUDGE_CHECK_MSG(false, "the test names a tensor that it did not add");
  return tensors_.front();
}

GgufBuilder& GgufBuilder::OffsetOf(std::string_view name, std::uint64_t offset) {
  Find(name).offset = offset;
  return *this;
}

GgufBuilder& GgufBuilder::TypeOf(std::string_view name, std::uint32_t gguf_type) {
  Find(name).type = gguf_type;
  return *this;
}

std::string GgufBuilder::Build() const {
  std::string file = magic_ + LittleEndian(version_) +
                     LittleEndian<std::uint64_t>(tensor_count_.value_or(tensors_.size())) +
                     LittleEndian<std::uint64_t>(key_count_.value_or(values_.size()));
  for (const auto& [key, bytes] : values_) file += WithSize(key) + bytes;
  // A bad alignment is written as it is, but the data is laid out by the default.
  const std::size_t alignment = alignment_ == 0 || alignment_ > 4096 ? 32 : alignment_;
  std::string data;
  for (const Entry& entry : tensors_) {
    file += WithSize(entry.name) + LittleEndian(static_cast<std::uint32_t>(entry.shape.size()));
    for (std::size_t i = entry.shape.size(); i-- > 0;) file += LittleEndian(entry.shape[i]);
    file +=
        LittleEndian(entry.type) + LittleEndian<std::uint64_t>(entry.offset.value_or(data.size()));
    data += entry.bytes;
    PadTo(data, alignment);
  }
  PadTo(file, alignment);
  return file + data;
}

}  // namespace adjudge::testing
