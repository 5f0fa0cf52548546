#include "engine/json_check.h"

#include <gtest/gtest.h>

#include <string>

namespace adjudge {
namespace {

constexpr const char* kGoodTexts[] = {
    "null",
    " 1 ",
    "\"a\"",
    "[]",
    "{}",
    "[1,2,[3]]",
    R"({"a":{"a":1},"b":[{"a":2},{"a":3}]})",
    "-0.5e-3",
    R"("\u0000\ud83d\ude00")",
};

TEST(CheckJson, GoodTexts) {
  for (const char* text : kGoodTexts) EXPECT_TRUE(CheckJson(text)) << text;
}

struct BadRow {
  std::string text;
  const char* place;
  const char* words;
};

const BadRow kBadRows[] = {
    {"", "byte 0", "not JSON"},
    {"{", "byte 1", "not JSON"},
    {"[1,]", "byte 3", "not JSON"},
    {"{} {}", "byte 3", "not JSON"},
    {"nul", "byte 3", "not JSON"},
    {"01", "byte 1", "not JSON"},
    {"\"\xff\"", "byte 1", "not JSON"},
    {"\"\\ud800\"", "byte 7", "not JSON"},
    {"1e999", "byte 4", "not JSON"},
    {std::string("[]\0", 3), "byte 2", "NUL"},
    {R"({"a":1,"a":2})", "/a", "comes twice"},
    {R"([0,{"x":{"b/c":1,"b/c":2}}])", "/1/x/b~1c", "comes twice"},
    {R"({"a":1,"\u0061":2})", "/a", "comes twice"},
};

TEST(CheckJson, BadTextsAreRefusedWithTheirPlace) {
  for (const BadRow& row : kBadRows) {
    const Status status = CheckJson(row.text);
    ASSERT_FALSE(status) << row.text;
    EXPECT_EQ(status.error().code, ErrorCode::kMalformed) << row.text;
    EXPECT_EQ(status.error().place, row.place) << row.text << ": " << status.error().message;
    EXPECT_NE(status.error().message.find(row.words), std::string::npos) << status.error().message;
  }
}

TEST(CheckJson, LimitsHoldOnBothSides) {
  const auto code = [](std::string_view text, const JsonCheckLimits& limits) {
    const Status status = CheckJson(text, limits);
    return status ? ErrorCode::kMalformed : status.error().code;
  };
  EXPECT_TRUE(CheckJson("[[1]]", {.max_depth = 2}));
  EXPECT_EQ(code("[[1]]", {.max_depth = 1}), ErrorCode::kLimit);
  EXPECT_TRUE(CheckJson("[1,2]", {.max_values = 3}));
  EXPECT_EQ(code("[1,2]", {.max_values = 2}), ErrorCode::kLimit);
  EXPECT_TRUE(CheckJson("[1]", {.max_bytes = 3}));
  EXPECT_EQ(code("[1]", {.max_bytes = 2}), ErrorCode::kLimit);
}

TEST(JoinPointer, EscapesTildeAndSlash) {
  EXPECT_EQ(JoinPointer("/a", "b/c"), "/a/b~1c");
  EXPECT_EQ(JoinPointer("", "~1"), "/~01");
  EXPECT_EQ(JoinPointer("", ""), "/");
}

}  // namespace
}  // namespace adjudge
