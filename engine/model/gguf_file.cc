#include "engine/model/gguf_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/model/dequantize.h"
#include "engine/model/printable_name.h"

static_assert(std::endian::native == std::endian::little, "GGUF files are read in place");

namespace adjudge {
namespace {

using Type = GgufValue::Type;

constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr std::uint64_t kDefaultAlignment = 32;
constexpr int kMaxDims = 4;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;
constexpr std::string_view kAlignmentKey = "general.alignment";

// Bytes of a value of this type; the least an element takes for strings and arrays.
std::size_t MinBytes(Type type) {
  switch (type) {
    case Type::kU8:
    case Type::kI8:
    case Type::kBool:
      return 1;
    case Type::kU16:
    case Type::kI16:
      return 2;
    case Type::kU32:
    case Type::kI32:
    case Type::kF32:
      return 4;
    case Type::kU64:
    case Type::kI64:
    case Type::kF64:
    case Type::kString:
      return 8;
    case Type::kArray:
      return 12;
  }
  return 1;
}

bool IsInteger(Type type) {
  return type != Type::kF32 && type != Type::kF64 && type != Type::kBool && type != Type::kString &&
         type != Type::kArray;
}

template <typename T>
std::int64_t LoadInteger(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<std::int64_t>(value);
}

template <typename T>
double LoadReal(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// REQUIRES: an integer type or bool.
std::int64_t LoadInteger(Type type, const std::byte* at) {
  switch (type) {
    case Type::kU8:
    case Type::kBool:
      return LoadInteger<std::uint8_t>(at);
    case Type::kI8:
      return LoadInteger<std::int8_t>(at);
    case Type::kU16:
      return LoadInteger<std::uint16_t>(at);
    case Type::kI16:
      return LoadInteger<std::int16_t>(at);
    case Type::kU32:
      return LoadInteger<std::uint32_t>(at);
    case Type::kI32:
      return LoadInteger<std::int32_t>(at);
    default:
      return LoadInteger<std::int64_t>(at);
  }
}

template <typename Items, typename Name>
std::vector<std::size_t> IndexByName(const Items& items, Name name) {
  std::vector<std::size_t> index(items.size());
  std::iota(index.begin(), index.end(), std::size_t{0});
  std::sort(index.begin(), index.end(),
            [&](std::size_t a, std::size_t b) { return name(items[a]) < name(items[b]); });
  return index;
}

template <typename Items, typename Name>
const auto* FindByName(const Items& items, const std::vector<std::size_t>& index,
                       std::string_view wanted, Name name) {
  const auto found =
      std::lower_bound(index.begin(), index.end(), wanted,
                       [&](std::size_t i, std::string_view w) { return name(items[i]) < w; });
  const bool hit = found != index.end() && name(items[*found]) == wanted;
  return hit ? &items[*found] : nullptr;
}

std::string_view KeyOf(const std::pair<std::string, GgufValue>& item) { return item.first; }
std::string_view NameOf(const GgufTensor& tensor) { return tensor.name; }

tl::unexpected<Error> WrongType(std::string_view key, std::string_view expected,
                                const GgufValue& value) {
  return Fail(ErrorCode::kMalformed,
              "expected " + std::string(expected) + ", found " + TypeName(value),
              PrintableName(key));
}

}  // namespace

std::string_view ToString(GgufValue::Type type) {
  constexpr std::string_view kNames[] = {"uint8",  "int8",    "uint16", "int16",  "uint32",
                                         "int32",  "float32", "bool",   "string", "array",
                                         "uint64", "int64",   "float64"};
  return kNames[static_cast<std::uint32_t>(type)];
}

std::string TypeName(const GgufValue& value) {
  std::string name(ToString(value.type));
  if (value.type == Type::kArray) name += " of " + std::string(ToString(value.element));
  return name;
}

// Walks the file once from the front; every length is checked against what is left before use.
class GgufParser {
 public:
  GgufParser(std::shared_ptr<const MappedFile> file, const GgufLimits& limits)
      : file_(std::move(file)), limits_(limits), out_(new GgufFile) {
    out_->file_ = file_;
    end_ = std::min<std::uint64_t>(file_->size(), limits.max_metadata_bytes);
  }

