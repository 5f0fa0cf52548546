// What label and likelihood heads do beyond one reading: debiasing, multi-select, fall-back, codes,
// none of these, abstention, long states; and that none of it depends on company.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "heads/decision_head.h"
#include "heads/explain.h"
#include "heads/readout/kept_state.h"
#include "heads/readout/select_answer.h"
#include "heads/system_one.h"
#include "tests/testing/fake_model_file.h"
#include "tests/testing/toy_tokenizer.h"

namespace adjudge {
namespace {

std::shared_ptr<const Model> TinyModel(int threads = 1, int window = 4096,
                                       BackendKind backend = BackendKind::kReference) {
  ModelConfig config = testing::TinyConfig("qwen3");
  config.vocab_size = testing::ToyVocabularySize();
  config.context_length = window;
  return testing::MakeFakeModel(config, {.backend = backend, .threads = threads});
}

Question Fruits() {
  const std::vector<std::string> names = {"pear", "apple", "fig", "plum"};
  Question question = Question::Choice("fruit", "Which fruit?", names);
  question.options[2].description = Entry{"small and sweet"};
  return question;
}

Question Select() {
  Question question = Fruits();
  question.id = "select";
  question.type = QuestionType::kSelect;
  question.min_selected = 1;
  question.max_selected = 2;
  return question;
}

std::vector<Question> Kinds() {
  const std::vector<std::string> levels = {"calm", "cross", "furious"};
  return {Fruits(), Select(), Question::Noul("noul", "Is it hot?"),
          Question::Noul("described", "Hot?", Entry{"over 30"}, Entry{"below"}),
          Question::Score("score", "How upset?", levels)};
}

std::shared_ptr<const PositionPriors> Priors() {
  return std::make_shared<const PositionPriors>(
      PositionPriors{{4, {.4, .3, .2, .1}}, {5, {.3, .3, .2, .1, .1}}});
}

struct Setting {
  const char* name;
  const char* head;
  HeadOptions options;
};

std::vector<Setting> Settings() {
  std::vector<Setting> settings = {
      {"label", "label", {}},
      {"codes", "label", {.labels = LabelStyle::kCodes}},
      {"per byte", "likelihood", {.norm = LikelihoodNorm::kMeanPerByte}},
      {"per character", "likelihood", {.norm = LikelihoodNorm::kMeanPerCharacter}},
      {"fall back", "auto", {.min_label_mass = .9}},
      {"none", "auto", {.none_option = "none of these"}},
      {"adaptive", "label", {.debias = Debias::kCyclic, .adaptive = .9}},
      {"adaptive, fall back",
       "auto",
       {.debias = Debias::kCyclic, .adaptive = 0, .min_label_mass = .9}},
      {"truncated", "auto", {.truncate = Truncate::kMiddle}},
      {"pride", "label", {.debias = Debias::kPride, .priors = Priors()}},
      {"pmi", "likelihood", {.debias = Debias::kPmi, .pmi_state = "x0"}},
      {"contextual", "likelihood", {.debias = Debias::kContextual}},
      {"cyclic likelihood", "likelihood", {.debias = Debias::kCyclic}},
  };
  for (const Debias debias :
       {Debias::kCyclic, Debias::kReversed, Debias::kAll, Debias::kContextual, Debias::kPmi}) {
    settings.push_back({ToString(debias).data(), "label", {.debias = debias}});
  }
  return settings;
}

void ExpectSame(const Answer& a, const Answer& b, const std::string& what) {
  EXPECT_EQ(a.probabilities, b.probabilities) << what;
  EXPECT_EQ(a.logprobs, b.logprobs) << what;
  EXPECT_EQ(a.chosen, b.chosen) << what;
  EXPECT_EQ(a.score, b.score) << what;
  EXPECT_EQ(a.confidence, b.confidence) << what;
  EXPECT_EQ(a.margin, b.margin) << what;
  EXPECT_EQ(a.entropy, b.entropy) << what;
  EXPECT_EQ(a.label_mass, b.label_mass) << what;
  EXPECT_EQ(a.head, b.head) << what;
  EXPECT_EQ(a.forwards, b.forwards) << what;
  EXPECT_EQ(a.position_prior, b.position_prior) << what;
  EXPECT_EQ(a.disagreement_bound, b.disagreement_bound) << what;
  EXPECT_EQ(a.fallback, b.fallback) << what;
  EXPECT_EQ(a.none_probability, b.none_probability) << what;
  EXPECT_EQ(a.selected, b.selected) << what;
}

// Alone, packed with up to 64 others in any order, ids renamed, a cached state, 1 to 3 threads.
TEST(ReadingsProperty, AnswersDoNotDependOnCompany) {
  const auto tokenizer = testing::MakeToyTokenizer();
  std::mt19937 random(21);
  std::vector<std::shared_ptr<const Model>> models;
  for (const int threads : {1, 2, 3}) models.push_back(TinyModel(threads, 400, BackendKind::kCpu));
  for (const Setting& setting : Settings()) {
    const auto head = MakeDecisionHead(setting.head, tokenizer, setting.options);
    ASSERT_TRUE(head) << ToString(head.error());
    const bool cut = setting.options.truncate != Truncate::kNone;
    std::vector<DecisionRequest> single;
    std::vector<Answer> alone;
    for (const Question& question : Kinds()) {
      for (const std::size_t n : {std::size_t{3}, cut ? std::size_t{500} : std::size_t{40}}) {
        single.push_back(
            {.state = Entry{"The lamp broke. " + std::string(n, 'x')}, .questions = {question}});
        auto session = *DecisionSession::Make(models[0]);
        const auto decided = (*head)->Decide(session, single.back().state, single.back().questions);
        ASSERT_TRUE(decided) << setting.name << ": " << ToString(decided.error());
        alone.push_back(decided->answers[0]);
      }
    }
    for (const std::size_t company : {std::size_t{1}, std::size_t{7}, std::size_t{64}}) {
      std::vector<std::size_t> picked;
      std::vector<DecisionRequest> requests;
      for (std::size_t i = 0; i <= company; ++i) {
        picked.push_back(random() % single.size());
        requests.push_back(single[picked.back()]);
        requests.back().questions[0].id = "renamed " + std::to_string(i);
      }
      auto session = *DecisionSession::Make(models[random() % models.size()]);
      for (int round = 0; round < 2; ++round) {  // the second on what the session kept
        const auto decided = (*head)->DecideMany(session, requests);
        for (std::size_t i = 0; i < requests.size(); ++i) {
          ASSERT_TRUE(decided[i]) << ToString(decided[i].error());
          ExpectSame(decided[i]->answers[0], alone[picked[i]],
                     std::string(setting.name) + ", " + single[picked[i]].questions[0].id);
        }
      }
    }
    // All questions of one request.
    std::vector<Question> questions = Kinds();
    std::reverse(questions.begin(), questions.end());
    auto session = *DecisionSession::Make(models[2]);
    const auto together = (*head)->Decide(session, single[0].state, questions);
    ASSERT_TRUE(together) << ToString(together.error());
    for (std::size_t q = 0; q < questions.size(); ++q) {
      ExpectSame(together->answers[q], alone[2 * (questions.size() - 1 - q)], setting.name);
    }
  }
}

TEST(ReadingsTest, GivenOrderChangesNoBitOnceDebiased) {
  const auto model = TinyModel();
  const auto tokenizer = testing::MakeToyTokenizer();
  std::mt19937 random(4);
  int flips_without = 0;
  for (const Setting& setting : Settings()) {
    if (setting.options.debias == Debias::kNone && std::string(setting.name) != "label") continue;
    const auto head = *MakeDecisionHead(setting.head, tokenizer, setting.options);
    auto session = *DecisionSession::Make(model);
    for (const Question& kind : {Fruits(), Select()}) {
      for (int item = 0; item < 4; ++item) {
        const Entry state{"state " + std::to_string(item)};
        Question question = kind;
        const Answer first = head->Decide(session, state, std::span(&question, 1))->answers[0];
        for (int round = 0; round < 3; ++round) {
          std::vector<std::size_t> order = {0, 1, 2, 3};
          std::shuffle(order.begin(), order.end(), random);
          for (std::size_t i = 0; i < 4; ++i) question.options[i] = kind.options[order[i]];
          const Answer again = head->Decide(session, state, std::span(&question, 1))->answers[0];
          const bool same_choice = kind.type == QuestionType::kSelect ||
                                   question.options[static_cast<std::size_t>(again.chosen)].name ==
                                       kind.options[static_cast<std::size_t>(first.chosen)].name;
          if (setting.options.debias == Debias::kNone) {
            flips_without += !same_choice;
            continue;
          }
          EXPECT_TRUE(same_choice) << setting.name;
          for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(again.probabilities[i], first.probabilities[order[i]]) << setting.name;
          }
          if (kind.type != QuestionType::kSelect) {
            EXPECT_EQ(again.entropy, first.entropy) << setting.name;
          }
          EXPECT_EQ(again.margin, first.margin) << setting.name;
        }
      }
    }
  }
  EXPECT_GT(flips_without, 0) << "the random model has an order bias that the rest is without";
}

TEST(ReadingsTest, CostInForwardsIsReported) {
  const auto model = TinyModel();
  const auto tokenizer = testing::MakeToyTokenizer();
  const struct {
    const char* head;
    HeadOptions options;
    int choice, noul, score;
  } cases[] = {
      {"label", {}, 1, 1, 1},
      {"label", {.debias = Debias::kCyclic}, 4, 2, 2},
      {"label", {.debias = Debias::kReversed}, 2, 2, 2},
      {"label", {.debias = Debias::kAll}, 24, 2, 2},
      {"label", {.debias = Debias::kContextual}, 4, 4, 4},
      {"label", {.debias = Debias::kPmi}, 2, 2, 2},
      {"label", {.debias = Debias::kPride, .priors = Priors()}, 1, 1, 1},
      {"auto", {.min_label_mass = .95}, 2, 2, 2},
      {"label", {.debias = Debias::kCyclic, .none_option = "none"}, 5, 2, 2},
  };
  const std::vector<Question> kinds = Kinds();
  for (const auto& c : cases) {
    const auto head = *MakeDecisionHead(c.head, tokenizer, c.options);
    auto session = *DecisionSession::Make(model);
    const auto decided = head->Decide(session, Entry{"s"}, kinds);
    ASSERT_TRUE(decided) << ToString(decided.error());
    EXPECT_EQ(decided->answers[0].forwards, c.choice);
    EXPECT_EQ(decided->answers[1].forwards, 4 * c.noul) << "a yes-or-no question an option";
    EXPECT_EQ(decided->answers[2].forwards, c.noul);
    EXPECT_EQ(decided->answers[4].forwards, c.score);
    EXPECT_EQ(session.passes(), c.options.min_label_mass > 0 ? 2 : 1) << "one pass a round";
  }
}

TEST(ReadingsTest, AveragesAreOfTheSingleReadings) {
  const auto model = TinyModel();
  const auto tokenizer = testing::MakeToyTokenizer();
  auto session = *DecisionSession::Make(model);
  const auto plain = *MakeDecisionHead("label", tokenizer);
  Question question = Fruits();
  std::sort(question.options.begin(), question.options.end(),
            [](const Option& a, const Option& b) { return a.name < b.name; });
  const auto averaged = *MakeDecisionHead("label", tokenizer, {.debias = Debias::kCyclic});
  const Answer found = averaged->Decide(session, Entry{"s"}, std::span(&question, 1))->answers[0];
  std::vector<std::vector<double>> readings;
  for (std::size_t shift = 0; shift < 4; ++shift) {
    Question shifted = question;
    std::rotate(shifted.options.begin(), shifted.options.begin() + static_cast<int>(shift),
                shifted.options.end());
    const Answer one = plain->Decide(session, Entry{"s"}, std::span(&shifted, 1))->answers[0];
    std::vector<double> logs(4);
    for (std::size_t i = 0; i < 4; ++i) logs[(i + shift) % 4] = one.logprobs[i];
    readings.push_back(logs);
  }
  EXPECT_EQ(found.probabilities, MeanOfLogs(readings));
  const auto pmi =
      *MakeDecisionHead("label", tokenizer, {.debias = Debias::kPmi, .pmi_state = "z"});
  const Answer with = pmi->Decide(session, Entry{"s"}, std::span(&question, 1))->answers[0];
  const Answer x0 = plain->Decide(session, Entry{"z"}, std::span(&question, 1))->answers[0];
  std::vector<double> difference;
  for (std::size_t i = 0; i < 4; ++i) difference.push_back(readings[0][i] - x0.logprobs[i]);
  EXPECT_EQ(with.probabilities, Softmax(difference));
  EXPECT_EQ(with.x0, "z");
}

TEST(ReadingsTest, LabelsThatHoldTooLittleGiveWayToLikelihoodAndSaySo) {
  const auto model = TinyModel();
  const auto tokenizer = testing::MakeToyTokenizer();
  auto session = *DecisionSession::Make(model);
  const Question question = Fruits();
  const auto likelihood = *MakeDecisionHead("likelihood", tokenizer);
  const Answer expected =
      likelihood->Decide(session, Entry{"s"}, std::span(&question, 1))->answers[0];
  for (const auto& [head_name, least, head] :
       {std::tuple("auto", .99, "likelihood"), std::tuple("auto", 1e-9, "label"),
        std::tuple("label", .99, "label")}) {
    const auto made = *MakeDecisionHead(head_name, tokenizer, {.min_label_mass = least});
    const Answer answer = made->Decide(session, Entry{"s"}, std::span(&question, 1))->answers[0];
    EXPECT_EQ(answer.head, head);
    if (answer.head == "likelihood") {
      EXPECT_EQ(answer.probabilities, expected.probabilities);
      EXPECT_NE(answer.fallback.find("< 0.99"), std::string::npos);
    } else {
      EXPECT_TRUE(answer.fallback.empty());
    }
  }
}

TEST(ReadingsTest, CodesNameAsManyOptionsAsTheWindowHolds) {
  const auto model = TinyModel(1, 16384);
  const auto tokenizer = testing::MakeToyTokenizer();
  const auto head = *MakeDecisionHead("label", tokenizer);
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("o" + std::to_string(i));
  auto session = *DecisionSession::Make(model);
  const Question question = Question::Choice("q", "Which?", names);
  const auto decided = head->Decide(session, Entry{"s"}, std::span(&question, 1));
  ASSERT_TRUE(decided) << ToString(decided.error());
  const Answer& answer = decided->answers[0];
  EXPECT_EQ(answer.labels[7], "007");
  EXPECT_TRUE(answer.label_ids.empty()) << "no code is one token";
  EXPECT_EQ(session.passes(), 1);
  EXPECT_NEAR(std::accumulate(answer.probabilities.begin(), answer.probabilities.end(), 0.0), 1,
              1e-12);
  EXPECT_LE(answer.label_mass, 1.0);
}

TEST(ReadingsTest, NoneOfTheseIsBesideTheDistribution) {
  const auto model = TinyModel();
  const auto tokenizer = testing::MakeToyTokenizer();
  auto session = *DecisionSession::Make(model);
  const Question question = Fruits();
  const auto head = *MakeDecisionHead("label", tokenizer, {.none_option = "none of these"});
  const Answer found = head->Decide(session, Entry{"s"}, std::span(&question, 1))->answers[0];
  Question five = question;
  five.options.push_back({.name = "none of these"});
  const auto plain = *MakeDecisionHead("label", tokenizer);
  const Answer whole = plain->Decide(session, Entry{"s"}, std::span(&five, 1))->answers[0];
  EXPECT_EQ(found.none_probability, whole.probabilities[4]);
  ASSERT_EQ(found.probabilities.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(found.probabilities[i], whole.probabilities[i] / (1 - whole.probabilities[4]),
                1e-12);
  }
  EXPECT_EQ(found.abstain_reason, whole.chosen == 4 ? "none of the options" : "");
}

TEST(SelectTest, LimitsAndAbstention) {
  const struct {
    std::vector<double> yes;
    std::vector<bool> abstained;
    int min;
    std::optional<int> max;
    std::vector<bool> selected;
  } cases[] = {
      {{.9, .2, .6}, {false, false, false}, 0, {}, {true, false, true}},
      {{.9, .2, .6}, {false, false, false}, 0, 1, {true, false, false}},
      {{.4, .2, .3}, {false, false, false}, 2, {}, {true, false, true}},
      {{.4, .2, .3}, {false, false, false}, 0, {}, {false, false, false}},
      {{.9, .2, .6}, {true, false, false}, 0, {}, {false, false, true}},
      {{.9, .2, .6}, {true, false, false}, 2, {}, {false, true, true}},
      {{.9, .2, .6}, {true, false, false}, 3, {}, {true, true, true}},
      {{.5, .5, .5}, {false, false, false}, 0, 1, {false, true, false}},  // ties by name
  };
  for (const auto& c : cases) {
    Question select{.id = "s",
                    .type = QuestionType::kSelect,
                    .options = {{"b", {}}, {"a", {}}, {"c", {}}},
                    .min_selected = c.min,
                    .max_selected = c.max};
    std::vector<Answer> options;
    for (std::size_t i = 0; i < 3; ++i) {
      Answer answer = MakeAnswer(OptionQuestion(select, i), {1 - c.yes[i], c.yes[i]});
      answer.logprobs = {0, 0};
      if (c.abstained[i]) answer.abstain_reason = "x";
      options.push_back(answer);
    }
    const Answer answer = SelectAnswer(select, options);
    EXPECT_EQ(answer.selected, c.selected);
    EXPECT_EQ(answer.probabilities, c.yes);
    EXPECT_EQ(answer.option_abstained, c.abstained);
  }
}

TEST(SelectTest, InAndOut) {
  const auto request = ParseSystemOneRequest(
      R"({"state":"s","questions":{"t":{"type":"x_select","instructions":"Which?","min":1,"max":2,)"
      R"("criteria":{"a":null,"b":"bee"}}}})");
  ASSERT_TRUE(request) << ToString(request.error());
  const Question& question = request->questions[0];
  EXPECT_EQ(question.min_selected, 1);
  EXPECT_EQ(question.max_selected, 2);
  EXPECT_EQ(OptionQuestion(question, 1).instructions->text,
            "Which?\nDoes this option apply: b: bee");
  const auto model = TinyModel();
  const auto head = *MakeDecisionHead("auto", testing::MakeToyTokenizer());
  auto session = *DecisionSession::Make(model);
  const auto decided = head->Decide(session, request->state, request->questions);
  ASSERT_TRUE(decided);
  const std::string body = WriteSystemOneResponse(
      {.model = "m", .questions = request->questions, .answers = decided->answers}, true);
  EXPECT_NE(body.find(R"("type":"x_select","selected":[)"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("abstained":[])"), std::string::npos) << body;
  const struct {
    const char* keys;
    const char* place;
  } bad[] = {{R"("min":3)", "/questions/t/min"},         {R"("max":0)", "/questions/t/max"},
             {R"("min":2,"max":1)", "/questions/t/max"}, {R"("min":-1)", "/questions/t/min"},
             {R"("min":1.5)", "/questions/t/min"},       {R"("max":"2")", "/questions/t/max"},
             {R"("max":99999999)", "/questions/t/max"},  {R"("k":1)", "/questions/t/k"}};
  for (const auto& row : bad) {
    const auto refused = ParseSystemOneRequest(
        std::string(
            R"({"state":"s","questions":{"t":{"type":"x_select","criteria":{"a":null,"b":null},)") +
        row.keys + "}}}");
    ASSERT_FALSE(refused) << row.keys;
    EXPECT_EQ(refused.error().place, row.place);
  }
  EXPECT_FALSE(ParseSystemOneRequest(
      R"({"state":"s","questions":{"t":{"type":"choice","criteria":{"a":null},"min":1}}})"));
}

TEST(KeptStateTest, KeepsAsMuchAsFitsBetweenCharacters) {
  const std::string state = "aé日b🎯c";  // 1 + 2 + 3 + 1 + 4 + 1 bytes
  const struct {
    Truncate truncate;
    std::size_t room;
    std::string kept;
    std::size_t bytes;
  } cases[] = {
      {Truncate::kStateTail, 12, state, 12}, {Truncate::kStateTail, 7, "aé日b", 7},
      {Truncate::kStateTail, 5, "aé", 3},    {Truncate::kStateHead, 5, "🎯c", 5},
      {Truncate::kStateHead, 4, "c", 1},     {Truncate::kMiddle, 4 + 7, "aé\n[...]\nc", 4},
  };
  for (const auto& c : cases) {
    const auto kept = CutState(state, c.truncate, 1000,
                               [&](const std::string& text) { return text.size() <= c.room; });
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->text, c.kept);
    EXPECT_EQ(kept->truncation.kept_bytes, c.bytes);
    EXPECT_EQ(kept->truncation.state_bytes, 12U);
  }
  EXPECT_FALSE(
      CutState(state, Truncate::kStateTail, 1000, [](const std::string&) { return false; }));
}

TEST(KeptStateTest, TheAnswerIsThatOfTheKeptText) {
  const auto model = TinyModel(1, 300);
  const auto tokenizer = testing::MakeToyTokenizer();
  const Question question = Fruits();
  std::string state;
  for (int i = 0; i < 100; ++i) state += std::to_string(i) + " ";
  const auto plain = *MakeDecisionHead("auto", tokenizer);
  for (const Truncate truncate : {Truncate::kStateHead, Truncate::kStateTail, Truncate::kMiddle}) {
    const auto head = *MakeDecisionHead("auto", tokenizer, {.truncate = truncate});
    auto session = *DecisionSession::Make(model);
    EXPECT_EQ(plain->Decide(session, Entry{state}, std::span(&question, 1)).error().code,
              ErrorCode::kLimit);
    const auto decided = head->Decide(session, Entry{state}, std::span(&question, 1));
    ASSERT_TRUE(decided) << ToString(decided.error());
    EXPECT_EQ(decided->usage.prompt_tokens, 300)
        << "every byte is a token, so nothing is left free";
    ASSERT_TRUE(decided->answers[0].truncation);
    const std::size_t kept = decided->answers[0].truncation->kept_bytes;
    const std::string text =
        truncate == Truncate::kStateTail ? state.substr(0, kept)
        : truncate == Truncate::kStateHead
            ? state.substr(state.size() - kept)
            : state.substr(0, (kept + 1) / 2) + "\n[...]\n" + state.substr(state.size() - kept / 2);
    const auto same = plain->Decide(session, Entry{text}, std::span(&question, 1));
    ASSERT_TRUE(same) << ToString(same.error());
    EXPECT_EQ(same->answers[0].probabilities, decided->answers[0].probabilities);
    const auto huge =
        head->Decide(session, Entry{std::string(1 << 20, 'x')}, std::span(&question, 1));
    EXPECT_TRUE(huge) << ToString(huge.error());
    EXPECT_FALSE(
        head->Decide(session, Entry{"short"}, std::span(&question, 1))->answers[0].truncation);
  }
}

TEST(ExplainTest, PartsCoverTheState) {
  const struct {
    const char* state;
    ExplainUnit unit;
    std::vector<std::string> parts;
  } cases[] = {
      {"One. Two!  Three", ExplainUnit::kSentences, {"One. ", "Two!  ", "Three"}},
      {"v1.2 is out. Yes", ExplainUnit::kSentences, {"v1.2 is out. ", "Yes"}},
      {"a\nb\n", ExplainUnit::kSentences, {"a\n", "b\n"}},
      {"好。坏！", ExplainUnit::kSentences, {"好。", "坏！"}},
      {"one  two\nthree", ExplainUnit::kWords, {"one  ", "two\n", "three"}},
      {" a", ExplainUnit::kWords, {" ", "a"}},
      {"", ExplainUnit::kWords, {}},
      {"...", ExplainUnit::kSentences, {"..."}},
  };
  for (const auto& c : cases) {
    std::vector<std::string> parts;
    for (const auto& [begin, end] : SplitState(c.state, c.unit)) {
      parts.push_back(std::string(c.state).substr(begin, end - begin));
    }
    EXPECT_EQ(parts, c.parts) << c.state;
  }
}

TEST(ExplainTest, ImportanceIsTheLossWithoutThePartInOnePass) {
  const auto model = TinyModel();
  const auto head = *MakeDecisionHead("auto", testing::MakeToyTokenizer());
  const Entry state{"The lamp broke. I want money. Thanks."};
  const std::vector<Question> questions = {Fruits(), Question::Noul("n", "Hot?")};
  auto session = *DecisionSession::Make(model);
  const auto explained = Explain(session, *head, state, questions);
  ASSERT_TRUE(explained) << ToString(explained.error());
  EXPECT_EQ(session.passes(), 1);
  const std::string without[] = {"I want money. Thanks.", "The lamp broke. Thanks.",
                                 "The lamp broke. I want money. "};
  for (std::size_t q = 0; q < 2; ++q) {
    const Explanation& found = explained->questions[q];
    ASSERT_EQ(found.parts.size(), 3U);
    const auto chosen = static_cast<std::size_t>(found.answer.chosen);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto alone = head->Decide(session, Entry{without[i]}, std::span(&questions[q], 1));
      EXPECT_EQ(found.parts[i].importance,
                found.answer.probabilities[chosen] - alone->answers[0].probabilities[chosen]);
    }
  }
  const Question select = Select();
  EXPECT_EQ(Explain(session, *head, state, std::span(&select, 1)).error().code,
            ErrorCode::kUnsupported);
  const auto many = Explain(session, *head, state, questions, {.max_parts = 2});
  EXPECT_EQ(ToString(many.error()), "/state: 3 sentences; max_parts is 2");
}

}  // namespace
}  // namespace adjudge
