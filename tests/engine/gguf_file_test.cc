#include "engine/model/gguf_file.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/testing/gguf_builder.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using testing::GgufBuilder;
using testing::LittleEndian;

GgufBuilder Good() {
  GgufBuilder builder;
  builder.Text("general.architecture", "llama")
      .U32("n", 7)
      .F32("x", 0.5F)
      .Bool("yes", true)
      .Texts("words", {"a", "", "\xE2\x96\x81"})
      .Floats("scores", {0.0F, -1.0F})
      .Ints("types", {1, -2, 3});
  builder.Tensor("first", {3, 32}, TensorType::kQ4_0, std::string(3 * 18, 'q'));
  builder.Tensor("second", {5}, std::vector<float>{1, 2, 3, 4, 5});
  return builder;
}

TEST(GgufFile, ReadsWhatTheBuilderWrote) {
  const auto file = GgufFile::Parse(Good().Build());
  ASSERT_TRUE(file) << ToString(file.error());
  EXPECT_EQ(**(*file)->Text("general.architecture"), "llama");
  EXPECT_EQ(**(*file)->Int("n"), 7);
  EXPECT_EQ(**(*file)->Real("x"), 0.5);
  EXPECT_EQ(**(*file)->Bool("yes"), true);
  EXPECT_FALSE(*(*file)->Int("absent"));
  EXPECT_EQ((*(*file)->Array("words", GgufValue::Type::kString))->texts[2], "\xE2\x96\x81");
  EXPECT_EQ((*(*file)->Array("scores", GgufValue::Type::kF32))->reals[1], -1.0);
  EXPECT_EQ((*(*file)->Array("types", GgufValue::Type::kI32))->integers[1], -2);
  EXPECT_EQ(*(*file)->Array("absent", GgufValue::Type::kI32), nullptr);
  ASSERT_EQ((*file)->tensors().size(), 2U);
  const GgufTensor* first = (*file)->FindTensor("first");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->dims, (std::vector<std::int64_t>{32, 3}));
  EXPECT_EQ(first->bytes, 54);
  EXPECT_EQ(first->data[53], std::byte{'q'});
  const GgufTensor* second = (*file)->FindTensor("second");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->data - first->data, 64);
  EXPECT_EQ((*file)->FindTensor("third"), nullptr);
}

TEST(GgufFile, EveryScalarTypeIsRead) {
  GgufBuilder builder;
  builder.Raw("u8", 0, LittleEndian<std::uint8_t>(200))
      .Raw("i8", 1, LittleEndian<std::int8_t>(-100))
      .Raw("u16", 2, LittleEndian<std::uint16_t>(60000))
      .Raw("i16", 3, LittleEndian<std::int16_t>(-30000))
      .Raw("u32", 4, LittleEndian<std::uint32_t>(4000000000U))
      .Raw("i32", 5, LittleEndian<std::int32_t>(-2000000000))
      .Raw("u64", 10, LittleEndian<std::uint64_t>(1ULL << 62))
      .Raw("i64", 11, LittleEndian<std::int64_t>(-5))
      .Raw("f64", 12, LittleEndian<double>(0.1));
  const auto file = GgufFile::Parse(builder.Build());
  ASSERT_TRUE(file) << ToString(file.error());
  EXPECT_EQ(**(*file)->Int("u8"), 200);
  EXPECT_EQ(**(*file)->Int("i8"), -100);
  EXPECT_EQ(**(*file)->Int("u16"), 60000);
  EXPECT_EQ(**(*file)->Int("i16"), -30000);
  EXPECT_EQ(**(*file)->Int("u32"), 4000000000);
  EXPECT_EQ(**(*file)->Int("i32"), -2000000000);
  EXPECT_EQ(**(*file)->Int("u64"), std::int64_t{1} << 62);
  EXPECT_EQ(**(*file)->Int("i64"), -5);
  EXPECT_EQ(**(*file)->Real("f64"), 0.1);
}

struct BadRow {
  const char* what;
  std::function<std::string()> bytes;
  std::vector<std::string> names;  // each must occur in the error
};

std::string Cut(std::size_t keep) { return Good().Build().substr(0, keep); }

std::string ArrayHead(std::uint32_t element, std::uint64_t n) {
  return LittleEndian(element) + LittleEndian(n);
}