  Result<std::shared_ptr<const GgufFile>> Run(bool tensors) {
    ADJUDGE_RETURN_IF_ERROR(ReadHeader());
    ADJUDGE_RETURN_IF_ERROR(ReadMetadata());
    if (tensors) {
      ADJUDGE_RETURN_IF_ERROR(ReadAlignment());
      ADJUDGE_RETURN_IF_ERROR(ReadTensors());
      ADJUDGE_RETURN_IF_ERROR(PlaceTensors());
    }
    return std::shared_ptr<const GgufFile>(std::move(out_));
  }

 private:
  std::uint64_t left() const { return end_ - at_; }
  const std::byte* here() const { return file_->data() + at_; }
  static std::string Place(std::uint64_t offset) { return "byte offset " + std::to_string(offset); }

  // What is wrong when `what` does not fit: the file's end, or the limit on metadata.
  tl::unexpected<Error> TooShort(const std::string& what, const std::string& needs) const {
    if (end_ < file_->size()) {
      return Fail(ErrorCode::kLimit,
                  section_ + ": " + what + " " + needs +
                      ", past max_metadata_bytes = " + std::to_string(limits_.max_metadata_bytes),
                  Place(at_));
    }
    return Fail(ErrorCode::kMalformed,
                section_ + ": " + what + " " + needs + ", but only " + std::to_string(left()) +
                    " are left of the file size " + std::to_string(file_->size()),
                Place(at_));
  }

  template <typename T>
  Result<T> Read(const char* what) {
    if (left() < sizeof(T)) return TooShort(what, "needs " + std::to_string(sizeof(T)) + " bytes");
    T value;
    std::memcpy(&value, here(), sizeof value);
    at_ += sizeof value;
    return value;
  }

  Result<std::string_view> ReadString(const char* what) {
    ADJUDGE_ASSIGN_OR_RETURN(const std::uint64_t size, Read<std::uint64_t>(what));
    if (size > left()) return TooShort(what, "has " + std::to_string(size) + " bytes");
    const std::string_view text(reinterpret_cast<const char*>(here()),
                                static_cast<std::size_t>(size));
    at_ += size;
    return text;
  }

  Status ReadHeader() {
    if (file_->size() == 0) {
      return Fail(ErrorCode::kMalformed, "expected a GGUF file, found a file of size 0");
    }
    section_ = "header";
    ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t magic, Read<std::uint32_t>("the magic number"));
    if (magic != kMagic) {
      return Fail(ErrorCode::kMalformed, "expected a GGUF file, found another magic number",
                  Place(0));
    }
    ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t version, Read<std::uint32_t>("the version"));
    if (version != 2 && version != 3) {
      const bool swapped = (version & 0xffff) == 0 && version != 0;
      return Fail(ErrorCode::kUnsupported,
                  swapped ? "big-endian GGUF files are not read (version field " +
                                std::to_string(version) + ")"
                          : "expected GGUF version 3, found version " + std::to_string(version),
                  Place(4));
    }
    out_->version_ = version;
    ADJUDGE_ASSIGN_OR_RETURN(n_tensors_, Read<std::uint64_t>("the number of tensors"));
    ADJUDGE_ASSIGN_OR_RETURN(n_keys_, Read<std::uint64_t>("the number of metadata keys"));
    if (n_keys_ > limits_.max_keys) {
      return Fail(ErrorCode::kLimit,
                  std::to_string(n_keys_) +
                      " metadata keys, more than max_keys = " + std::to_string(limits_.max_keys),
                  Place(16));
    }
    return {};
  }

  Status ReadMetadata() {
    for (std::uint64_t i = 0; i < n_keys_; ++i) {
      section_ = "metadata entry " + std::to_string(i) + " of " + std::to_string(n_keys_);
      const std::uint64_t start = at_;
      ADJUDGE_ASSIGN_OR_RETURN(const std::string_view key, ReadString("the key"));
      if (key.empty()) {
        return Fail(ErrorCode::kMalformed, "empty metadata key (" + section_ + ")", Place(start));
      }
      section_ = "metadata key " + PrintableName(key);
      GgufValue value;
      ADJUDGE_ASSIGN_OR_RETURN(value.type, ReadType());
      if (value.type == Type::kArray) {
        ADJUDGE_RETURN_IF_ERROR(ReadArray(value));
      } else {
        ADJUDGE_RETURN_IF_ERROR(ReadScalar(value));
      }
      out_->metadata_.emplace_back(std::string(key), std::move(value));
    }
    out_->keys_by_name_ = IndexByName(out_->metadata_, KeyOf);
    for (std::size_t i = 1; i < out_->keys_by_name_.size(); ++i) {
      const std::string& key = out_->metadata_[out_->keys_by_name_[i]].first;
      if (key == out_->metadata_[out_->keys_by_name_[i - 1]].first) {
        return Fail(ErrorCode::kMalformed, "the metadata key occurs twice", PrintableName(key));
      }
    }
    return {};
  }

