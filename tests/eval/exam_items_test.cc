#include "eval/exam_items.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

constexpr std::string_view kLine =
    R"({"id":"q1","question":{"stem":"Which?","choices":[{"text":"one","label":"1"},{"text":"two","label":"2"}]},"answerKey":"2"})";

TEST(ExamItemsTest, Jsonl) {
  const std::string text =
      std::string(kLine) + "\r\n\n" +
      R"({"question":{"choices":[{"label":"A","text":"x"}],"stem":"S"},"id":"q2"})";
  const auto items = ReadExamJsonl(text);
  ASSERT_TRUE(items) << ToString(items.error());
  ASSERT_EQ(items->size(), 2u);
  EXPECT_EQ((*items)[0].options[1].label, "2");
  EXPECT_EQ((*items)[0].key, 1);
  EXPECT_EQ((*items)[1].key, std::nullopt);
  EXPECT_TRUE(ReadExamJsonl("")->empty());
}

TEST(ExamItemsTest, JsonlRefusesByLine) {
  const struct {
    const char* line;
    const char* named;
  } cases[] = {
      {"{", "not JSON"},
      {"[]", "JSON object"},
      {"\"\xff\"", "not JSON"},
      {R"({"id":1})", "\"id\""},
      {R"({"id":"q"})", "\"question\""},
      {R"({"id":"q","question":{"stem":"s"}})", "\"choices\""},
      {R"({"id":"q","question":{"choices":[]}})", "\"stem\""},
      {R"({"id":"q","question":{"stem":"s","choices":[]}})", "found 0"},
      {R"({"id":"q","question":{"stem":"s","choices":[{"text":"t"}]}})", "\"label\""},
      {R"({"id":"q","question":{"stem":"s","choices":[{"text":"t","label":"A"}]},"answerKey":"B"})",
       "\"B\""},
      {R"({"id":"q","question":{"stem":"s","choices":[{"text":"t","label":"A"},{"text":"u","label":"A"}]}})",
       "two options"},
  };
  for (const auto& c : cases) {
    const auto items = ReadExamJsonl(std::string(kLine) + "\n" + c.line);
    ASSERT_FALSE(items) << c.line;
    EXPECT_EQ(items.error().place, "line 2");
    EXPECT_NE(items.error().message.find(c.named), std::string::npos) << ToString(items.error());
  }
}

TEST(ExamItemsTest, MmluCsv) {
  const auto items = ReadMmluCsv(
      "Plain,0,1,2,3,B\r\n\"Quoted, with \"\"marks\"\"\nand a "
      "break\",\"a,b\",,c,d,D\n\nLast,1,2,3,4,A",
      "algebra-");
  ASSERT_TRUE(items) << ToString(items.error());
  ASSERT_EQ(items->size(), 3u);
  EXPECT_EQ((*items)[0].id, "algebra-1");
  EXPECT_EQ((*items)[0].key, 1);
  EXPECT_EQ((*items)[1].stem, "Quoted, with \"marks\"\nand a break");
  EXPECT_EQ((*items)[1].options[0].text, "a,b");
  EXPECT_EQ((*items)[1].options[1].text, "");
  EXPECT_EQ((*items)[2].key, 0);
}

TEST(ExamItemsTest, MmluCsvRefusesByLine) {
  const struct {
    const char* text;
    const char* place;
    const char* named;
  } cases[] = {
      {"a,b,c", "line 1", "found 3"},
      {"q,1,2,3,4,A\nq,1,2,3,4,E", "line 2", "\"E\""},
      {"\"q\nr\",1,2,3,4,A\n\"open", "line 3", "does not end"},
  };
  for (const auto& c : cases) {
    const auto items = ReadMmluCsv(c.text, "");
    ASSERT_FALSE(items) << c.text;
    EXPECT_EQ(items.error().place, c.place);
    EXPECT_NE(items.error().message.find(c.named), std::string::npos) << ToString(items.error());
  }
}

TEST(ExamItemsTest, LimitsOnBothSides) {
  const std::string jsonl = std::string(kLine) + "\n" + std::string(kLine);
  const std::string csv = "quest,1,2,3,4,A\nquest,1,2,3,4,A\n";
  for (const std::size_t slack : {0, 1}) {
    const bool fits = slack == 0;
    EXPECT_EQ(ReadExamJsonl(jsonl, {.max_bytes = jsonl.size() - slack}).has_value(), fits);
    EXPECT_EQ(ReadExamJsonl(jsonl, {.max_items = 2 - slack}).has_value(), fits);
    EXPECT_EQ(ReadExamJsonl(jsonl, {.max_options = 2 - slack}).has_value(), fits);
    EXPECT_EQ(ReadMmluCsv(csv, "", {.max_bytes = csv.size() - slack}).has_value(), fits);
    EXPECT_EQ(ReadMmluCsv(csv, "", {.max_items = 2 - slack}).has_value(), fits);
    EXPECT_EQ(ReadMmluCsv(csv, "", {.max_field_bytes = 5 - slack}).has_value(), fits);
  }
}

TEST(ExamItemsTest, PublishedFiles) {
  ADJUDGE_DATA_OR_SKIP(exams, "exams");
  const struct {
    const char* name;
    std::size_t n;
  } jsonl[] = {{"arc/ARC-Challenge-Dev.jsonl", 299},
               {"arc/ARC-Challenge-Test-first586.jsonl", 586},
               {"csqa/dev_rand_split.jsonl", 1221}};
  for (const auto& file : jsonl) {
    const auto items = ReadExamJsonl(testing::ReadFile(exams / file.name));
    ASSERT_TRUE(items) << file.name << " " << ToString(items.error());
    EXPECT_EQ(items->size(), file.n) << file.name;
  }
  std::size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(exams / "mmlu" / "dev")) {
    const auto items = ReadMmluCsv(testing::ReadFile(entry.path()), "");
    ASSERT_TRUE(items) << entry.path() << " " << ToString(items.error());
    EXPECT_EQ(items->size(), 5u) << entry.path();
    ++n;
  }
  EXPECT_EQ(n, 57u);
}

TEST(ExamItemsTest, SampleQuestionsAreWellFormed) {
  std::set<std::string> ids;
  for (const ExamItem& item : SampleQuestions()) {
    EXPECT_TRUE(ids.insert(item.id).second) << item.id;
    ASSERT_TRUE(item.key);
    EXPECT_LT(static_cast<std::size_t>(*item.key), item.options.size());
    EXPECT_GE(item.options.size(), 3u);
  }
  EXPECT_EQ(ids.size(), 10u);
}

}  // namespace
}  // namespace adjudge