GgufBuilder OneTensor(std::vector<std::int64_t> shape, TensorType type, std::size_t bytes) {
  GgufBuilder builder;
  builder.Tensor("t.weight", std::move(shape), type, std::string(bytes, 'x'));
  return builder;
}

const BadRow kBadRows[] = {
    {"empty", [] { return std::string(); }, {"file", "size 0"}},
    {"three bytes", [] { return std::string("GGU"); }, {"byte offset 0"}},
    {"magic", [] { return Good().Magic("GGML").Build(); }, {"GGUF", "magic", "byte offset 0"}},
    {"version 1", [] { return Good().Version(1).Build(); }, {"version 1", "byte offset 4"}},
    {"version 4", [] { return Good().Version(4).Build(); }, {"version 4"}},
    {"big-endian", [] { return Good().Version(0x03000000).Build(); }, {"big-endian"}},
    {"cut in the header", [] { return Cut(20); }, {"header", "byte offset 16"}},
    {"cut in the metadata", [] { return Cut(60); }, {"metadata", "byte offset", "size 60"}},
    {"2^60 keys", [] { return Good().KeyCount(1ULL << 60).Build(); }, {"max_keys"}},
    {"one key too many", [] { return Good().KeyCount(65537).Build(); }, {"max_keys = 65536"}},
    {"2^60 tensors", [] { return Good().TensorCount(1ULL << 60).Build(); }, {"max_tensors"}},
    {"empty key", [] { return Good().U32("", 1).Build(); }, {"empty metadata key"}},
    {"key twice", [] { return Good().U32("n", 1).Build(); }, {"n: ", "twice"}},
    {"value type", [] { return Good().Raw("k", 13, "").Build(); }, {"key k", "13"}},
    {"bool of 2", [] { return Good().Raw("k", 7, "\x02").Build(); }, {"key k", "bool", "2"}},
    {"string past the end",
     [] { return GgufBuilder().Raw("k", 8, LittleEndian<std::uint64_t>(1ULL << 60)).Build(); },
     {"key k", "1152921504606846976", "byte offset"}},
    {"array of arrays",
     [] { return Good().Raw("k", 9, ArrayHead(9, 1) + ArrayHead(0, 0)).Build(); },
     {"key k", "arrays of arrays"}},
    {"array of 2^60 u8",
     [] { return Good().Raw("k", 9, ArrayHead(0, 1ULL << 60)).Build(); },
     {"key k", "1152921504606846976 uint8"}},
    {"array of 2^61 u64",
     [] { return Good().Raw("k", 9, ArrayHead(10, 1ULL << 61)).Build(); },
     {"key k", "2305843009213693952 uint64"}},
    {"array of 2^60 strings",
     [] { return Good().Raw("k", 9, ArrayHead(8, 1ULL << 60)).Build(); },
     {"key k", "string"}},
    {"array element type",
     [] { return Good().Raw("k", 9, ArrayHead(77, 1)).Build(); },
     {"key k", "77"}},
    {"alignment 0", [] { return Good().Alignment(0).Build(); }, {"general.alignment", "found 0"}},
    {"alignment 3",
     [] { return Good().U32("general.alignment", 3).Build(); },
     {"general.alignment", "found 3"}},
    {"alignment 2^31",
     [] { return Good().Alignment(1U << 31).Build(); },
     {"general.alignment", "2147483648"}},
    {"alignment negative",
     [] { return Good().I32("general.alignment", -32).Build(); },
     {"general.alignment", "-32"}},
    {"alignment string",
     [] { return Good().Text("general.alignment", "64").Build(); },
     {"general.alignment", "string"}},
    {"tensor twice",
     [] { return Good().Tensor("first", {1}, {1.0F}).Build(); },
     {"first", "twice"}},
    {"tensor without name",
     [] { return Good().Tensor("", {1}, {1.0F}).Build(); },
     {"empty tensor name"}},
    {"rank 0", [] { return OneTensor({}, TensorType::kF32, 4).Build(); }, {"t.weight", "found 0"}},
    {"rank 5",
     [] {
       return OneTensor({1, 1, 1, 1, 1}, TensorType::kF32, 4).Build();
     },
     {"t.weight", "found 5"}},
    {"dimension 0",
     [] {
       return OneTensor({0, 4}, TensorType::kF32, 0).Build();
     },
     {"t.weight", "dimension 0"}},
    {"dimension 2^60",
     [] { return OneTensor({1LL << 60}, TensorType::kF32, 4).Build(); },
     {"t.weight", "1152921504606846976"}},
    {"elements 2^80",
     [] {
       return OneTensor({1LL << 40, 1LL << 40}, TensorType::kF32, 4).Build();
     },
     {"t.weight", "2^48"}},
    {"dimension -1", [] { return OneTensor({-1}, TensorType::kF32, 4).Build(); }, {"t.weight"}},
    {"half a block",
     [] {
       return OneTensor({2, 48}, TensorType::kQ4_0, 54).Build();
     },
     {"t.weight", "48", "32", "Q4_0"}},
    {"data cut",
     [] { return Good().Build().substr(0, Good().Build().size() - 33); },
     {"second", "file size", "20 bytes needed"}},
    {"odd offset",
     [] { return Good().OffsetOf("second", 7).Build(); },
     {"second", "offset 7", "alignment 32"}},
    {"offset of 2^63",
     [] { return Good().OffsetOf("second", 1ULL << 63).Build(); },
     {"second", "file size"}},
    {"offset wraps",
     [] { return Good().OffsetOf("second", ~std::uint64_t{31}).Build(); },
     {"second", "file size"}},
    {"overlap",
     [] { return Good().OffsetOf("second", 32).Build(); },
     {"second", "first", "overlap"}},
    {"same offset", [] { return Good().OffsetOf("second", 0).Build(); }, {"second", "overlap"}},
};