  Result<Type> ReadType() {
    const std::uint64_t start = at_;
    ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t type, Read<std::uint32_t>("the value type"));
    if (type > static_cast<std::uint32_t>(Type::kF64)) {
      return Fail(ErrorCode::kMalformed,
                  section_ + ": expected a value type from 0 to 12, found " + std::to_string(type),
                  Place(start));
    }
    return static_cast<Type>(type);
  }

  Status CheckBool(std::int64_t value) const {
    if (value == 0 || value == 1) return {};
    return Fail(ErrorCode::kMalformed,
                section_ + ": expected a bool of 0 or 1, found " + std::to_string(value),
                Place(at_));
  }

  Status ReadScalar(GgufValue& value) {
    if (value.type == Type::kString) {
      ADJUDGE_ASSIGN_OR_RETURN(value.text, ReadString("the string"));
      return {};
    }
    const std::size_t size = MinBytes(value.type);
    if (left() < size) return TooShort("the value", "needs " + std::to_string(size) + " bytes");
    if (value.type == Type::kF32) {
      value.real = LoadReal<float>(here());
    } else if (value.type == Type::kF64) {
      value.real = LoadReal<double>(here());
    } else {
      value.integer = LoadInteger(value.type, here());
    }
    if (value.type == Type::kBool) ADJUDGE_RETURN_IF_ERROR(CheckBool(value.integer));
    at_ += size;
    return {};
  }

  Status ReadArray(GgufValue& value) {
    const std::uint64_t start = at_;
    ADJUDGE_ASSIGN_OR_RETURN(value.element, ReadType());
    if (value.element == Type::kArray) {
      return Fail(ErrorCode::kUnsupported, section_ + ": arrays of arrays are not read",
                  Place(start));
    }
    ADJUDGE_ASSIGN_OR_RETURN(const std::uint64_t n, Read<std::uint64_t>("the array length"));
    const std::size_t size = MinBytes(value.element);
    if (n > left() / size) {
      return TooShort(
          "an array of " + std::to_string(n) + " " + std::string(ToString(value.element)),
          "needs at least " + std::to_string(size) + " bytes for each");
    }
    n_elements_ += n;
    if (n_elements_ > limits_.max_array_elements) {
      return Fail(ErrorCode::kLimit,
                  section_ + ": " + std::to_string(n_elements_) +
                      " array elements so far, more than max_array_elements = " +
                      std::to_string(limits_.max_array_elements),
                  Place(start));
    }
    return ReadElements(value, static_cast<std::size_t>(n), size);
  }

  Status ReadElements(GgufValue& value, std::size_t n, std::size_t size) {
    if (value.element == Type::kString) {
      value.texts.reserve(n);
      for (std::size_t i = 0; i < n; ++i) {
        ADJUDGE_ASSIGN_OR_RETURN(const std::string_view text, ReadString("an array's string"));
        value.texts.push_back(text);
      }
      return {};
    }
    const bool real = value.element == Type::kF32 || value.element == Type::kF64;
    real ? value.reals.reserve(n) : value.integers.reserve(n);
    for (std::size_t i = 0; i < n; ++i, at_ += size) {
      if (value.element == Type::kF32) {
        value.reals.push_back(LoadReal<float>(here()));
      } else if (value.element == Type::kF64) {
        value.reals.push_back(LoadReal<double>(here()));
      } else {
        value.integers.push_back(LoadInteger(value.element, here()));
        if (value.element == Type::kBool) {
          ADJUDGE_RETURN_IF_ERROR(CheckBool(value.integers.back()));
        }
      }
    }
    return {};
  }

  Status ReadAlignment() {
    ADJUDGE_ASSIGN_OR_RETURN(const std::optional<std::int64_t> given, out_->Int(kAlignmentKey));
    if (!given) return {};
    if (*given <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(*given)) ||
        static_cast<std::uint64_t>(*given) > limits_.max_alignment) {
      return Fail(ErrorCode::kMalformed,
                  "expected a power of two up to " + std::to_string(limits_.max_alignment) +
                      ", found " + std::to_string(*given),
                  std::string(kAlignmentKey));
    }
    alignment_ = static_cast<std::uint64_t>(*given);
    return {};
  }

  Status ReadTensors() {
    if (n_tensors_ > limits_.max_tensors) {
      return Fail(ErrorCode::kLimit,
                  std::to_string(n_tensors_) +
                      " tensors, more than max_tensors = " + std::to_string(limits_.max_tensors),
                  Place(8));
    }
    for (std::uint64_t i = 0; i < n_tensors_; ++i) {
      section_ = "tensor entry " + std::to_string(i) + " of " + std::to_string(n_tensors_);
      ADJUDGE_RETURN_IF_ERROR(ReadTensor());
    }
    out_->tensors_by_name_ = IndexByName(out_->tensors_, NameOf);
    for (std::size_t i = 1; i < out_->tensors_by_name_.size(); ++i) {
      const std::string& name = out_->tensors_[out_->tensors_by_name_[i]].name;
      if (name == out_->tensors_[out_->tensors_by_name_[i - 1]].name) {
        return Fail(ErrorCode::kMalformed, "the tensor name occurs twice", PrintableName(name));
      }
    }
    return {};
  }

  Status ReadTensor() {
    const std::uint64_t start = at_;
    GgufTensor tensor;
    ADJUDGE_ASSIGN_OR_RETURN(const std::string_view name, ReadString("the tensor name"));
    if (name.empty()) {
      return Fail(ErrorCode::kMalformed, "empty tensor name (" + section_ + ")", Place(start));
    }
    tensor.name = std::string(name);
    section_ = "tensor " + PrintableName(name);
    ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t n_dims, Read<std::uint32_t>("the rank"));
    if (n_dims < 1 || n_dims > kMaxDims) {
      return Fail(ErrorCode::kMalformed,
                  "expected 1 to 4 dimensions, found " + std::to_string(n_dims),
                  PrintableName(name));
    }
    std::int64_t elements = 1;
    for (std::uint32_t i = 0; i < n_dims; ++i) {
      ADJUDGE_ASSIGN_OR_RETURN(const std::uint64_t dim, Read<std::uint64_t>("a dimension"));
      if (dim == 0) {
        return Fail(ErrorCode::kMalformed, "expected positive dimensions, found dimension 0",
                    PrintableName(name));
      }
      if (dim > static_cast<std::uint64_t>(kMaxElements / elements)) {
        return Fail(ErrorCode::kMalformed,
                    "dimension " + std::to_string(dim) + " makes more than 2^48 elements",
                    PrintableName(name));
      }
      tensor.dims.push_back(static_cast<std::int64_t>(dim));
      elements *= tensor.dims.back();
    }
    return ReadTensorType(std::move(tensor), elements);
  }

  Status ReadTensorType(GgufTensor tensor, std::int64_t elements) {
    ADJUDGE_ASSIGN_OR_RETURN(tensor.type_id, Read<std::uint32_t>("the tensor type"));
    ADJUDGE_ASSIGN_OR_RETURN(const std::uint64_t offset, Read<std::uint64_t>("the offset"));
    tensor.type = TensorTypeFromGguf(tensor.type_id);
    if (tensor.type) {
      if (tensor.dims[0] % BlockElements(*tensor.type) != 0) {
        return Fail(ErrorCode::kMalformed,
                    "rows of " + std::to_string(tensor.dims[0]) +
                        " elements are not whole blocks of " +
                        std::to_string(BlockElements(*tensor.type)) + " in " +
                        std::string(ToString(*tensor.type)),
                    PrintableName(tensor.name));
      }
      tensor.bytes = TensorBytes(*tensor.type, elements);
    }
    if (offset % alignment_ != 0) {
      return Fail(ErrorCode::kMalformed,
                  "offset " + std::to_string(offset) + " is no multiple of the alignment " +
                      std::to_string(alignment_),
                  PrintableName(tensor.name));
    }
    offsets_.push_back(offset);
    out_->tensors_.push_back(std::move(tensor));
    return {};
  }

  // Turns offsets into addresses once the start of the data is known.
  Status PlaceTensors() {
    const std::uint64_t size = file_->size();
    const std::uint64_t data_start = (at_ + alignment_ - 1) / alignment_ * alignment_;
    for (std::size_t i = 0; i < out_->tensors_.size(); ++i) {
      GgufTensor& tensor = out_->tensors_[i];
      const auto bytes = static_cast<std::uint64_t>(tensor.bytes);
      const std::uint64_t room = size < data_start ? 0 : size - data_start;
      if (offsets_[i] > room || bytes > room - offsets_[i]) {
        return Fail(ErrorCode::kMalformed,
                    "the tensor's data lies past the file size " + std::to_string(size) + ": " +
                        std::to_string(bytes) + " bytes needed at offset " +
                        std::to_string(offsets_[i]) + " of the data, which begin at byte " +
                        std::to_string(data_start),
                    PrintableName(tensor.name));
      }
      tensor.data = file_->data() + data_start + offsets_[i];
    }
    return CheckOverlap();
  }

  Status CheckOverlap() const {
    std::vector<std::size_t> order(offsets_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // The earlier entry of the table first, so that the later one is blamed.
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return offsets_[a] < offsets_[b]; });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const std::size_t before = order[i - 1];
      const GgufTensor& first = out_->tensors_[before];
      if (offsets_[order[i]] < offsets_[before] + static_cast<std::uint64_t>(first.bytes)) {
        return Fail(ErrorCode::kMalformed,
                    "the tensor's data at offset " + std::to_string(offsets_[order[i]]) +
                        " overlap those of " + PrintableName(first.name) + ", " +
                        std::to_string(first.bytes) + " bytes at offset " +
                        std::to_string(offsets_[before]),
                    PrintableName(out_->tensors_[order[i]].name));
      }
    }
    return {};
  }

  std::shared_ptr<const MappedFile> file_;
  GgufLimits limits_;
  std::shared_ptr<GgufFile> out_;
  std::uint64_t at_ = 0;
  std::uint64_t end_ = 0;  // of what may be read as metadata and table
  std::string section_;    // what is being read, for errors
  std::uint64_t n_tensors_ = 0;
  std::uint64_t n_keys_ = 0;
  std::uint64_t n_elements_ = 0;  // of the arrays so far
  std::uint64_t alignment_ = kDefaultAlignment;
  std::vector<std::uint64_t> offsets_;  // of tensors_, from the start of the data
};

