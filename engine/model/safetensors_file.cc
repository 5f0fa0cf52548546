#include "engine/model/safetensors_file.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "engine/model/printable_name.h"
#include "engine/model/strict_json.h"

namespace adjudge {
namespace {

using nlohmann::json;

constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;

struct Dtype {
  std::string_view name;
  int bytes;
};
constexpr Dtype kDtypes[] = {
    {"F64", 8}, {"F32", 4}, {"F16", 2},  {"BF16", 2},    {"I64", 8},
    {"I32", 4}, {"I16", 2}, {"I8", 1},   {"U64", 8},     {"U32", 4},
    {"U16", 2}, {"U8", 1},  {"BOOL", 1}, {"F8_E5M2", 1}, {"F8_E4M3", 1},
};

std::optional<int> DtypeBytes(std::string_view name) {
  for (const Dtype& dtype : kDtypes) {
    if (dtype.name == name) return dtype.bytes;
  }
  return std::nullopt;
}

// A range of the data and whose it is.
struct Range {
  std::uint64_t begin;
  std::uint64_t end;
  const std::string* name;
};

tl::unexpected<Error> Malformed(const std::string& name, std::string message) {
  return Fail(ErrorCode::kMalformed, std::move(message), PrintableName(name));
}

// The text of the header, whose length comes first.
Result<std::string_view> HeaderText(const MappedFile& file, const SafetensorsLimits& limits) {
  if (file.size() < kLengthBytes) {
    return Fail(ErrorCode::kMalformed,
                "expected the header's length in 8 bytes, found a file of size " +
                    std::to_string(file.size()),
                "byte offset 0");
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  if (length > file.size() - kLengthBytes) {
    return Fail(ErrorCode::kMalformed,
                "a header of " + std::to_string(length) + " bytes lies past the file size " +
                    std::to_string(file.size()),
                "byte offset 0");
  }
  if (length > limits.max_header_bytes) {
    return Fail(ErrorCode::kLimit,
                "a header of " + std::to_string(length) + " bytes, more than max_header_bytes = " +
                    std::to_string(limits.max_header_bytes),
                "byte offset 0");
  }
  return std::string_view(reinterpret_cast<const char*>(file.data() + kLengthBytes),
                          static_cast<std::size_t>(length));
}

bool IsUnsigned(const json& value) { return value.is_number_unsigned(); }

Result<std::int64_t> ReadShape(const std::string& name, const json& shape,
                               SafetensorsTensor& tensor) {
  if (!shape.is_array() || shape.size() > 8 || !std::ranges::all_of(shape, IsUnsigned)) {
    return Malformed(name, "expected a shape of up to 8 whole numbers");
  }
  std::int64_t elements = 1;
  for (const json& item : shape) {
    const auto dim = item.get<std::uint64_t>();
    if (dim == 0) return Malformed(name, "expected positive dimensions, found dimension 0");
    if (dim > static_cast<std::uint64_t>(kMaxElements / elements)) {
      return Malformed(name, "dimension " + std::to_string(dim) + " makes more than 2^48 elements");
    }
    tensor.shape.push_back(static_cast<std::int64_t>(dim));
    elements *= tensor.shape.back();
  }
  return elements;
}

// `data`: all bytes after the header.
Result<SafetensorsTensor> ReadTensor(const std::string& name, const json& entry,
                                     std::span<const std::byte> data, Range& range) {
  if (!entry.is_object()) return Malformed(name, "expected an object");
  for (const auto& [key, value] : entry.items()) {
    if (key != "dtype" && key != "shape" && key != "data_offsets") {
      return Malformed(name, "unknown key \"" + PrintableName(key) + "\"");
    }
  }
  if (!entry.contains("dtype") || !entry["dtype"].is_string()) {
    return Malformed(name, "expected a dtype");
  }
  SafetensorsTensor tensor;
  tensor.dtype = entry["dtype"].get<std::string>();
  const std::optional<int> element_bytes = DtypeBytes(tensor.dtype);
  if (!element_bytes) {
    return Fail(ErrorCode::kUnsupported, "unknown dtype " + PrintableName(tensor.dtype),
                PrintableName(name));
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t elements,
                           ReadShape(name, entry.value("shape", json()), tensor));
  tensor.bytes = elements * *element_bytes;
  const json offsets = entry.value("data_offsets", json());
  if (!offsets.is_array() || offsets.size() != 2 || !std::ranges::all_of(offsets, IsUnsigned)) {
    return Malformed(name, "expected data_offsets of two whole numbers");
  }
  range = {offsets[0].get<std::uint64_t>(), offsets[1].get<std::uint64_t>(), &name};
  if (range.begin > range.end || range.end > data.size()) {
    return Malformed(name, "data_offsets [" + std::to_string(range.begin) + ", " +
                               std::to_string(range.end) + "] lie outside the " +
                               std::to_string(data.size()) + " bytes of data in the file");
  }
  if (range.end - range.begin != static_cast<std::uint64_t>(tensor.bytes)) {
    return Malformed(name, std::to_string(tensor.bytes) + " bytes needed for the shape in " +
                               tensor.dtype + ", found data_offsets over " +
                               std::to_string(range.end - range.begin));
  }
  tensor.data = data.data() + range.begin;
  return tensor;
}

Status CheckCover(std::vector<Range> ranges, std::uint64_t size) {
  std::ranges::stable_sort(ranges, {}, &Range::begin);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    if (range.begin < at) {
      return Malformed(*range.name,
                       "the tensor's data overlap those of " + PrintableName(*ranges[i - 1].name));
    }
    if (range.begin > at) {
      return Malformed(*range.name, "no tensor has the " + std::to_string(range.begin - at) +
                                        " bytes of data before this one's");
    }
    at = range.end;
  }
  if (at == size) return {};
  return Fail(ErrorCode::kMalformed,
              std::to_string(size - at) + " bytes after the last tensor's data belong to none",
              "byte offset " + std::to_string(at) + " of the data");
}

// A plain file name: nothing that leads out of the folder.
bool IsPlainFileName(std::string_view name) {
  return name.ends_with(".safetensors") && name.find('/') == std::string_view::npos &&
         name.find('\\') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

}  // namespace

Result<std::map<std::string, SafetensorsTensor>> ReadSafetensors(const MappedFile& file,
                                                                 const SafetensorsLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::string_view text, HeaderText(file, limits));
  ADJUDGE_ASSIGN_OR_RETURN(const json header, ParseStrictJson(text, {.max_depth = 4}));
  if (!header.is_object()) {
    return Fail(ErrorCode::kMalformed, "expected the header to be a JSON object", "byte offset 8");
  }
  if (header.size() > limits.max_tensors) {
    return Fail(ErrorCode::kLimit,
                std::to_string(header.size()) +
                    " tensors, more than max_tensors = " + std::to_string(limits.max_tensors));
  }
  const std::size_t data_start = kLengthBytes + text.size();
  const std::span<const std::byte> data(file.data() + data_start, file.size() - data_start);
  std::map<std::string, SafetensorsTensor> tensors;
  std::vector<Range> ranges;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    Range range{};
    ADJUDGE_ASSIGN_OR_RETURN(SafetensorsTensor tensor, ReadTensor(name, entry, data, range));
    const auto placed = tensors.emplace(name, std::move(tensor)).first;
    range.name = &placed->first;
    ranges.push_back(range);
  }
  ADJUDGE_RETURN_IF_ERROR(CheckCover(std::move(ranges), data.size()));
  return tensors;
}

