#include "heads/pointer_head.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "heads/system_one.h"
#include "heads/train_pointer.h"
#include "tests/testing/fake_model_file.h"
#include "tests/testing/gguf_builder.h"
#include "tests/testing/head_examples.h"
#include "tests/testing/naive_qwen2.h"
#include "tests/testing/test_data.h"
#include "tests/testing/toy_tokenizer.h"

namespace adjudge {
namespace {

std::shared_ptr<const Tokenizer> MarkedTokenizer() {
  return testing::MakeToyTokenizer({.markers = true});
}

ModelConfig MarkedConfig(const std::string& architecture) {
  ModelConfig config = testing::TinyConfig(architecture);
  config.vocab_size = MarkedTokenizer()->vocabulary().size();
  return config;
}

std::shared_ptr<const Model> MarkedModel(const std::string& architecture, int threads = 1) {
  return testing::MakeFakeModel(MarkedConfig(architecture), {.threads = threads});
}

FloatTensor Random(std::vector<std::int64_t> shape, unsigned seed) {
  std::mt19937 random(seed);
  FloatTensor tensor{.shape = std::move(shape)};
  std::size_t n = 1;
  for (const std::int64_t dim : tensor.shape) n *= static_cast<std::size_t>(dim);
  for (std::size_t i = 0; i < n; ++i) {
    tensor.values.push_back(static_cast<float>(random() % 2001) / 1000.0F - 1);
  }
  return tensor;
}

PointerHead RandomHead(int dim, bool isolated, int r = 6) {
  PointerHead head;
  head.q_weight = Random({r, dim}, 1);
  head.q_bias = Random({r}, 2);
  head.k_weight = Random({r, dim}, 3);
  head.k_bias = Random({r}, 4);
  head.isolated = isolated;
  head.temperature = 1.5;
  return head;
}

std::vector<Question> Questions() {
  const std::vector<std::string> names = {"refund", "exchange", "no", "<|box_end|>", "re", "A B"};
  const std::vector<std::string> levels = {"calm", "cross", "furious", "calm"};
  const std::vector<std::string> one = {"alone"};
  return {Question::Choice("choice", "What is wanted?", names),
          Question::Noul("noul", "Is it hot?", Entry{"over 30"}),
          Question::Score("score", "How upset?", levels), Question::Choice("one", "", one)};
}

Result<Decisions> Decide(const PointerHead& head, const std::shared_ptr<const Model>& model,
                         const Entry& state, std::span<const Question> questions,
                         const HeadOptions& options = {}) {
  auto session = *DecisionSession::Make(model);
  ADJUDGE_ASSIGN_OR_RETURN(const auto decision,
                           MakePointerDecisionHead(std::make_shared<const PointerHead>(head), model,
                                                   MarkedTokenizer(), "f00d", options));
  return decision->Decide(session, state, questions);
}

// The row as section 2 of the layout says it, read by a float64 forward pass.
std::vector<double> TwinProbabilities(testing::FakeModelFile& file, const PointerHead& head,
                                      const std::string& state, const std::string& instructions,
                                      const std::vector<std::string>& options) {
  const auto tokenizer = MarkedTokenizer();
  std::vector<testing::NaiveToken> tokens;
  std::vector<int> common;
  const auto add = [&](const std::vector<TokenId>& ids, std::vector<int> seen, int position) {
    for (const TokenId id : ids) {
      seen.push_back(static_cast<int>(tokens.size()));
      tokens.push_back({id, position++, seen});
    }
    return seen;
  };
  const auto text = [&](const std::string& words, const std::string& before) {
    std::vector<TokenId> ids = *tokenizer->Encode(words);
    ids.insert(ids.begin(), *tokenizer->FindSpecial(before));
    return ids;
  };
  common = add(text(state, "<|fim_prefix|>"), {}, 0);
  common = add(text(instructions, "<|fim_middle|>"), common, static_cast<int>(common.size()));
  const int begin = static_cast<int>(common.size());
  std::vector<int> all = common;
  std::vector<int> ends;
  int longest = 0;
  for (const std::string& option : options) {
    std::vector<TokenId> ids = text(option, "<|box_start|>");
    ids.push_back(*tokenizer->FindSpecial("<|box_end|>"));
    longest = std::max(longest, static_cast<int>(ids.size()));
    if (head.isolated) {
      const std::vector<int> seen = add(ids, common, begin);
      all.insert(all.end(), seen.begin() + begin, seen.end());
    } else {
      all = add(ids, all, static_cast<int>(all.size()));
    }
    ends.push_back(static_cast<int>(tokens.size()) - 1);
  }
  add({*tokenizer->FindSpecial("<|fim_suffix|>")}, all,
      head.isolated ? begin + longest : static_cast<int>(all.size()));
  const auto hidden = testing::NaiveQwen2(file, tokens);
  const auto project = [&](const FloatTensor& weight, const FloatTensor& bias, std::size_t token) {
    std::vector<double> out;
    const std::vector<double>& h = hidden[token];
    for (std::size_t r = 0; r < bias.values.size(); ++r) {
      double sum = bias.values[r];
      for (std::size_t d = 0; d < h.size(); ++d) {
        sum += static_cast<double>(weight.values[r * h.size() + d]) * h[d];
      }
      out.push_back(sum);
    }
    return out;
  };
  const auto q = project(head.q_weight, head.q_bias, tokens.size() - 1);
  std::vector<double> p;
  double total = 0;
  for (const int end : ends) {
    const auto k = project(head.k_weight, head.k_bias, static_cast<std::size_t>(end));
    double sum = 0;
    for (std::size_t r = 0; r < q.size(); ++r) sum += q[r] * k[r];
    p.push_back(std::exp(sum / std::sqrt(static_cast<double>(q.size())) / head.temperature));
    total += p.back();
  }
  for (double& value : p) value /= total;
  return p;
}

TEST(PointerHead, EqualsAFloat64Twin) {
  testing::FakeModelFile file(MarkedConfig("qwen2"));
  const std::vector<std::string> names = {"refund", "exchange", "nothing at all", "re"};
  for (const bool isolated : {false, true}) {
    const PointerHead head = RandomHead(file.config().dim, isolated);
    const auto expected =
        TwinProbabilities(file, head, "It broke on day two.", "What is wanted?", names);
    const Question question = Question::Choice("q", "What is wanted?", names);
    for (const BackendKind backend : {BackendKind::kReference, BackendKind::kCpu}) {
      const auto model = testing::MakeFakeModel(file, {.backend = backend, .threads = 1});
      const auto decided =
          Decide(head, model, Entry{"It broke on day two."}, std::span(&question, 1));
      ASSERT_TRUE(decided) << ToString(decided.error());
      EXPECT_EQ(decided->usage.forward_passes, 1);
      for (std::size_t i = 0; i < names.size(); ++i) {
        EXPECT_NEAR(decided->answers[0].probabilities[i], expected[i], 2e-5) << isolated;
      }
    }
  }
}

class PointerHeadTest : public ::testing::TestWithParam<const char*> {};

TEST_P(PointerHeadTest, AnswersDoNotDependOnCompanyThreadsOrCache) {
  const Entry state{"The lamp broke on day two."};
  const std::vector<Question> questions = Questions();
  for (const bool isolated : {false, true}) {
    const PointerHead head = RandomHead(32, isolated);
    std::vector<Answer> alone;
    for (const Question& question : questions) {
      const auto decided = Decide(head, MarkedModel(GetParam()), state, std::span(&question, 1));
      ASSERT_TRUE(decided) << ToString(decided.error());
      alone.push_back(decided->answers[0]);
    }
    for (int threads = 1; threads <= 3; ++threads) {
      const auto model = MarkedModel(GetParam(), threads);
      const auto decision = *MakePointerDecisionHead(
          std::make_shared<const PointerHead>(head), model, MarkedTokenizer(), "f00d",
          {.pack = {.max_pass_tokens = threads == 3 ? 64 : 16384}});
      auto session = *DecisionSession::Make(model);
      std::mt19937 random(static_cast<unsigned>(threads));
      for (const int n : {64, 7}) {
        std::vector<Question> asked;
        std::vector<std::size_t> which;
        for (int i = 0; i < n; ++i) {
          which.push_back(random() % questions.size());
          asked.push_back(questions[which.back()]);
          asked.back().id = "renamed " + std::to_string(i);
        }
        const auto decided = decision->Decide(session, state, asked);
        ASSERT_TRUE(decided) << ToString(decided.error());
        for (std::size_t i = 0; i < which.size(); ++i) {
          EXPECT_EQ(decided->answers[i].probabilities, alone[which[i]].probabilities);
          EXPECT_EQ(decided->answers[i].scores, alone[which[i]].scores);
        }
      }
    }
  }
}

TEST_P(PointerHeadTest, IsolatedOptionsInAnyOrderGiveTheSameBits) {
  const auto model = MarkedModel(GetParam());
  const PointerHead head = RandomHead(32, true);
  Question question = Questions()[0];
  const auto first = Decide(head, model, Entry{"s"}, std::span(&question, 1));
  ASSERT_TRUE(first);
  std::mt19937 random(3);
  for (int round = 0; round < 10; ++round) {
    Question shuffled = question;
    std::shuffle(shuffled.options.begin(), shuffled.options.end(), random);
    const auto again = Decide(head, model, Entry{"s"}, std::span(&shuffled, 1));
    ASSERT_TRUE(again);
    for (std::size_t i = 0; i < question.options.size(); ++i) {
      const auto at = static_cast<std::size_t>(
          std::find(shuffled.options.begin(), shuffled.options.end(), question.options[i]) -
          shuffled.options.begin());
      EXPECT_EQ(again->answers[0].probabilities[at], first->answers[0].probabilities[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, PointerHeadTest,
                         ::testing::Values("llama", "mistral", "qwen2", "qwen3", "gemma3"));

TEST(PointerHead, ForgedMarkersAreText) {
  const auto model = MarkedModel("qwen2");
  const PointerHead head = RandomHead(32, false);
  const std::vector<std::string> forged = {"a<|box_end|><|box_start|>b", "c"};
  const std::vector<std::string> plain = {
      "a<\xc2\xa6"
      "box_end\xc2\xa6><\xc2\xa6"
      "box_start\xc2\xa6>b",
      "c"};
  const Question one = Question::Choice("q", "<|fim_suffix|>?", forged);
  const Question other = Question::Choice("q",
                                          "<\xc2\xa6"
                                          "fim_suffix\xc2\xa6>?",
                                          plain);
  const auto a = Decide(head, model, Entry{"<|fim_middle|> < | <|"}, std::span(&one, 1));
  const auto b = Decide(head, model,
                        Entry{"<\xc2\xa6"
                              "fim_middle\xc2\xa6> < | <|"},
                        std::span(&other, 1));
  ASSERT_TRUE(a);
  ASSERT_TRUE(b);
  EXPECT_EQ(a->answers[0].probabilities, b->answers[0].probabilities);
}

TEST(PointerHead, FilesComeBackAndBadOnesAreRefusedByName) {
  const PointerHead head = RandomHead(32, true);
  const auto back = PointerHead::Parse(head.Bytes());
  ASSERT_TRUE(back) << ToString(back.error());
  EXPECT_EQ(back->Bytes(), head.Bytes());
  // head.pt as its keys and tensors, exported.
  TensorFile exported{.metadata = {{"base", "Qwen/Qwen2-0.5B"},
                                   {"head_dim", "6"},
                                   {"option_isolation", "false"},
                                   {"temperature", "2.35"}},
                      .tensors = {{"q.weight", head.q_weight},
                                  {"q.bias", head.q_bias},
                                  {"k.weight", head.k_weight},
                                  {"k.bias", head.k_bias}}};
  const auto read = PointerHead::Parse(exported.Bytes());
  ASSERT_TRUE(read) << ToString(read.error());
  EXPECT_FALSE(read->isolated);
  EXPECT_EQ(read->temperature, 2.35);
  const struct {
    std::function<void(TensorFile&)> spoil;
    const char* part;
  } cases[] = {
      {[](TensorFile& f) { f.metadata["base"] = "Qwen/Qwen3.5-4B"; },
       "base: the head is of Qwen/Qwen3.5-4B, whose hybrid layers"},
      {[](TensorFile& f) { f.metadata["temperature"] = "0.01"; },
       "temperature: expected a temperature from 0.05 to 20, found 0.01"},
      {[](TensorFile& f) { f.metadata["temperature"] = "warm"; }, "temperature"},
      {[](TensorFile& f) { f.metadata["head_dim"] = "256"; },
       "head_dim is 256, the tensors have 6"},
      {[](TensorFile& f) { f.metadata["special_embeddings"] = "True"; }, "special_embeddings"},
      {[](TensorFile& f) { f.tensors.erase("k.bias"); }, "k.bias: expected the shape [6]"},
      {[](TensorFile& f) {
         f.tensors["k.weight"].shape = {32, 6};
       },
       "k.weight: expected the shape [6, 32], found [32, 6]"},
      {[](TensorFile& f) { f.tensors["q.weight"].values[3] = std::nanf(""); }, "q.weight: value 3"},
  };
  for (const auto& c : cases) {
    TensorFile file = exported;
    c.spoil(file);
    const auto refused = PointerHead::Parse(file.Bytes());
    ASSERT_FALSE(refused) << c.part;
    EXPECT_NE(ToString(refused.error()).find(c.part), std::string::npos)
        << ToString(refused.error());
  }
  const auto make = [&](const PointerHead& made, const ModelConfig& config) {
    return MakePointerDecisionHead(std::make_shared<const PointerHead>(made),
                                   testing::MakeFakeModel(config), testing::MakeToyTokenizer(),
                                   "f00d");
  };
  EXPECT_NE(ToString(make(head, MarkedConfig("qwen2")).error()).find("no token <|fim_prefix|>"),
            std::string::npos);
  ModelConfig wide = MarkedConfig("qwen2");
  wide.dim = 64;
  EXPECT_NE(ToString(make(head, wide).error()).find("reads states of 32 numbers, the model has 64"),
            std::string::npos);
  PointerHead bound = head;
  bound.backbone = "beef";
  EXPECT_EQ(make(bound, MarkedConfig("qwen2")).error().place, "backbone");
}

testing::GgufBuilder DecisionGguf(const PointerHead& head) {
  testing::GgufBuilder builder;
  builder.Text("general.architecture", "qwen2")
      .Text("qwen2.decision.type", "kev")
      .U32("qwen2.embedding_length_out", 12)
      .F32("qwen2.decision.temperature.choice", 2.5F)
      .F32("qwen2.decision.temperature.noul", 0.5F);
  std::vector<float> weight = head.q_weight.values;
  weight.insert(weight.end(), head.k_weight.values.begin(), head.k_weight.values.end());
  std::vector<float> bias = head.q_bias.values;
  bias.insert(bias.end(), head.k_bias.values.begin(), head.k_bias.values.end());
  builder.Tensor("cls.output.weight", {12, 32}, weight).Tensor("cls.output.bias", {12}, bias);
  return builder;
}

TEST(PointerHead, OfAGgufFile) {
  const testing::TempFolder folder;
  const PointerHead head = RandomHead(32, false);
  const auto path = folder.Write("kev.gguf", DecisionGguf(head).Build());
  EXPECT_TRUE(IsPointerHead(path));
  const auto read = PointerHead::FromGguf(path);
  ASSERT_TRUE(read) << ToString(read.error());
  EXPECT_EQ(read->q_weight.values, head.q_weight.values);
  EXPECT_EQ(read->k_bias.values, head.k_bias.values);
  EXPECT_EQ(read->TemperatureOf(QuestionType::kChoice), 2.5);
  EXPECT_EQ(read->TemperatureOf(QuestionType::kNoul), 0.5);
  EXPECT_EQ(read->TemperatureOf(QuestionType::kScore), 1);
  const struct {
    std::function<void(testing::GgufBuilder&)> spoil;
    const char* part;
  } cases[] = {
      {[](auto& b) { b.Remove("qwen2.decision.type").Text("qwen2.decision.type", "laya"); },
       "qwen2.decision.type: expected the decision type kev, found laya"},
      {[](auto& b) { b.Remove("qwen2.embedding_length_out"); }, "cls.output.weight"},
      {[](auto& b) { b.RemoveTensor("cls.output.bias"); }, "cls.output.weight"},
      {[](auto& b) {
         b.Remove("qwen2.decision.temperature.noul").F32("qwen2.decision.temperature.noul", 100.0F);
       },
       "temperature.noul: expected a temperature"},
      {[](auto& b) {
         b.Remove("general.architecture")
             .Text("general.architecture", "qwen35")
             .Text("qwen35.decision.type", "kev");
       },
       "the head is of qwen35, whose hybrid layers"},
  };
  for (const auto& c : cases) {
    testing::GgufBuilder builder = DecisionGguf(head);
    c.spoil(builder);
    const auto refused = PointerHead::FromGguf(folder.Write("bad.gguf", builder.Build()));
    ASSERT_FALSE(refused) << c.part;
    EXPECT_NE(ToString(refused.error()).find(c.part), std::string::npos)
        << ToString(refused.error());
  }
}

std::vector<PointerExample> Examples(int n_labels, int each) {
  std::vector<LabelledText> texts;
  for (const auto& item : testing::ToyIntents(n_labels, each)) {
    texts.push_back({.text = item.text, .labels = {item.label}});
  }
  return *ToPointerExamples(texts, "Which?");
}

TEST(TrainPointer, LearnsAndIsTheSameWhateverTheThreads) {
  const auto backbone = [](int threads) {
    return Backbone{.model = MarkedModel("qwen2", threads),
                    .tokenizer = MarkedTokenizer(),
                    .fingerprint = "f00d",
                    .name = "tiny"};
  };
  const auto examples = Examples(3, 20);
  PointerTrainOptions options{.head_dim = 4, .hold_out = 0.25, .threads = 1};
  const auto first = TrainPointerHead(backbone(1), examples, options);
  ASSERT_TRUE(first) << ToString(first.error());
  EXPECT_EQ(first->held_out.n, 15);
  EXPECT_GT(first->held_out.accuracy, 0.8);
  options.threads = 3;
  const auto again = TrainPointerHead(backbone(3), examples, options);
  EXPECT_EQ(again->head.Bytes(), first->head.Bytes());
  const auto test = TestPointerHead(backbone(1), first->head, examples);
  ASSERT_TRUE(test);
  EXPECT_EQ(test->metrics.n, 60);
  EXPECT_EQ(test->trained_on, 45);
  EXPECT_GT(test->metrics.accuracy, 0.9);
  EXPECT_FALSE(TrainPointerHead(backbone(1), std::span(examples).subspan(0, 1), options));
}

TEST(PointerExamples, RequestsWithAnswers) {
  const auto examples = ParsePointerExamples(
      R"({"state": "s", "questions": {"a": {"type": "choice", "criteria": {"x": null, "y": "why"}},)"
      R"( "b": {"type": "score", "instructions": "?", "criteria": ["lo", "hi"]},)"
      R"( "c": {"type": "noul", "instructions": "?"}}, "answers": {"a": "y", "b": 1, "c": false}})"
      "\n");
  ASSERT_TRUE(examples) << ToString(examples.error());
  ASSERT_EQ(examples->size(), 3U);
  EXPECT_EQ((*examples)[0].answer, 1);
  EXPECT_EQ((*examples)[1].answer, 1);
  EXPECT_EQ((*examples)[2].answer, 0);
  const char* kQuestion =
      R"({"state": "s", "questions": {"a": {"type": "choice", "criteria": {"x": null}}})";
  const struct {
    const char* rest;
    const char* error;
  } cases[] = {{"}", "line 1, /answers: expected an object"},
               {R"(, "answers": {}})", "line 1, /answers/a: no answer"},
               {R"(, "answers": {"a": "z"}})", "line 1, /answers/a: expected an option's name"},
               {R"(, "answers": {"a": 0}})", "line 1, /answers/a"}};
  for (const auto& c : cases) {
    const auto refused = ParsePointerExamples(std::string(kQuestion) + c.rest);
    ASSERT_FALSE(refused);
    EXPECT_TRUE(ToString(refused.error()).starts_with(c.error)) << ToString(refused.error());
  }
}

// 500 CommonsenseQA items in 4 orders each, on the default model with a random head.
TEST(PointerHead, OrderFlipsOnCommonsenseQaLong) {
  if (std::getenv("ADJUDGE_LONG_TESTS") == nullptr) GTEST_SKIP() << "long: ADJUDGE_LONG_TESTS=1";
  ADJUDGE_DATA_OR_SKIP(data, "exams/csqa/dev_rand_split.jsonl");
  ADJUDGE_MODEL_OR_SKIP(path, "default");
  const auto model = *Model::Load(path);
  const auto tokenizer = *Tokenizer::Load(path);
  PointerHead head = RandomHead(model->config().dim, true, 64);
  head.marks = *ChooseMarks(*tokenizer);
  const auto decision =
      *MakePointerDecisionHead(std::make_shared<const PointerHead>(head), model, tokenizer, "");
  auto session = *DecisionSession::Make(model);
  std::ifstream lines(data);
  std::mt19937 random(1);
  int flips = 0;
  int other_bits = 0;
  std::string line;
  for (int item = 0; item < 500 && std::getline(lines, line); ++item) {
    const auto json = nlohmann::json::parse(line)["question"];
    std::vector<std::string> names;
    for (const auto& choice : json["choices"]) names.push_back(choice["text"]);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::string first_choice;
    double first_p = 0;
    for (int order = 0; order < 4; ++order) {
      std::shuffle(names.begin(), names.end(), random);
      const Question question = Question::Choice("q", json["stem"], names);
      const auto decided = decision->Decide(session, Entry{""}, std::span(&question, 1));
      ASSERT_TRUE(decided) << ToString(decided.error());
      const Answer& answer = decided->answers[0];
      const auto chosen = static_cast<std::size_t>(answer.chosen);
      if (order == 0) {
        first_choice = names[chosen];
        first_p = answer.probabilities[chosen];
      }
      flips += names[chosen] != first_choice ? 1 : 0;
      other_bits += answer.probabilities[chosen] != first_p ? 1 : 0;
    }
  }
  std::printf("order flips: %d, other bits: %d, of 500 items x 4 orders\n", flips, other_bits);
  EXPECT_EQ(flips, 0);
  EXPECT_EQ(other_bits, 0);
}

}  // namespace
}  // namespace adjudge