Result<std::shared_ptr<const GgufFile>> GgufFile::FromMapping(
    std::shared_ptr<const MappedFile> file, bool tensors, const GgufLimits& limits) {
  return GgufParser(std::move(file), limits).Run(tensors);
}

Result<std::shared_ptr<const GgufFile>> GgufFile::Open(const std::filesystem::path& path,
                                                       bool tensors, const GgufLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  return FromMapping(std::move(file), tensors, limits);
}

Result<std::shared_ptr<const GgufFile>> GgufFile::Parse(std::string bytes, bool tensors,
                                                        const GgufLimits& limits) {
  return FromMapping(MappedFile::FromBytes(std::move(bytes)), tensors, limits);
}

const GgufValue* GgufFile::Find(std::string_view key) const {
  const auto* item = FindByName(metadata_, keys_by_name_, key, KeyOf);
  return item == nullptr ? nullptr : &item->second;
}

const GgufTensor* GgufFile::FindTensor(std::string_view name) const {
  return FindByName(tensors_, tensors_by_name_, name, NameOf);
}

Result<std::optional<std::int64_t>> GgufFile::Int(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!IsInteger(value->type)) return WrongType(key, "an integer", *value);
  if (value->type == Type::kU64 && value->integer < 0) {
    return Fail(ErrorCode::kMalformed,
                "expected an integer below 2^63, found " +
                    std::to_string(static_cast<std::uint64_t>(value->integer)),
                PrintableName(key));
  }
  return value->integer;
}

Result<std::optional<double>> GgufFile::Real(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != Type::kF32 && value->type != Type::kF64) {
    return WrongType(key, "a float", *value);
  }
  return value->real;
}

Result<std::optional<bool>> GgufFile::Bool(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != Type::kBool) return WrongType(key, "a bool", *value);
  return value->integer != 0;
}

Result<std::optional<std::string_view>> GgufFile::Text(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != Type::kString) return WrongType(key, "a string", *value);
  return value->text;
}

Result<const GgufValue*> GgufFile::Array(std::string_view key, GgufValue::Type element) const {
  const GgufValue* value = Find(key);
  if (value != nullptr && (value->type != Type::kArray || value->element != element)) {
    return WrongType(key, "array of " + std::string(ToString(element)), *value);
  }
  return value;
}

std::int64_t GgufFile::file_bytes() const { return static_cast<std::int64_t>(file_->size()); }

void GgufFile::ReleasePages() const { file_->ReleasePages(); }

}  // namespace adjudge