TEST(GgufFile, BadFilesAreRefusedWithTheirPlace) {
  for (const BadRow& row : kBadRows) {
    const auto file = GgufFile::Parse(row.bytes());
    ASSERT_FALSE(file) << row.what;
    for (const std::string& name : row.names) {
      EXPECT_NE(ToString(file.error()).find(name), std::string::npos)
          << row.what << ": no \"" << name << "\" in \"" << ToString(file.error()) << "\"";
    }
  }
}

// A cut at any length is an error, never a crash: only the padding after the last tensor is free.
TEST(GgufFile, EveryPrefixIsRefused) {
  const std::string whole = Good().Build();
  const std::size_t needed = whole.size() - 12;  // second: 20 of its 32 bytes
  for (std::size_t n = 0; n < needed; ++n) {
    ASSERT_FALSE(GgufFile::Parse(whole.substr(0, n))) << n;
  }
  EXPECT_TRUE(GgufFile::Parse(whole.substr(0, needed)));
}

TEST(GgufFile, HonoursALegalAlignment) {
  for (const std::uint32_t alignment : {1U, 8U, 64U, 4096U}) {
    GgufBuilder builder = Good();
    const auto file = GgufFile::Parse(builder.Alignment(alignment).Build());
    ASSERT_TRUE(file) << alignment << ": " << ToString(file.error());
    EXPECT_EQ((*file)->FindTensor("first")->data[0], std::byte{'q'}) << alignment;
  }
}

TEST(GgufFile, VersionTwoReadsTheSame) {
  const auto file = GgufFile::Parse(Good().Version(2).Build());
  ASSERT_TRUE(file) << ToString(file.error());
  EXPECT_EQ((*file)->FindTensor("first")->data[0], std::byte{'q'});
}

struct LimitRow {
  std::uint64_t GgufLimits::*limit;
  std::uint64_t least;  // that lets the good file through
  const char* name;
};

TEST(GgufFile, LimitsHoldOnBothSides) {
  GgufBuilder builder = Good();
  const std::string bytes = builder.Alignment(64).Build();
  const auto parsed = GgufFile::Parse(bytes);
  ASSERT_TRUE(parsed) << ToString(parsed.error());
  // The table ends where the padding before the first tensor begins, at most 63 bytes earlier.
  const auto table = bytes.find_last_not_of('\0', bytes.find("qqqq") - 1) + 8;
  const LimitRow rows[] = {
      {&GgufLimits::max_keys, 8, "max_keys"},
      {&GgufLimits::max_tensors, 2, "max_tensors"},
      {&GgufLimits::max_array_elements, 3 + 2 + 3, "max_array_elements"},
      {&GgufLimits::max_alignment, 64, "power of two up to"},
      {&GgufLimits::max_metadata_bytes, table, "max_metadata_bytes"},
  };
  for (const LimitRow& row : rows) {
    GgufLimits limits;
    limits.*row.limit = row.least;
    EXPECT_TRUE(GgufFile::Parse(bytes, true, limits)) << row.name;
    limits.*row.limit = row.least - 1;
    if (row.limit == &GgufLimits::max_metadata_bytes) limits.max_metadata_bytes = table - 8;
    const auto over = GgufFile::Parse(bytes, true, limits);
    ASSERT_FALSE(over) << row.name;
    EXPECT_NE(ToString(over.error()).find(row.name), std::string::npos) << ToString(over.error());
  }
}

