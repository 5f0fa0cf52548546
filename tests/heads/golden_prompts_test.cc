// The prompts of an independent implementation's decisions, made again from the exam's own words.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/model.h"
#include "engine/tokenizer.h"
#include "heads/decision_head.h"
#include "heads/label_head.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using Json = nlohmann::json;
using Tokens = std::vector<TokenId>;

// The item's own words, from the exam's file.
Question ExamQuestion(const std::string& exam, const std::string& id) {
  std::istringstream lines(exam);
  for (std::string line; std::getline(lines, line);) {
    const Json item = Json::parse(line);
    if (item["id"] != id) continue;
    std::vector<std::string> names;
    for (const Json& choice : item["question"]["choices"]) names.push_back(choice["text"]);
    return Question::Choice(id, item["question"]["stem"].get<std::string>(), names);
  }
  return {};
}

TEST(GoldenPromptsTest, OwnPromptsAreTheGoldenPrompts) {
  ADJUDGE_MODEL_OR_SKIP(file, "default");
  ADJUDGE_DATA_OR_SKIP(golden, "golden/smollm2/golden.json");
  ADJUDGE_DATA_OR_SKIP(exam_file, "exams/arc/ARC-Challenge-Dev.jsonl");
  const auto tokenizer = Tokenizer::Load(file);
  ASSERT_TRUE(tokenizer) << ToString(tokenizer.error());
  const auto prompts = LabelPrompts::Make(*tokenizer, PromptStyle::kAuto, LabelStyle::kAuto);
  ASSERT_TRUE(prompts) << ToString(prompts.error());
  // Exact, so that only the prompts can be at fault.
  ModelOptions options;
  options.precision = Precision::kExact;
  const auto model = Model::Load(file, options);
  ASSERT_TRUE(model);
  auto session = *DecisionSession::Make(*model);
  const auto likelihood =
      *MakeDecisionHead("likelihood", *tokenizer, {.prompt = PromptStyle::kPlain});
  const std::string exam = testing::ReadFile(exam_file);
  const Json stored = Json::parse(testing::ReadFile(golden));
  int n = 0;
  for (const Json& decision : stored["decisions"]) {
    ++n;
    const Question question = ExamQuestion(exam, decision["id"]);
    ASSERT_FALSE(question.options.empty()) << decision["id"];
    // The parts are tokenised apart and are still what the whole text gives.
    Tokens ids = *prompts->Shared(Entry{}, 8192);
    const auto prompt = prompts->Make(Entry{}, question);
    ASSERT_TRUE(prompt) << ToString(prompt.error());
    ids.insert(ids.end(), prompt->tokens.begin(), prompt->tokens.end());
    EXPECT_EQ(ids, decision["label_prompt_ids"].get<Tokens>()) << decision["id"];
    EXPECT_EQ(prompt->label_ids, decision["label_ids"].get<Tokens>()) << decision["id"];

    const auto decided = likelihood->Decide(session, Entry{}, std::span(&question, 1));
    ASSERT_TRUE(decided) << ToString(decided.error());
    EXPECT_EQ(decided->usage.forward_passes, 1);
    for (std::size_t k = 0; k < question.options.size(); ++k) {
      EXPECT_NEAR(decided->answers[0].logprobs[k], decision["options"][k]["logprob"].get<double>(),
                  1e-3)
          << decision["id"] << " option " << k;
    }
  }
  EXPECT_EQ(n, 10);
}

}  // namespace
}  // namespace adjudge
