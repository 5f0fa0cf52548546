#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/model/model_file.h"
#include "engine/model/safetensors_file.h"
#include "engine/model/strict_json.h"
#include "tests/testing/gguf_builder.h"
#include "tests/testing/safetensors_builder.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

namespace fs = std::filesystem;
using testing::LittleEndian;
using testing::SafetensorsBuilder;
using testing::SafetensorsBytes;

auto Read(std::string bytes, const SafetensorsLimits& limits = {}) {
  // The map's data pointers die with the file; the tests look at shapes and errors alone.
  return ReadSafetensors(*MappedFile::FromBytes(std::move(bytes)), limits);
}

void ExpectNames(const Error& error, const std::vector<std::string>& names, const char* what) {
  for (const std::string& name : names) {
    EXPECT_NE(ToString(error).find(name), std::string::npos)
        << what << ": no \"" << name << "\" in \"" << ToString(error) << "\"";
  }
}

TEST(Safetensors, ReadsWhatTheBuilderWrote) {
  SafetensorsBuilder builder;
  builder.Tensor("a", {2, 3}, {1, 2, 3, 4, 5, 6}).Tensor("b", "BF16", {5}, "0123456789");
  const auto file = MappedFile::FromBytes(builder.Build());
  const auto tensors = ReadSafetensors(*file);
  ASSERT_TRUE(tensors) << ToString(tensors.error());
  ASSERT_EQ(tensors->size(), 2U);
  const SafetensorsTensor& b = tensors->at("b");
  EXPECT_EQ(b.dtype, "BF16");
  EXPECT_EQ(b.shape, (std::vector<std::int64_t>{5}));
  EXPECT_EQ(b.bytes, 10);
  EXPECT_EQ(b.data[9], std::byte{'9'});
  EXPECT_EQ(tensors->at("a").shape, (std::vector<std::int64_t>{2, 3}));
}

