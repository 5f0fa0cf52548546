#include "eval/compare.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/testing/test_data.h"
#include "tests/testing/toy_model.h"
#include "tests/testing/toy_tokenizer.h"

namespace adjudge {
namespace {

using Json = nlohmann::json;

ExamItem Item(std::string id, std::string stem, int n, std::optional<int> key) {
  ExamItem item{.id = std::move(id), .stem = std::move(stem), .key = key};
  for (int i = 0; i < n; ++i) {
    item.options.push_back({.label = std::to_string(i + 1), .text = "text " + std::to_string(i)});
  }
  return item;
}

// After a question that says "sure" the model says B and stops; after any other it thinks C a
// little likelier than other labels but would rather ramble.
std::shared_ptr<const Model> Toy(std::shared_ptr<const Tokenizer> tokenizer) {
  return testing::MakeToyModel(
      tokenizer->vocabulary().width(), 2048, [tokenizer](std::span<const TokenId> visible) {
        std::vector<float> logits(static_cast<std::size_t>(tokenizer->vocabulary().width()), -8);
        const auto set = [&](std::string_view text, float value) {
          const auto ids = *tokenizer->Encode(text);
          logits[static_cast<std::size_t>(ids.at(0))] = value;
        };
        const std::string seen = tokenizer->Decode(visible);
        if (seen.ends_with("Answer:")) {
          const bool sure = seen.find("sure") != std::string::npos;
          set(" B", sure ? 6.F : 0.F);
          set(" C", 1.F);
          if (!sure) set("x", 5.F);
        } else if (seen.ends_with(" B")) {
          logits[static_cast<std::size_t>(*tokenizer->FindSpecial("<|end|>"))] = 9;
        } else {
          set("x", 5.F);
        }
        return logits;
      });
}

class CompareTest : public ::testing::Test {
 protected:
  CompareTest()
      : tokenizer_(testing::MakeToyTokenizer()),
        model_(Toy(tokenizer_)),
        items_({Item("right", "Are you sure?", 4, 1), Item("wrong", "Are you?", 3, 0),
                Item("open", "sure, sure", 2, std::nullopt), Item("large", "sure?", 40, 3)}) {}

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::shared_ptr<const Model> model_;
  std::vector<ExamItem> items_;
};

TEST_F(CompareTest, BothArms) {
  std::size_t reported = 0;
  const auto result = Compare(model_, tokenizer_, items_,
                              {.steps = 5, .on_progress = [&](std::size_t done, std::size_t n) {
                                 EXPECT_EQ(n, 4u);
                                 reported = done;
                               }});
  ASSERT_TRUE(result) << ToString(result.error());
  EXPECT_EQ(reported, 4u);
  const struct {
    Verdict one_pass;
    Verdict decoding;
    const char* one_answer;
    const char* text;
    int steps;
    const char* finish;
  } expected[] = {
      {Verdict::kRight, Verdict::kRight, "2", " B", 2, "stop"},
      {Verdict::kWrong, Verdict::kInvalid, "3", "xxxxx", 5, "length"},
      {Verdict::kUnkeyed, Verdict::kUnkeyed, "2", " B", 2, "stop"},
  };
  ASSERT_EQ(result->rows.size(), 4u);
  for (std::size_t i = 0; i < 3; ++i) {
    const CompareRow& row = result->rows[i];
    EXPECT_EQ(row.error, "");
    EXPECT_EQ(row.one_pass.verdict, expected[i].one_pass) << row.id;
    EXPECT_EQ(row.decoding.verdict, expected[i].decoding) << row.id;
    EXPECT_EQ(row.one_pass.answer, expected[i].one_answer) << row.id;
    EXPECT_EQ(row.decoding.text, expected[i].text) << row.id;
    EXPECT_EQ(row.decoding.steps, expected[i].steps) << row.id;
    EXPECT_EQ(row.decoding.usage.forward_passes, expected[i].steps) << row.id;
    EXPECT_EQ(row.decoding.finish_reason, expected[i].finish) << row.id;
    EXPECT_EQ(row.one_pass.steps, 1) << row.id;
    EXPECT_EQ(row.one_pass.usage.forward_passes, 1) << row.id;
    EXPECT_EQ(row.one_pass.usage.prompt_tokens, row.decoding.usage.prompt_tokens) << "one prompt";
    EXPECT_EQ(row.one_pass.usage.cached_tokens, 0);
    EXPECT_EQ(row.decoding.usage.cached_tokens, 0);
  }
  EXPECT_GT(result->rows[0].one_pass.label_mass, .9);
  EXPECT_LT(result->rows[1].one_pass.label_mass, .05);
  EXPECT_EQ(result->rows[3].one_pass.verdict, Verdict::kRefused);
  EXPECT_NE(result->rows[3].error.find("40 options"), std::string::npos);
  EXPECT_EQ(result->refused, 1);
  EXPECT_EQ(result->agree, 2);
  EXPECT_EQ(result->one_pass.n, 3);
  EXPECT_EQ(result->one_pass.right, 1);
  EXPECT_EQ(result->one_pass.wrong, 1);
  EXPECT_EQ(result->one_pass.unkeyed, 1);
  EXPECT_EQ(result->decoding.invalid, 1);
  EXPECT_EQ(result->decoding.steps, 9);
  EXPECT_EQ(result->one_pass.steps, 3);
}

TEST_F(CompareTest, AllStepsOnRequest) {
  const auto result =
      Compare(model_, tokenizer_, std::span(items_).first(1), {.steps = 7, .run_all_steps = true});
  ASSERT_TRUE(result) << ToString(result.error());
  EXPECT_EQ(result->rows[0].decoding.steps, 7);
  EXPECT_EQ(result->rows[0].decoding.usage.forward_passes, 7);
  EXPECT_EQ(result->rows[0].decoding.verdict, Verdict::kRight);
}

TEST_F(CompareTest, Reports) {
  const auto result = Compare(model_, tokenizer_, items_, {.steps = 5});
  ASSERT_TRUE(result);
  const Json json = Json::parse(CompareJson(*result));
  EXPECT_EQ(json["extraction_rule"], "label-or-option-text");
  EXPECT_EQ(json["items"].size(), 4u);
  EXPECT_EQ(json["items"][0]["decoding"]["verdict"], "right");
  EXPECT_TRUE(json["items"][1]["decoding"]["answer"].is_null());
  EXPECT_TRUE(json["items"][2]["key"].is_null());
  EXPECT_TRUE(json["items"][3].contains("error"));
  EXPECT_EQ(json["items"][0]["labels"][1], "B");
  EXPECT_EQ(json["items"][0]["exam_labels"][1], "2");
  EXPECT_EQ(json["totals"]["decoding"]["steps"], 9);
  EXPECT_EQ(json["totals"]["one_pass"]["usage"]["forward_passes"], 3);
  const std::string table = CompareTable(*result);
  for (const char* word : {"one pass", "up to 5 steps", "invalid", "refused", "xxxxx",
                           "label-or-option-text", "agree on 2 of 3", "2=B"}) {
    EXPECT_NE(table.find(word), std::string::npos) << word << "\n" << table;
  }
}

TEST_F(CompareTest, RefusesAnItemWithTheSameOptionTwice) {
  std::vector<ExamItem> items = {items_[0], items_[0]};
  items[1].id = "twice";
  items[1].options[1].text = items[1].options[0].text;
  const auto result = Compare(model_, tokenizer_, items, {.steps = 1});
  ASSERT_TRUE(result) << ToString(result.error());
  EXPECT_EQ(result->rows[0].error, "");
  EXPECT_NE(result->rows[1].error.find("twice: two options have the text"), std::string::npos)
      << result->rows[1].error;
}

TEST_F(CompareTest, CancelAndBadArguments) {
  const std::atomic<bool> cancel{true};
  const auto cancelled = Compare(model_, tokenizer_, items_, {.warm_up = false, .cancel = &cancel});
  ASSERT_TRUE(cancelled);
  EXPECT_TRUE(cancelled->cancelled);
  EXPECT_TRUE(cancelled->rows.empty());
  EXPECT_FALSE(Compare(model_, tokenizer_, {}, {}));
  EXPECT_FALSE(Compare(model_, tokenizer_, items_, {.steps = 0}));
}

TEST(CompareModelTest, SampleQuestionsOnTheDefaultModel) {
  ADJUDGE_MODEL_OR_SKIP(file, "default");
  const auto model = Model::Load(file);
  ASSERT_TRUE(model) << ToString(model.error());
  const auto tokenizer = Tokenizer::Load(file);
  ASSERT_TRUE(tokenizer) << ToString(tokenizer.error());
  const auto result = Compare(*model, *tokenizer, std::span(SampleQuestions()).first(3), {});
  ASSERT_TRUE(result) << ToString(result.error());
  for (const CompareRow& row : result->rows) {
    EXPECT_EQ(row.error, "");
    EXPECT_EQ(row.one_pass.steps, 1);
    EXPECT_GT(row.one_pass.label_mass, .1);
    EXPECT_EQ(row.decoding.steps, row.decoding.usage.forward_passes);
    EXPECT_LE(row.decoding.steps, 30);
  }
}

}  // namespace
}  // namespace adjudge
