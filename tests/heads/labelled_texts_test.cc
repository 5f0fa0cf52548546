#include "heads/labelled_texts.h"

#include <gtest/gtest.h>

#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using Texts = std::vector<LabelledText>;

TEST(LabelledTexts, Csv) {
  const struct {
    const char* csv;
    Texts expected;
  } cases[] = {
      {"text,category\na,x\nb,y\n", {{"a", {"x"}}, {"b", {"y"}}}},
      {"text,category\na,x", {{"a", {"x"}}}},
      {"\xef\xbb\xbftext,category\r\na,x\r\n", {{"a", {"x"}}}},
      {"category,id,text\nx,1,\"a, \"\"b\"\"\nc\"\n", {{"a, \"b\"\nc", {"x"}}}},
      {"text,category\n a ,x\n\n,y\n", {{" a ", {"x"}}, {"", {"y"}}}},
      {"text,category\n", {}},
  };
  for (const auto& c : cases) {
    const auto texts = ParseLabelledCsv(c.csv);
    ASSERT_TRUE(texts) << c.csv << ToString(texts.error());
    EXPECT_EQ(*texts, c.expected) << c.csv;
  }
  LabelledTextsOptions several;
  several.label_separator = "; ";
  EXPECT_EQ(ParseLabelledCsv("text,category\na,x; y\nb,\n", several),
            (Texts{{"a", {"x", "y"}}, {"b", {}}}));
}

TEST(LabelledTexts, JsonLines) {
  const auto texts = ParseLabelledJsonLines(
      "{\"category\": \"x\", \"text\": \"a\"}\n\n{\"text\": \"b\", \"category\": [\"y\", \"z\"]}");
  ASSERT_TRUE(texts) << ToString(texts.error());
  EXPECT_EQ(*texts, (Texts{{"a", {"x"}}, {"b", {"y", "z"}}}));
}

TEST(LabelledTexts, BadFilesAreRefusedWithTheirLine) {
  const struct {
    const char* text;
    bool json;
    const char* error;
  } cases[] = {
      {"", false, "line 1: expected a header row"},
      {"text\na\n", false, "line 1: no column \"category\"; the columns are text"},
      {"text,category\na,x\nb\n", false, "line 3: expected 2 columns, found 1"},
      {"text,category\na,x,y\n", false, "line 2: expected 2 columns, found 3"},
      {"text,category\n\"a,x\n", false, "line 2"},
      {"text,category\na\"b,x\n", false, "line 2"},
      {"text,category\na,\n", false, "line 2: the label is empty"},
      {"text,category\na,x\n\xff,y\n", false, "line 3: not UTF-8 at byte 18"},
      {"{\"text\": \"a\"}", true, "line 1: no key \"category\""},
      {"{\"text\": 1, \"category\": \"x\"}", true,
       "line 1, /text: expected a string, found number"},
      {"{\"text\": \"a\", \"category\": [1]}", true, "line 1, /category: expected a string"},
      {"\n[]", true, "line 2: expected an object, found array"},
      {"{", true, "line 1"},
  };
  for (const auto& c : cases) {
    const auto refused = c.json ? ParseLabelledJsonLines(c.text) : ParseLabelledCsv(c.text);
    ASSERT_FALSE(refused) << c.text;
    EXPECT_TRUE(ToString(refused.error()).starts_with(c.error)) << ToString(refused.error());
  }
}

TEST(LabelledTexts, LimitsOnBothSides) {
  const std::string csv = "text,category\nabc,xy\nabc,xy\n";
  const auto parse = [&](auto change) {
    LabelledTextsOptions options;
    change(options);
    return ParseLabelledCsv(csv, options).has_value();
  };
  EXPECT_TRUE(parse([&](auto& o) { o.max_bytes = csv.size(); }));
  EXPECT_FALSE(parse([&](auto& o) { o.max_bytes = csv.size() - 1; }));
  EXPECT_TRUE(parse([](auto& o) { o.max_rows = 2; }));
  EXPECT_FALSE(parse([](auto& o) { o.max_rows = 1; }));
  EXPECT_TRUE(parse([](auto& o) { o.max_text_bytes = 3; }));
  EXPECT_FALSE(parse([](auto& o) { o.max_text_bytes = 2; }));
  EXPECT_TRUE(parse([](auto& o) { o.max_label_bytes = 2; }));
  EXPECT_FALSE(parse([](auto& o) { o.max_label_bytes = 1; }));
}

TEST(LabelledTexts, FilesByTheirEnding) {
  const testing::TempFolder folder;
  const auto csv = folder.Write("a.csv", "text,category\na,x\n");
  const auto lines = folder.Write("a.jsonl", "{\"text\": \"a\", \"category\": \"x\"}\n");
  EXPECT_EQ(*ReadLabelledTexts(csv), *ReadLabelledTexts(lines));
  const auto absent = ReadLabelledTexts(folder.path() / "none.csv");
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(ReadLabelledTexts(folder.path()));
}

}  // namespace
}  // namespace adjudge