TEST(Safetensors, MetadataAndPaddingAreLegal) {
  EXPECT_TRUE(Read(SafetensorsBytes(R"({"__metadata__":{"format":"pt"}}   )", "")));
  const auto scalar =
      Read(SafetensorsBytes(R"({"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", "0123"));
  ASSERT_TRUE(scalar) << ToString(scalar.error());
  EXPECT_TRUE(scalar->at("s").shape.empty());
}

struct HeaderRow {
  const char* what;
  std::string bytes;
  std::vector<std::string> names;
};

// One tensor t of eight data bytes with these fields.
std::string WithEntry(const std::string& entry) {
  return SafetensorsBytes("{\"t\":" + entry + "}", "01234567");
}

const HeaderRow kHeaderRows[] = {
    {"empty", "", {"size 0", "byte offset 0"}},
    {"seven bytes", "1234567", {"size 7"}},
    {"header past the end", LittleEndian<std::uint64_t>(100) + "{}", {"100 bytes", "size 10"}},
    {"header of 2^60", LittleEndian<std::uint64_t>(1ULL << 60) + "{}", {"1152921504606846976"}},
    {"header of 2^64 - 1", LittleEndian<std::uint64_t>(~0ULL) + "{}", {"file size"}},
    {"no JSON", SafetensorsBytes("{\"t\":", ""), {"not JSON", "byte 5"}},
    {"NUL after the JSON", SafetensorsBytes(std::string("{}\0x", 4), ""), {"NUL byte", "byte 2"}},
    {"bytes after the JSON", SafetensorsBytes("{} x", ""), {"not JSON"}},
    {"array", SafetensorsBytes("[]", ""), {"JSON object"}},
    {"nested", SafetensorsBytes(std::string(100000, '['), ""), {"max_depth"}},
    {"tensor twice",
     SafetensorsBytes(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                      R"("t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                      "0"),
     {"t: ", "twice"}},
    {"no object", WithEntry("3"), {"t: ", "object"}},
    {"no dtype", WithEntry(R"({"shape":[2],"data_offsets":[0,8]})"), {"t: ", "dtype"}},
    {"dtype", WithEntry(R"({"dtype":"F7","shape":[2],"data_offsets":[0,8]})"), {"t: ", "F7"}},
    {"no shape", WithEntry(R"({"dtype":"F32","data_offsets":[0,8]})"), {"t: ", "shape"}},
    {"negative shape",
     WithEntry(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"),
     {"t: ", "shape"}},
    {"fractional shape",
     WithEntry(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})"),
     {"t: ", "shape"}},
    {"dimension 0",
     WithEntry(R"({"dtype":"F32","shape":[2,0],"data_offsets":[0,0]})"),
     {"t: ", "dimension 0"}},
    {"dimension 2^60",
     WithEntry(R"({"dtype":"F32","shape":[1152921504606846976],"data_offsets":[0,8]})"),
     {"t: ", "1152921504606846976"}},
    {"elements 2^80",
     WithEntry(R"({"dtype":"F32","shape":[1099511627776,1099511627776],"data_offsets":[0,8]})"),
     {"t: ", "2^48"}},
    {"no offsets", WithEntry(R"({"dtype":"F32","shape":[2]})"), {"t: ", "data_offsets"}},
    {"one offset",
     WithEntry(R"({"dtype":"F32","shape":[2],"data_offsets":[0]})"),
     {"t: ", "data_offsets"}},
    {"past the end",
     WithEntry(R"({"dtype":"F32","shape":[3],"data_offsets":[0,12]})"),
     {"t: ", "[0, 12]", "8 bytes"}},
    {"end before begin",
     WithEntry(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"),
     {"t: ", "[8, 0]"}},
    {"offset 2^63",
     WithEntry(
         R"({"dtype":"F32","shape":[2],"data_offsets":[9223372036854775808,9223372036854775816]})"),
     {"t: ", "9223372036854775808"}},
    {"range and shape differ",
     WithEntry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})"),
     {"t: ", "4 bytes", "8"}},
    {"unknown key",
     WithEntry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"q":1})"),
     {"t: ", "\"q\""}},
    {"trailing data",
     WithEntry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"),
     {"4 bytes after the last"}},
    {"hole", WithEntry(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"), {"t: ", "4 bytes"}},
    {"overlap",
     SafetensorsBytes(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                      R"("u":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                      "01234567"),
     {"u: ", "overlap", "t"}},
};

TEST(Safetensors, BadHeadersAreRefusedByName) {
  for (const HeaderRow& row : kHeaderRows) {
    const auto tensors = Read(row.bytes);
    ASSERT_FALSE(tensors) << row.what;
    ExpectNames(tensors.error(), row.names, row.what);
  }
}

TEST(Safetensors, LimitsHoldOnBothSides) {
  const std::string bytes =
      SafetensorsBuilder().Tensor("a", {1}, {1.0F}).Tensor("b", {1}, {1.0F}).Build();
  const std::size_t header = bytes.size() - 8 - 8;
  SafetensorsLimits limits = {.max_header_bytes = header, .max_tensors = 2};
  EXPECT_TRUE(Read(bytes, limits));
  limits.max_tensors = 1;
  EXPECT_EQ(Read(bytes, limits).error().code, ErrorCode::kLimit);
  limits = {.max_header_bytes = header - 1};
  EXPECT_EQ(Read(bytes, limits).error().code, ErrorCode::kLimit);
  ExpectNames(Read(bytes, limits).error(), {"max_header_bytes"}, "header");
}

struct IndexRow {
  const char* what;
  const char* text;
  std::vector<std::string> names;
};

const IndexRow kIndexRows[] = {
    {"no JSON", "{", {"not JSON"}},
    {"array", "[]", {"/weight_map"}},
    {"no map", "{}", {"/weight_map"}},
    {"map is a list", R"({"weight_map":[]})", {"/weight_map"}},
    {"number", R"({"weight_map":{"a":3}})", {"/weight_map/a", "number"}},
    {"outside", R"({"weight_map":{"a":"../w.safetensors"}})", {"../w.safetensors"}},
    {"absolute", R"({"weight_map":{"a":"/w.safetensors"}})", {"/w.safetensors"}},
    {"another ending", R"({"weight_map":{"a":"w.bin"}})", {"w.bin"}},
    {"key twice", R"({"weight_map":{"a":"w.safetensors","a":"w.safetensors"}})", {"a", "twice"}},
};

TEST(SafetensorsIndex, BadIndexesAreRefused) {
  EXPECT_TRUE(ReadSafetensorsIndex(R"({"weight_map":{"a":"w.safetensors"}})"));
  for (const IndexRow& row : kIndexRows) {
    const auto index = ReadSafetensorsIndex(row.text);
    ASSERT_FALSE(index) << row.what;
    ExpectNames(index.error(), row.names, row.what);
  }
}

TEST(SafetensorsIndex, LimitsHoldOnBothSides) {
  const std::string text = R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})";
  SafetensorsLimits limits = {.max_index_bytes = text.size(), .max_tensors = 2, .max_shards = 2};
  EXPECT_TRUE(ReadSafetensorsIndex(text, limits));
  limits.max_shards = 1;
  ExpectNames(ReadSafetensorsIndex(text, limits).error(), {"max_shards"}, "shards");
  limits = {.max_tensors = 1};
  ExpectNames(ReadSafetensorsIndex(text, limits).error(), {"max_tensors"}, "tensors");
  limits = {.max_index_bytes = text.size() - 1};
  ExpectNames(ReadSafetensorsIndex(text, limits).error(), {"max_index_bytes"}, "bytes");
}