TEST(GgufFile, WithoutTensorsTheTableIsNotLookedAt) {
  GgufBuilder builder = Good();
  builder.TypeOf("first", 999).OffsetOf("second", 7).TensorCount(1ULL << 60);
  const auto file = GgufFile::Parse(builder.Build(), false);
  ASSERT_TRUE(file) << ToString(file.error());
  EXPECT_EQ(**(*file)->Int("n"), 7);
  EXPECT_TRUE((*file)->tensors().empty());
}

TEST(GgufFile, UnknownTensorTypesOpenAndAreMarked) {
  const auto file = GgufFile::Parse(Good().TypeOf("first", 16).Build());
  ASSERT_TRUE(file) << ToString(file.error());
  EXPECT_EQ((*file)->FindTensor("first")->type, std::nullopt);
  EXPECT_EQ((*file)->FindTensor("first")->type_id, 16U);
}

TEST(GgufFile, TypedReadsNameTheKeyAndTheTypeFound) {
  GgufBuilder builder = Good();
  builder.U64("huge", ~std::uint64_t{0});
  const auto file = *GgufFile::Parse(builder.Build());
  const auto text = [](const Error& error) { return ToString(error); };
  EXPECT_EQ(text(file->Int("x").error()), "x: expected an integer, found float32");
  EXPECT_EQ(text(file->Int("words").error()), "words: expected an integer, found array of string");
  EXPECT_EQ(text(file->Int("yes").error()), "yes: expected an integer, found bool");
  EXPECT_EQ(text(file->Real("n").error()), "n: expected a float, found uint32");
  EXPECT_EQ(text(file->Bool("n").error()), "n: expected a bool, found uint32");
  EXPECT_EQ(text(file->Text("n").error()), "n: expected a string, found uint32");
  EXPECT_EQ(text(file->Array("n", GgufValue::Type::kI32).error()),
            "n: expected array of int32, found uint32");
  EXPECT_EQ(text(file->Array("words", GgufValue::Type::kF32).error()),
            "words: expected array of float32, found array of string");
  EXPECT_EQ(text(file->Int("huge").error()),
            "huge: expected an integer below 2^63, found 18446744073709551615");
}

TEST(GgufFile, PathsThatAreNoFileAreRefused) {
  const testing::TempFolder folder;
  const auto folder_error = GgufFile::Open(folder.path());
  ASSERT_FALSE(folder_error);
  EXPECT_NE(ToString(folder_error.error()).find("folder"), std::string::npos);
  const auto absent = GgufFile::Open(folder.path() / "absent.gguf");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(GgufFile::Open("/dev/null"));
  const auto empty = GgufFile::Open(folder.Write("empty.gguf", ""));
  ASSERT_FALSE(empty);
  EXPECT_NE(ToString(empty.error()).find("size 0"), std::string::npos);
}

TEST(GgufFile, NamesInErrorsArePrintableAndShort) {
  const std::string long_name = "\x1b[31m" + std::string(5000, 'a');
  const auto file = GgufFile::Parse(Good().U32(long_name, 1).U32(long_name, 2).Build());
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().place.find('\x1b'), std::string::npos);
  EXPECT_LT(file.error().place.size(), 300U);
}

TEST(GgufFile, OpensTheDefaultModelAndReleasesItsPages) {
  ADJUDGE_MODEL_OR_SKIP(path, "default");
  const auto file = GgufFile::Open(path);
  ASSERT_TRUE(file) << ToString(file.error());
  EXPECT_EQ((*file)->tensors().size(), 272U);
  EXPECT_EQ((*file)->file_bytes(), 98362432);
  const std::byte before = (*file)->tensors()[0].data[0];
  (*file)->ReleasePages();
  EXPECT_EQ((*file)->tensors()[0].data[0], before);
}

}  // namespace
}  // namespace adjudge