Result<std::map<std::string, std::string>> ReadSafetensorsMetadata(
    const MappedFile& file, const SafetensorsLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::string_view text, HeaderText(file, limits));
  ADJUDGE_ASSIGN_OR_RETURN(const json header, ParseStrictJson(text, {.max_depth = 4}));
  std::map<std::string, std::string> metadata;
  if (!header.is_object() || !header.contains("__metadata__")) return metadata;
  const json& entries = header["__metadata__"];
  const auto is_text = [](const json& value) { return value.is_string(); };
  if (!entries.is_object() || !std::ranges::all_of(entries, is_text)) {
    return Malformed("__metadata__", "expected an object of strings");
  }
  for (const auto& [key, value] : entries.items()) metadata[key] = value.get<std::string>();
  return metadata;
}

Result<std::map<std::string, std::string>> ReadSafetensorsIndex(std::string_view text,
                                                                const SafetensorsLimits& limits) {
  if (text.size() > limits.max_index_bytes) {
    return Fail(ErrorCode::kLimit, std::to_string(text.size()) +
                                       " bytes, more than max_index_bytes = " +
                                       std::to_string(limits.max_index_bytes));
  }
  ADJUDGE_ASSIGN_OR_RETURN(const json index, ParseStrictJson(text, {.max_depth = 4}));
  const auto map = index.find("weight_map");
  if (!index.is_object() || map == index.end() || !map->is_object()) {
    return Fail(ErrorCode::kMalformed, "expected an object of tensor names and file names",
                "/weight_map");
  }
  if (map->size() > limits.max_tensors) {
    return Fail(ErrorCode::kLimit,
                std::to_string(map->size()) +
                    " tensors, more than max_tensors = " + std::to_string(limits.max_tensors),
                "/weight_map");
  }
  std::map<std::string, std::string> files;
  std::set<std::string> shards;
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string() || !IsPlainFileName(file.get<std::string>())) {
      return Fail(ErrorCode::kMalformed,
                  "expected the name of a .safetensors file in the model's folder, found " +
                      PrintableName(file.is_string() ? file.get<std::string>() : file.type_name()),
                  "/weight_map/" + PrintableName(name));
    }
    shards.insert(file.get<std::string>());
    files.emplace(name, file.get<std::string>());
  }
  if (shards.size() > limits.max_shards) {
    return Fail(ErrorCode::kLimit,
                std::to_string(shards.size()) +
                    " files, more than max_shards = " + std::to_string(limits.max_shards),
                "/weight_map");
  }
  return files;
}

}  // namespace adjudge