TEST(StrictJson, LimitsHoldOnBothSides) {
  EXPECT_TRUE(ParseStrictJson("[[1]]", {.max_depth = 2}));
  EXPECT_FALSE(ParseStrictJson("[[1]]", {.max_depth = 1}));
  EXPECT_TRUE(ParseStrictJson("[1,2]", {.max_values = 3}));
  EXPECT_EQ(ParseStrictJson("[1,2]", {.max_values = 2}).error().code, ErrorCode::kLimit);
  EXPECT_FALSE(ParseStrictJson(""));
  EXPECT_FALSE(ParseStrictJson("1e999"));
  EXPECT_FALSE(ParseStrictJson("\"\xff\""));
  EXPECT_TRUE(ParseStrictJson(R"({"a":{"x":1},"b":{"x":1}})"));
  EXPECT_FALSE(ParseStrictJson(R"([{"x":1,"x":1}])"));
}

// A copy of a tiny folder that a row then spoils.
void CopyTiny(const std::string& name, const fs::path& to) {
  for (const auto& entry :
       fs::directory_iterator(testing::SourceFolder().string() + "/tests/golden/tiny/" + name)) {
    fs::copy_file(entry.path(), to / entry.path().filename());
  }
}

struct FolderRow {
  const char* what;
  const char* source;
  std::function<void(const testing::TempFolder&)> spoil;
  std::vector<std::string> names;
};

const FolderRow kFolderRows[] = {
    {"no config",
     "llama-f32",
     [](const testing::TempFolder& f) { fs::remove(f.path() / "config.json"); },
     {"config.json"}},
    {"config is no JSON",
     "llama-f32",
     [](const testing::TempFolder& f) { f.Write("config.json", "{"); },
     {"config.json", "not JSON"}},
    {"config with a NUL",
     "llama-f32",
     [](const testing::TempFolder& f) { f.Write("config.json", std::string("{}\0", 3)); },
     {"config.json", "NUL byte", "byte 2"}},
    {"huge config",
     "llama-f32",
     [](const testing::TempFolder& f) { f.Write("config.json", std::string((1 << 20) + 1, ' ')); },
     {"config.json", "max_config_bytes"}},
    {"no weights",
     "llama-f32",
     [](const testing::TempFolder& f) { fs::remove(f.path() / "model.safetensors"); },
     {"model.safetensors"}},
    {"cut weights",
     "llama-f32",
     [](const testing::TempFolder& f) {
       fs::resize_file(f.path() / "model.safetensors",
                       fs::file_size(f.path() / "model.safetensors") - 1);
     },
     {"model.safetensors", "data_offsets"}},
    {"missing shard",
     "llama-bf16-sharded",
     [](const testing::TempFolder& f) {
       fs::remove(f.path() / "model-00002-of-00003.safetensors");
     },
     {"model-00002-of-00003.safetensors", "model.safetensors.index.json"}},
    {"shard with another's tensors",
     "llama-bf16-sharded",
     [](const testing::TempFolder& f) {
       fs::copy_file(f.path() / "model-00001-of-00003.safetensors",
                     f.path() / "model-00002-of-00003.safetensors",
                     fs::copy_options::overwrite_existing);
     },
     {"model.embed_tokens.weight", "model-00002-of-00003.safetensors"}},
    {"dtype that is not read",
     "llama-f32",
     [](const testing::TempFolder& f) {
       f.Write("model.safetensors",
               SafetensorsBuilder().Tensor("model.norm.weight", "F64", {1}, "01234567").Build());
     },
     {"model.norm.weight", "F64"}},
    {"a tensor missing",
     "llama-f32",
     [](const testing::TempFolder& f) {
       f.Write("model.safetensors",
               SafetensorsBuilder().Tensor("model.norm.weight", {1}, {1}).Build());
     },
     {"token_embd.weight", "[294, 24]"}},
};

TEST(SafetensorsModel, BadFoldersAreRefusedByName) {
  for (const FolderRow& row : kFolderRows) {
    const testing::TempFolder folder;
    CopyTiny(row.source, folder.path());
    ASSERT_TRUE(ModelFile::Open(folder.path())) << row.what;
    row.spoil(folder);
    const auto file = ModelFile::Open(folder.path());
    ASSERT_FALSE(file) << row.what;
    ExpectNames(file.error(), row.names, row.what);
  }
}

}  // namespace
}  // namespace adjudge
