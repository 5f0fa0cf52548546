#include "heads/decision_head.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "heads/system_one.h"
#include "tests/testing/fake_model_file.h"
#include "tests/testing/toy_tokenizer.h"

namespace adjudge {
namespace {

std::shared_ptr<const Model> TinyModel(const std::string& architecture, int window = 4096) {
  ModelConfig config = testing::TinyConfig(architecture);
  config.vocab_size = testing::ToyVocabularySize();
  config.context_length = window;
  return testing::MakeFakeModel(config, {.backend = BackendKind::kReference, .threads = 1});
}

std::vector<std::string> Names(int n) {
  std::vector<std::string> names;
  for (int i = 0; i < n; ++i) names.push_back("opt" + std::to_string(i));
  return names;
}

std::vector<Question> ManyQuestions() {
  const std::vector<std::string> nested = {"re", "rest", "re-rest", "x"};
  const std::vector<std::string> odd = {"🎯", std::string("a\0b", 3), " ", "예\n"};
  const std::vector<std::string> levels = {"calm", "bothered", "cross", "furious"};
  const std::vector<std::string> one = {"alone"};
  return {Question::Noul("noul", "Is it hot?"),
          Question::Noul("described", "Is it hot?", Entry{"over 30"}, Entry{"below"}),
          Question::Choice("nested", "Which?", nested),
          Question::Choice("odd", "Which of these?", odd),
          Question::Score("score", "How upset?", levels),
          Question::Choice("one", "Which?", one),
          Question::Score("one level", "Which?", one),
          Question::Choice("many", "Which of these?", Names(40))};
}

// Everything but the id.
void ExpectSameAnswer(const Answer& a, const Answer& b, const std::string& what) {
  EXPECT_EQ(a.probabilities, b.probabilities) << what;
  EXPECT_EQ(a.logprobs, b.logprobs) << what;
  EXPECT_EQ(a.chosen, b.chosen) << what;
  EXPECT_EQ(a.score, b.score) << what;
  EXPECT_EQ(a.confidence, b.confidence) << what;
  EXPECT_EQ(a.label_mass, b.label_mass) << what;
  EXPECT_EQ(a.head, b.head) << what;
  EXPECT_EQ(a.end, b.end) << what;
  EXPECT_EQ(a.label_ids, b.label_ids) << what;
}

class DecisionHeadTest : public ::testing::TestWithParam<const char*> {};

TEST_P(DecisionHeadTest, AnswersDoNotDependOnIdsCompanyOrderOrCache) {
  const auto model = TinyModel(GetParam());
  const auto tokenizer = testing::MakeToyTokenizer();
  for (const char* name : {"auto", "likelihood"}) {
    const auto head = *MakeDecisionHead(name, tokenizer);
    const Entry state{"The lamp broke on day two."};
    std::vector<Question> questions = ManyQuestions();
    std::vector<Answer> alone;
    for (const Question& question : questions) {
      auto session = *DecisionSession::Make(model);
      const auto decided = head->Decide(session, state, std::span(&question, 1));
      ASSERT_TRUE(decided) << ToString(decided.error());
      EXPECT_EQ(decided->usage.forward_passes, 1);
      alone.push_back(decided->answers[0]);
      EXPECT_EQ(alone.back().id, question.id);
    }
    auto session = *DecisionSession::Make(model);
    std::mt19937 random(5);
    std::vector<std::size_t> order(questions.size());
    std::iota(order.begin(), order.end(), 0U);
    for (int round = 0; round < 4; ++round) {
      std::shuffle(order.begin(), order.end(), random);
      std::vector<Question> asked;
      for (const std::size_t i : order) {
        asked.push_back(questions[i]);
        asked.back().id = "renamed 🙂 " + std::to_string(asked.size());
      }
      const auto decided = head->Decide(session, state, asked);
      ASSERT_TRUE(decided) << ToString(decided.error());
      EXPECT_EQ(decided->usage.forward_passes, 1) << "all questions in one pass";
      EXPECT_EQ(decided->usage.cached_tokens > 0, round > 0);
      for (std::size_t i = 0; i < asked.size(); ++i) {
        EXPECT_EQ(decided->answers[i].id, asked[i].id);
        ExpectSameAnswer(decided->answers[i], alone[order[i]], questions[order[i]].id);
      }
      // Another state that begins alike, so that the kept one is cut back.
      ASSERT_TRUE(head->Decide(session, Entry{"The lamp shone."}, std::span(&asked[0], 1)));
    }
  }
}

TEST_P(DecisionHeadTest, ManyRequestsInOnePassGiveTheBitsOfEachAlone) {
  const auto model = TinyModel(GetParam());
  const auto tokenizer = testing::MakeToyTokenizer();
  const std::vector<Question> questions = ManyQuestions();
  std::vector<DecisionRequest> requests;
  for (std::size_t i = 0; i < 12; ++i) {
    requests.push_back({.state = Entry{"Parcel " + std::string(i % 5, 'x') + " came late."},
                        .questions = {questions[i % 7], questions[(i + 1) % 7]}});
  }
  requests[3].state.text = std::string(5000, 'x');
  requests[7].questions.clear();
  for (const char* name : {"auto", "likelihood"}) {
    const auto head = *MakeDecisionHead(name, tokenizer);
    auto session = *DecisionSession::Make(model);
    const auto decided = head->DecideMany(session, requests);
    EXPECT_EQ(session.passes(), 1);
    ASSERT_EQ(decided.size(), requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      auto own = *DecisionSession::Make(model);
      const auto alone = head->Decide(own, requests[i].state, requests[i].questions);
      ASSERT_EQ(alone.has_value(), decided[i].has_value());
      if (!alone) {
        EXPECT_EQ(ToString(alone.error()), ToString(decided[i].error()));
        continue;
      }
      EXPECT_EQ(decided[i]->usage.prompt_tokens, alone->usage.prompt_tokens);
      for (std::size_t q = 0; q < 2; ++q) {
        ExpectSameAnswer(decided[i]->answers[q], alone->answers[q], "request " + std::to_string(i));
      }
    }
    EXPECT_TRUE(head->DecideMany(session, {}).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, DecisionHeadTest,
                         ::testing::ValuesIn(testing::kArchitectures));

TEST(DecisionTest, WhatEachAnswerSays) {
  const auto model = TinyModel("llama");
  const auto tokenizer = testing::MakeToyTokenizer();
  const auto head = *MakeDecisionHead("auto", tokenizer);
  auto session = *DecisionSession::Make(model);
  const std::vector<Question> questions = ManyQuestions();
  const auto decided = head->Decide(session, Entry{""}, questions);
  ASSERT_TRUE(decided) << ToString(decided.error());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Answer& answer = decided->answers[i];
    ASSERT_EQ(answer.probabilities.size(), questions[i].options.size());
    EXPECT_NEAR(std::accumulate(answer.probabilities.begin(), answer.probabilities.end(), 0.0), 1,
                1e-12);
    EXPECT_EQ(std::max_element(answer.probabilities.begin(), answer.probabilities.end()) -
                  answer.probabilities.begin(),
              answer.chosen);
    EXPECT_GT(answer.label_mass, 0);
    EXPECT_LE(answer.label_mass, 1);
    const bool many = questions[i].id == "many";
    EXPECT_EQ(answer.head, many ? "likelihood" : "label") << questions[i].id;
    EXPECT_EQ(answer.labels.empty(), many);
    EXPECT_EQ(answer.normalization, many ? "sum" : "");
    if (questions[i].options.size() == 1) {
      EXPECT_EQ(answer.probabilities[0], 1.0);
      EXPECT_EQ(answer.confidence, 1.0);
    }
  }
  EXPECT_EQ(decided->answers[0].labels, (std::vector<std::string>{"No", "Yes"}));
  const std::string body = WriteSystemOneResponse({.model = "m",
                                                   .questions = questions,
                                                   .answers = decided->answers,
                                                   .usage = decided->usage,
                                                   .timings = decided->timings});
  EXPECT_NE(body.find("\"x_answers\""), std::string::npos);
}

TEST(DecisionTest, EndCountsWhereOneOptionBeginsAnother) {
  const auto model = TinyModel("llama");
  const auto tokenizer = testing::MakeToyTokenizer();
  const std::vector<std::string> nested = {"re", "rest"};
  const std::vector<std::string> apart = {"re", "sad"};
  const struct {
    EndRule rule;
    const std::vector<std::string>& names;
    const char* end;
  } cases[] = {
      {EndRule::kAuto, nested, "stop"},
      {EndRule::kAuto, apart, "none"},
      {EndRule::kNone, nested, "none"},
      {EndRule::kStop, apart, "stop"},
  };
  for (const auto& c : cases) {
    const auto head = *MakeDecisionHead("likelihood", tokenizer, {.end = c.rule});
    auto session = *DecisionSession::Make(model);
    const Question question = Question::Choice("q", "?", c.names);
    const auto decided = head->Decide(session, Entry{"s"}, std::span(&question, 1));
    ASSERT_TRUE(decided) << ToString(decided.error());
    EXPECT_EQ(decided->answers[0].end, c.end);
  }
  const auto endless = testing::MakeToyTokenizer({.stops = false});
  const auto head = *MakeDecisionHead("likelihood", endless);
  auto session = *DecisionSession::Make(model);
  const Question question = Question::Choice("q", "?", nested);
  EXPECT_EQ(head->Decide(session, Entry{"s"}, std::span(&question, 1)).error().code,
            ErrorCode::kUnsupported);
}

TEST(DecisionTest, ManyOptionsInOnePass) {
  const auto model = TinyModel("qwen3");
  const auto tokenizer = testing::MakeToyTokenizer();
  const auto head = *MakeDecisionHead("auto", tokenizer);
  for (const int n : {300, 1024}) {
    auto session = *DecisionSession::Make(model);
    const Question question = Question::Choice("q", "Which?", Names(n));
    const auto decided = head->Decide(session, Entry{"s"}, std::span(&question, 1));
    ASSERT_TRUE(decided) << ToString(decided.error());
    EXPECT_EQ(decided->usage.forward_passes, 1);
    EXPECT_EQ(decided->answers[0].end, "stop") << "opt1 begins opt10";
  }
  auto session = *DecisionSession::Make(model);
  const Question question = Question::Choice("q", "Which?", Names(1025));
  const auto refused = head->Decide(session, Entry{"s"}, std::span(&question, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(ToString(refused.error()), "/questions/q/criteria: 1025 options; max_options is 1024");
  const auto label = *MakeDecisionHead("label", tokenizer);
  const Question thirty = Question::Choice("q", "Which?", Names(30));
  const auto coded = label->Decide(session, Entry{"s"}, std::span(&thirty, 1));
  ASSERT_TRUE(coded) << ToString(coded.error());
  EXPECT_EQ(coded->answers[0].labels[29], "29");
  const auto letters = *MakeDecisionHead("label", tokenizer, {.labels = LabelStyle::kLetters});
  EXPECT_EQ(letters->Decide(session, Entry{"s"}, std::span(&thirty, 1)).error().code,
            ErrorCode::kLimit);
}

TEST(DecisionTest, WindowIsNamedWithBothNumbers) {
  const auto model = TinyModel("llama", 256);
  const auto tokenizer = testing::MakeToyTokenizer();
  const auto head = *MakeDecisionHead("auto", tokenizer);
  auto session = *DecisionSession::Make(model);
  const Question question = Question::Noul("q", "Is it hot?");
  const auto usage = head->Decide(session, Entry{"s"}, std::span(&question, 1))->usage;
  // Every byte more is a token more.
  const int room = 256 - usage.prompt_tokens;
  const Entry largest{std::string(static_cast<std::size_t>(1 + room), 's')};
  const auto fits = head->Decide(session, largest, std::span(&question, 1));
  ASSERT_TRUE(fits) << ToString(fits.error());
  EXPECT_EQ(fits->usage.prompt_tokens, 256);
  const auto over = head->Decide(session, Entry{largest.text + "s"}, std::span(&question, 1));
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::kLimit);
  EXPECT_EQ(over.error().place, "/questions/q");
  EXPECT_NE(over.error().message.find("257"), std::string::npos) << over.error().message;
  EXPECT_NE(over.error().message.find("256"), std::string::npos) << over.error().message;
  const auto state = head->Decide(session, Entry{std::string(300, 's')}, std::span(&question, 1));
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().place, "/state");
}

TEST(DecisionTest, BadQuestionsAreRefusedBeforeAnyPass) {
  const auto model = TinyModel("llama");
  const auto tokenizer = testing::MakeToyTokenizer();
  const auto head = *MakeDecisionHead("label", tokenizer);
  auto session = *DecisionSession::Make(model);
  const std::vector<std::string> twice = {"a", "b", "a"};
  const std::vector<std::string> empty = {"a", ""};
  const Question same[] = {Question::Noul("q", "x"), Question::Noul("q", "y")};
  EXPECT_EQ(head->Decide(session, Entry{}, {}).error().place, "/questions");
  EXPECT_EQ(head->Decide(session, Entry{}, same).error().place, "/questions/q");
  for (const auto& [names, place] :
       {std::pair(twice, "/questions/q/criteria/a"), std::pair(empty, "/questions/q/criteria/")}) {
    const Question question = Question::Choice("q", "?", names);
    EXPECT_EQ(head->Decide(session, Entry{}, std::span(&question, 1)).error().place, place);
  }
  // The same words are the same tokens, so likelihoods cannot tell them apart; numbers can.
  const std::vector<std::string> levels = {"fair", "good", "fair"};
  const Question score = Question::Score("q", "?", levels);
  EXPECT_TRUE(head->Decide(session, Entry{}, std::span(&score, 1)));
  const auto likelihood = *MakeDecisionHead("likelihood", tokenizer);
  EXPECT_EQ(likelihood->Decide(session, Entry{}, std::span(&score, 1)).error().place,
            "/questions/q/criteria/2");
}

TEST(DecisionTest, NamesOfOptions) {
  EXPECT_FALSE(MakeDecisionHead("pointer", testing::MakeToyTokenizer()));
  EXPECT_EQ(MakeDecisionHead("label", testing::MakeToyTokenizer({.chat = false}),
                             {.prompt = PromptStyle::kChat})
                .error()
                .code,
            ErrorCode::kNotFound);
  EXPECT_EQ(*ParseEndRule("stop"), EndRule::kStop);
  EXPECT_EQ(*ParsePromptStyle("plain"), PromptStyle::kPlain);
  EXPECT_EQ(*ParseLabelStyle("words"), LabelStyle::kWords);
  EXPECT_EQ(*ParseLikelihoodNorm("sum"), LikelihoodNorm::kSum);
  EXPECT_EQ(ToString(ParseEndRule("eos").error()),
            "expected the end auto, none, stop, found \"eos\"");
}

}  // namespace
}  // namespace adjudge
