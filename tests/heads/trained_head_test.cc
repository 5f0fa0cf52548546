#include "heads/trained_head.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "heads/train_head.h"
#include "tests/testing/head_examples.h"
#include "tests/testing/test_data.h"
#include "tests/testing/toy_tokenizer.h"

namespace adjudge {
namespace {

std::vector<LabelledText> Intents(int n_labels, int each) {
  std::vector<LabelledText> texts;
  for (const auto& item : testing::ToyIntents(n_labels, each)) {
    texts.push_back({.text = item.text, .labels = {item.label}});
  }
  return texts;
}

Backbone MakeBackbone(const std::string& architecture = "llama", int threads = 1) {
  return {.model = testing::TinyBackbone(architecture, threads),
          .tokenizer = testing::MakeToyTokenizer(),
          .fingerprint = "f00d",
          .name = "tiny",
          .precision = "default"};
}

TrainOptions Quick() {
  TrainOptions options;
  options.spec.prefix = "Text: ";
  options.layers = {{1, 2}};
  options.decays = {1e-2};
  options.folds = 3;
  options.threads = 1;
  return options;
}

TrainedHead Trained(const TrainOptions& options = Quick(), int n_labels = 3) {
  auto result = TrainHead(MakeBackbone(), Intents(n_labels, 8), options);
  EXPECT_TRUE(result) << ToString(result.error());
  return std::move(result->head);
}

// States of texts computed together must be the bits of each computed alone.
class TextStatesTest : public ::testing::TestWithParam<const char*> {};

TEST_P(TextStatesTest, VectorsDoNotDependOnCompanyOrThreads) {
  std::vector<std::string> texts;
  for (int i = 0; i < 65; ++i)
    texts.push_back(std::string(static_cast<std::size_t>(i % 17 + 1), 'a') + " the " +
                    std::to_string(i * 7919));
  for (const Pooling pooling : {Pooling::kMean, Pooling::kLast, Pooling::kMax, Pooling::kRow}) {
    const StateSpec spec{.layers = {1, 3}, .pooling = pooling, .prefix = "It is: ", .suffix = " ?"};
    std::vector<std::vector<float>> alone;
    for (int threads = 1; threads <= 3; ++threads) {
      const auto states = *TextStates::Make(testing::TinyBackbone(GetParam(), threads),
                                            testing::MakeToyTokenizer(), spec);
      if (threads == 1) {
        for (const std::string& text : texts) {
          const std::string_view view = text;
          alone.push_back(states.Compute(std::span(&view, 1))->values);
        }
      }
      std::mt19937 random(static_cast<unsigned>(threads));
      for (const int n : {1, 2, 5, 65}) {
        std::vector<std::size_t> order(texts.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), random);
        std::vector<std::string_view> views;
        for (int i = 0; i < n; ++i) views.push_back(texts[order[static_cast<std::size_t>(i)]]);
        for (const int pass : {1, 40, 4096}) {
          const auto rows = states.Compute(views, {.max_pass_tokens = pass});
          ASSERT_TRUE(rows) << ToString(rows.error());
          for (std::size_t i = 0; i < views.size(); ++i) {
            const auto width = static_cast<std::size_t>(states.width());
            const std::vector<float> row(
                rows->values.begin() + static_cast<std::ptrdiff_t>(i * width),
                rows->values.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
            ASSERT_EQ(row, alone[order[i]]) << ToString(pooling) << ", pass of " << pass;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, TextStatesTest,
                         ::testing::Values("llama", "mistral", "qwen2", "qwen3", "gemma3"));

TEST(TextStates, AreTheModelsOwnHiddenStates) {
  const auto model = testing::TinyBackbone("llama", 1, BackendKind::kReference);
  const auto tokenizer = testing::MakeToyTokenizer();
  const auto states =
      *TextStates::Make(model, tokenizer, {.layers = {2}, .prefix = "ab", .suffix = "c"});
  const std::string_view text = "xyz";
  const auto rows = states.Compute(std::span(&text, 1));
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->usage.forward_passes, 1);
  EXPECT_EQ(rows->usage.prompt_tokens, 6);
  // The same row as one plain sequence through the whole model.
  const auto cache = *model->NewCache();
  Sequence sequence = cache->NewSequence();
  Batch batch;
  ASSERT_TRUE(
      batch.Add(sequence, *tokenizer->Encode("abxyzc"), {.rows = {2, 3, 4}, .hidden_layers = {1}}));
  const auto output = *model->Forward(batch);
  const auto dim = static_cast<std::size_t>(model->config().dim);
  for (std::size_t d = 0; d < dim; ++d) {
    double sum = 0;
    for (std::size_t row = 0; row < 3; ++row) {
      sum += output.entries[0].hidden_layers[row * dim + d];
    }
    EXPECT_EQ(rows->values[d], static_cast<float>(sum / 3));
  }
}

TEST(TextStates, BadTextsAndLayersAreRefused) {
  const auto make = [](StateSpec spec) {
    return TextStates::Make(testing::TinyBackbone("llama"), testing::MakeToyTokenizer(),
                            std::move(spec));
  };
  EXPECT_EQ(make({.layers = {}}).error().place, "layers");
  EXPECT_EQ(ToString(make({.layers = {4}}).error()),
            "layers: expected layers from 1 to 3, found 4");
  EXPECT_FALSE(make({.layers = {0}}));
  EXPECT_FALSE(make({.layers = {2, 2}}));
  const auto states = *make({.layers = {1}, .prefix = "p"});
  const std::string longest(255, 'x');
  const std::string longer(256, 'x');
  const std::vector<std::string_view> good = {longest};
  EXPECT_TRUE(states.Compute(good));
  const std::vector<std::string_view> empty = {"a", ""};
  EXPECT_EQ(states.Compute(empty).error().place, "text 1");
  const std::vector<std::string_view> invalid = {"a", "b", "\xff"};
  EXPECT_EQ(states.Compute(invalid).error().place, "text 2");
  const std::vector<std::string_view> over = {longer};
  const auto refused = states.Compute(over);
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  EXPECT_NE(refused.error().message.find("257"), std::string::npos) << refused.error().message;
  const std::string huge(100 << 20, 'x');
  const std::vector<std::string_view> megabytes = {huge};
  EXPECT_EQ(states.Compute(megabytes).error().code, ErrorCode::kLimit);
}

TEST(TrainHead, IsTheSameToTheBitWhateverThreadsOrderAndCache) {
  const std::vector<LabelledText> texts = Intents(4, 12);
  for (const HeadForm form : {HeadForm::kLinear, HeadForm::kHidden, HeadForm::kLowRank,
                              HeadForm::kCentroid, HeadForm::kNearest}) {
    TrainOptions options = Quick();
    options.form = form;
    options.rows = 4;
    options.seed = 5;
    const auto first = TrainHead(MakeBackbone(), texts, options);
    ASSERT_TRUE(first) << ToString(first.error());
    EXPECT_GT(first->held_out.accuracy, 0.5) << ToString(form);
    const testing::TempFolder folder;
    for (int threads = 2; threads <= 3; ++threads) {
      options.threads = threads;
      options.cache = folder.path();
      std::vector<LabelledText> shuffled = texts;
      std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(7));
      const auto again = TrainHead(MakeBackbone("llama", threads), shuffled, options);
      ASSERT_TRUE(again) << ToString(again.error());
      EXPECT_EQ(again->head.Bytes(), first->head.Bytes()) << ToString(form);
      EXPECT_EQ(again->states_cached, threads == 2 ? 0 : static_cast<int>(texts.size()));
      EXPECT_EQ(again->usage.forward_passes == 0, threads == 3);
    }
    options.seed = 6;
    EXPECT_NE(TrainHead(MakeBackbone(), texts, options)->head.Bytes(), first->head.Bytes());
  }
}

TEST(TrainHead, HoldsOutWhatItCalibratesOn) {
  const std::vector<LabelledText> texts = Intents(3, 20);
  TrainOptions options = Quick();
  options.hold_out = 0.2;
  const auto result = TrainHead(MakeBackbone(), texts, options);
  ASSERT_TRUE(result) << ToString(result.error());
  EXPECT_EQ(result->held_out.n, 12);
  EXPECT_EQ(result->head.training_items.size(), 48U);
  int seen = 0;
  for (const LabelledText& text : texts) seen += result->head.TrainedOn(text.text) ? 1 : 0;
  EXPECT_EQ(seen, 48);
  EXPECT_FALSE(result->head.TrainedOn("something else"));
  EXPECT_EQ(TrainHead(MakeBackbone(), texts, Quick())->held_out.n, 60);
}

TEST(TrainHead, LabelKinds) {
  std::vector<LabelledText> ordered = Intents(3, 12);
  TrainOptions options = Quick();
  options.kind = LabelKind::kOrdinal;
  EXPECT_EQ(TrainHead(MakeBackbone(), ordered, options).error().place, "labels");
  options.labels = {"label 0", "label 1", "label 2"};
  const auto ordinal = TrainHead(MakeBackbone(), ordered, options);
  ASSERT_TRUE(ordinal) << ToString(ordinal.error());
  EXPECT_GT(ordinal->held_out.accuracy, 0.5);
  const std::vector<float>& thresholds = ordinal->head.model.tensors.at("thresholds").values;
  EXPECT_TRUE(std::is_sorted(thresholds.begin(), thresholds.end()));

  options.kind = LabelKind::kBinary;
  EXPECT_FALSE(TrainHead(MakeBackbone(), ordered, options)) << "three labels";
  options.labels = {"label 1", "label 0"};
  const auto binary = TrainHead(MakeBackbone(), Intents(2, 12), options);
  ASSERT_TRUE(binary) << ToString(binary.error());
  EXPECT_GT(binary->held_out.accuracy, 0.8);
  EXPECT_EQ(QuestionOf(binary->head, "q").type, QuestionType::kNoul);

  options.kind = LabelKind::kMultiLabel;
  options.labels.clear();
  std::vector<LabelledText> several = Intents(3, 12);
  for (LabelledText& text : several) {
    if (text.labels[0] == "label 2") text.labels = {"label 0", "label 1"};
  }
  const auto multi = TrainHead(MakeBackbone(), several, options);
  ASSERT_TRUE(multi) << ToString(multi.error());
  EXPECT_GT(multi->held_out.accuracy, 0.5);
  const Backbone backbone = MakeBackbone();
  const auto trained = std::make_shared<const TrainedHead>(multi->head);
  const auto head = *MakeTrainedDecisionHead(trained, backbone.model, backbone.tokenizer, "f00d");
  auto session = *DecisionSession::Make(backbone.model);
  const Question select = QuestionOf(*trained, "q");
  EXPECT_EQ(select.type, QuestionType::kSelect);
  const auto both = head->Decide(session, Entry{"1111 number 50"}, std::span(&select, 1));
  ASSERT_TRUE(both) << ToString(both.error());
  EXPECT_EQ(both->answers[0].selected, (std::vector<bool>{true, true}));
  EXPECT_TRUE(both->answers[0].logprobs.empty());
  EXPECT_FALSE(both->answers[0].label_mass);
}

TEST(TrainHead, BadInputIsRefusedByName) {
  const std::vector<LabelledText> texts = Intents(3, 4);
  const struct {
    std::function<void(TrainOptions&, std::vector<LabelledText>&)> change;
    const char* part;
  } cases[] = {
      {[](TrainOptions& o, auto&) { o.layers = {}; }, "layers: expected layers, found none"},
      {[](TrainOptions& o, auto&) { o.layers = {{9}}; }, "from 1 to 3, found 9"},
      {[](TrainOptions& o, auto&) { o.folds = 1; }, "folds: expected 2 to 100 folds, found 1"},
      {[](TrainOptions& o, auto&) { o.decays = {-1}; }, "decays: expected positive"},
      {[](TrainOptions& o, auto&) { o.hold_out = 0.9; }, "hold_out"},
      {[](TrainOptions& o, auto&) {
         o.labels = {"label 0", "label 1"};
       },
       "the label \"label 2\" is none of the head's"},
      {[](TrainOptions& o, auto&) {
         o.labels = {"a", "a"};
       },
       "labels: a label is named twice"},
      {[](TrainOptions& o, auto&) { o.max_labels = 2; }, "labels: 3 labels; max_labels is 2"},
      {[](TrainOptions& o, auto&) { o.max_state_bytes = 1000; }, "max_state_bytes is 1000"},
      {[](TrainOptions& o, auto&) {
         o.kind = LabelKind::kOrdinal;
         o.form = HeadForm::kCentroid;
         o.labels = {"label 0", "label 1", "label 2"};
       },
       "form centroid has multiclass labels"},
      {[](TrainOptions&, auto& t) { t.resize(1); }, "expected at least 2 texts, found 1"},
      {[](TrainOptions&, auto& t) {
         for (auto& text : t) text.labels = {"same"};
       },
       "labels: expected at least 2 labels, found 1"},
      {[](TrainOptions&, auto& t) {
         t[5].labels = {"a", "b"};
       },
       "text 5: expected one label, found 2"},
      {[](TrainOptions&, auto& t) { t[4].text = ""; }, "text 4: expected a text"},
  };
  for (const auto& c : cases) {
    TrainOptions options = Quick();
    std::vector<LabelledText> changed = texts;
    c.change(options, changed);
    const auto refused = TrainHead(MakeBackbone(), changed, options);
    ASSERT_FALSE(refused) << c.part;
    EXPECT_NE(ToString(refused.error()).find(c.part), std::string::npos)
        << ToString(refused.error());
  }
  TrainOptions options = Quick();
  const std::atomic<bool> cancelled = true;
  options.cancel = &cancelled;
  EXPECT_EQ(TrainHead(MakeBackbone(), texts, options).error().code, ErrorCode::kCancelled);
}

// The regularised loss that a head's weights are to minimise, from its scores alone.
double Loss(const HeadModel& model, const std::vector<std::vector<float>>& states,
            const std::vector<std::vector<int>>& labels, double decay) {
  double loss = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::vector<std::vector<double>> p = {
        Calibration{.labels = model.kind}.Probabilities(model.Scores(states[i]))};
    loss += MeasureClassifier(model.kind, p, std::span(&labels[i], 1)).nll;
  }
  loss /= static_cast<double>(states.size());
  for (const char* name : {"weight", "down"}) {
    const auto found = model.tensors.find(name);
    if (found == model.tensors.end()) continue;
    for (const float value : found->second.values) {
      loss += 0.5 * decay * static_cast<double>(value) * static_cast<double>(value);
    }
  }
  return loss;
}

TEST(TrainHead, NoChangeOfAWeightLowersTheLoss) {
  const struct {
    LabelKind kind;
    HeadForm form;
    int n_labels;
  } cases[] = {{LabelKind::kMultiClass, HeadForm::kLinear, 3},
               {LabelKind::kMultiClass, HeadForm::kLowRank, 3},
               {LabelKind::kMultiClass, HeadForm::kHidden, 3},
               {LabelKind::kBinary, HeadForm::kLinear, 2},
               {LabelKind::kOrdinal, HeadForm::kLinear, 4},
               {LabelKind::kMultiLabel, HeadForm::kLinear, 3}};
  for (const auto& c : cases) {
    const std::vector<LabelledText> texts = Intents(c.n_labels, 8);
    TrainOptions options = Quick();
    options.kind = c.kind;
    options.form = c.form;
    options.rows = 2;
    options.decays = {0.05};
    options.max_iterations = 2000;
    for (int i = 0; i < c.n_labels; ++i) options.labels.push_back("label " + std::to_string(i));
    const auto trained = TrainHead(MakeBackbone(), texts, options);
    ASSERT_TRUE(trained) << ToString(trained.error());
    HeadModel model = trained->head.model;
    const auto states =
        *TextStates::Make(MakeBackbone().model, testing::MakeToyTokenizer(), trained->head.spec);
    std::vector<std::vector<float>> rows;
    std::vector<std::vector<int>> labels;
    for (const LabelledText& text : texts) {
      const std::string_view view = text.text;
      rows.push_back(states.Compute(std::span(&view, 1))->values);
      labels.push_back({text.labels[0].back() - '0'});
    }
    const double loss = Loss(model, rows, labels, 0.05);
    std::mt19937 random(11);
    for (auto& [name, tensor] : model.tensors) {
      if (name == "mean" || name == "scale") continue;
      for (int tried = 0; tried < 12; ++tried) {
        float& value = tensor.values[random() % tensor.values.size()];
        const float kept = value;
        for (const float change : {-0.02F, 0.02F}) {
          value = kept + change;
          EXPECT_GT(Loss(model, rows, labels, 0.05), loss - 2e-5)
              << ToString(c.kind) << " " << ToString(c.form) << " " << name;
        }
        value = kept;
      }
    }
  }
}

// A file cut anywhere, as a kill or a power cut leaves it, is gone on with.
TEST(StateCache, GoesOnAfterAKillAtAnyByte) {
  const testing::TempFolder folder;
  TrainOptions options = Quick();
  options.layers = {{1}};
  options.cache = folder.path();
  const std::vector<LabelledText> texts = Intents(2, 2);
  const std::string whole = TrainHead(MakeBackbone(), texts, options)->head.Bytes();
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) file = entry.path();
  const std::string bytes = testing::ReadFile(file);
  ASSERT_GT(bytes.size(), 100U);
  for (std::size_t n = 0; n < bytes.size(); n += n < 80 ? 1 : 37) {
    std::ofstream(file, std::ios::binary) << bytes.substr(0, n);
    const auto again = TrainHead(MakeBackbone(), texts, options);
    ASSERT_TRUE(again) << n << ": " << ToString(again.error());
    EXPECT_EQ(again->head.Bytes(), whole) << n;
    EXPECT_EQ(testing::ReadFile(file).size(), bytes.size()) << n;
  }
  // A record whose bytes rotted is computed again; a file that is something else is refused.
  std::string rotten = bytes;
  rotten[rotten.size() - 50] ^= 1;
  std::ofstream(file, std::ios::binary) << rotten;
  EXPECT_EQ(TrainHead(MakeBackbone(), texts, options)->states_cached, 3);
  std::ofstream(file, std::ios::binary) << std::string(200, 'x');
  EXPECT_EQ(TrainHead(MakeBackbone(), texts, options).error().code, ErrorCode::kMalformed);
}

TEST(StateCache, AFullDiskLosesNothing) {
  const testing::TempFolder folder;
  TrainOptions options = Quick();
  options.layers = {{1}};
  options.cache = folder.path();
  const std::vector<LabelledText> few = Intents(2, 3);
  const auto small = TrainHead(MakeBackbone(), few, options);
  ASSERT_TRUE(small);
  // A limit on the size of files stands for the end of the disk.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 4000;
  setrlimit(RLIMIT_FSIZE, &limit);
  const std::vector<LabelledText> many = Intents(2, 40);
  const auto full = TrainHead(MakeBackbone(), many, options);
  limit.rlim_cur = 100;
  setrlimit(RLIMIT_FSIZE, &limit);
  const Status unwritten = small->head.Write(folder.path() / "head");
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::kIo);
  EXPECT_NE(full.error().message.find("states of 6 texts are kept"), std::string::npos)
      << full.error().message;
  ASSERT_FALSE(unwritten);
  EXPECT_EQ(unwritten.error().code, ErrorCode::kIo);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "head"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "nothing half-written is left";
  const auto again = TrainHead(MakeBackbone(), many, options);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->states_cached, 6);
}

TEST(TrainedHeadFile, ComesBackWhole) {
  for (const CalibrationKind kind :
       {CalibrationKind::kNone, CalibrationKind::kTemperature, CalibrationKind::kVector,
        CalibrationKind::kPlatt, CalibrationKind::kIsotonic, CalibrationKind::kBeta}) {
    TrainOptions options = Quick();
    options.calibration = kind;
    options.spec.suffix = "\n\"quoted\" \xc3\xa9";
    const TrainedHead head = Trained(options);
    const testing::TempFolder folder;
    ASSERT_TRUE(head.Write(folder.path() / "a.head"));
    const auto read = TrainedHead::Read(folder.path() / "a.head");
    ASSERT_TRUE(read) << ToString(read.error());
    EXPECT_EQ(read->Bytes(), head.Bytes());
    EXPECT_EQ(read->Fingerprint(), head.Fingerprint());
    EXPECT_TRUE(IsTrainedHead(folder.path() / "a.head"));
    EXPECT_FALSE(IsTrainedHead(folder.path()));
    std::vector<float> state(static_cast<std::size_t>(head.model.width), 0.25F);
    EXPECT_EQ(read->Probabilities(state), head.Probabilities(state));
    double sum = 0;
    for (const double p : head.Probabilities(state)) sum += p;
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

// Each row spoils one thing of a good head.
TEST(TrainedHeadFile, BadFilesAreRefusedByName) {
  const TrainedHead good = Trained();
  const struct {
    std::function<void(TrainedHead&)> spoil;
    const char* part;
  } cases[] = {
      {[](TrainedHead& h) { h.model.tensors["bias"].values[1] = std::nanf(""); },
       "bias: value 1 is no finite number"},
      {[](TrainedHead& h) {
         h.model.tensors["weight"].values[0] = std::numeric_limits<float>::infinity();
       },
       "weight: value 0"},
      {[](TrainedHead& h) { h.model.tensors.erase("weight"); }, "weight: expected a tensor"},
      {[](TrainedHead& h) { h.model.tensors["weight"].shape = {3 * h.model.width}; },
       "weight: expected the shape [3, "},
      {[](TrainedHead& h) {
         h.model.tensors["extra"] = {{1}, {0.0F}};
       },
       "extra: a head of the form linear has no such tensor"},
      {[](TrainedHead& h) { h.labels[1] = h.labels[0]; }, "labels: expected distinct labels"},
      {[](TrainedHead& h) { h.labels.pop_back(); }, "expected the shape [2, "},
      {[](TrainedHead& h) { h.model.width = 7; }, "width: expected a width of"},
      {[](TrainedHead& h) { h.calibration.temperature = 0.01; },
       "calibration/temperature: expected a temperature from 0.05 to 20, found 0.01"},
      {[](TrainedHead& h) { h.calibration.temperature = 21; }, "found 21"},
      {[](TrainedHead& h) {
         h.calibration.kind = CalibrationKind::kPlatt;
         h.calibration.a = {1, 1};
         h.calibration.b = {0, 0, 0};
       },
       "calibration/a: expected a list of 3 numbers, found 2"},
      {[](TrainedHead& h) {
         h.calibration.kind = CalibrationKind::kIsotonic;
         h.calibration.steps = {{{0, .5}, {.5, .4}}, {{0, 0}}, {{0, 0}}};
       },
       "steps/0: expected ascending steps"},
  };
  for (const auto& c : cases) {
    TrainedHead head = good;
    c.spoil(head);
    const auto refused = TrainedHead::Parse(head.Bytes());
    ASSERT_FALSE(refused) << c.part;
    EXPECT_NE(ToString(refused.error()).find(c.part), std::string::npos)
        << ToString(refused.error());
  }
  const std::string bytes = good.Bytes();
  for (std::size_t n = 0; n < bytes.size(); n += 101) {
    EXPECT_FALSE(TrainedHead::Parse(bytes.substr(0, n))) << n;
  }
  TrainedHead limited = good;
  EXPECT_FALSE(TrainedHead::Parse(bytes, {.max_labels = 2}));
  EXPECT_TRUE(TrainedHead::Parse(bytes, {.max_labels = 3}));
  EXPECT_FALSE(TrainedHead::Parse(bytes, {.max_bytes = bytes.size() - 1}));
}

TEST(TrainedDecisions, AnswersDoNotDependOnIdsCompanyOrOrder) {
  const Backbone backbone = MakeBackbone();
  const auto trained = std::make_shared<const TrainedHead>(Trained());
  const auto head = MakeTrainedDecisionHead(trained, backbone.model, backbone.tokenizer, "f00d");
  ASSERT_TRUE(head) << ToString(head.error());
  auto session = *DecisionSession::Make(backbone.model);
  const Entry state{"AAAA number 99"};
  const Question question = QuestionOf(*trained, "q");
  const auto alone = (*head)->Decide(session, state, std::span(&question, 1));
  ASSERT_TRUE(alone) << ToString(alone.error());
  EXPECT_EQ(alone->usage.forward_passes, 1);
  EXPECT_EQ(alone->answers[0].head, "linear");
  EXPECT_EQ(alone->answers[0].temperature, trained->calibration.temperature);
  EXPECT_FALSE(alone->answers[0].label_mass);
  for (const int n : {1, 2, 17, 64}) {
    std::vector<Question> many;
    for (int i = 0; i < n; ++i) {
      many.push_back(question);
      many.back().id = "renamed " + std::to_string(i);
      std::rotate(many.back().options.begin(), many.back().options.begin() + i % 3,
                  many.back().options.end());
    }
    const auto packed = (*head)->Decide(session, state, many);
    ASSERT_TRUE(packed) << ToString(packed.error());
    EXPECT_EQ(packed->usage.forward_passes, 1);
    for (int i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(packed->answers[static_cast<std::size_t>(i)].probabilities[k],
                  alone->answers[0].probabilities[(k + static_cast<std::size_t>(i)) % 3]);
      }
    }
  }
}

TEST(TrainedDecisions, ManyRequestsInOnePassGiveTheSameBits) {
  const Backbone backbone = MakeBackbone();
  const auto trained = std::make_shared<const TrainedHead>(Trained());
  const auto head = *MakeTrainedDecisionHead(trained, backbone.model, backbone.tokenizer, "f00d");
  auto session = *DecisionSession::Make(backbone.model);
  std::vector<DecisionRequest> requests;
  for (int i = 0; i < 64; ++i) {
    requests.push_back({{"AAAA zz " + std::to_string(i * i)}, {QuestionOf(*trained, "q")}});
  }
  requests[3].state.text = "";
  requests[9].state.text = "\xff";
  requests[20].questions = {Question::Noul("q", "?")};
  const auto decided = head->DecideMany(session, requests);
  ASSERT_EQ(decided.size(), requests.size());
  int passes = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto alone = head->Decide(session, requests[i].state, requests[i].questions);
    ASSERT_EQ(decided[i].has_value(), alone.has_value()) << i;
    if (!alone) {
      EXPECT_EQ(ToString(decided[i].error()), ToString(alone.error())) << i;
      continue;
    }
    passes += decided[i]->usage.forward_passes;
    EXPECT_EQ(decided[i]->answers[0].probabilities, alone->answers[0].probabilities) << i;
    EXPECT_EQ(decided[i]->answers[0].scores, alone->answers[0].scores) << i;
  }
  EXPECT_EQ(passes, 1);
}

TEST(TrainedDecisions, OtherBackbonesAndOtherQuestionsAreRefused) {
  const Backbone backbone = MakeBackbone();
  const auto trained = std::make_shared<const TrainedHead>(Trained());
  const auto other = MakeTrainedDecisionHead(trained, backbone.model, backbone.tokenizer, "beef");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(other.error().message.find("trained on the model tiny (f00d)"), std::string::npos);
  const auto head = MakeTrainedDecisionHead(trained, backbone.model, backbone.tokenizer, "f00d");
  auto session = *DecisionSession::Make(backbone.model);
  const std::vector<std::string> two = {"label 0", "label 1"};
  const std::vector<std::string> wrong = {"label 0", "label 1", "label 9"};
  const std::vector<std::string> levels = {"label 0", "label 1", "label 2"};
  const struct {
    Question question;
    const char* place;
  } cases[] = {{Question::Choice("q", "?", two), "/questions/q/criteria"},
               {Question::Choice("q", "?", wrong), "/questions/q/criteria/label 9"},
               {Question::Score("q", "?", levels), "/questions/q/type"},
               {Question::Noul("q", "?"), "/questions/q/type"}};
  for (const auto& c : cases) {
    const auto refused = (*head)->Decide(session, Entry{"x"}, std::span(&c.question, 1));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().place, c.place);
  }
  const Question question = QuestionOf(*trained, "q");
  EXPECT_EQ((*head)->Decide(session, Entry{""}, std::span(&question, 1)).error().place, "/state");
}

TEST(CalibrationFiles, OfAnotherHeadAreRefused) {
  const TrainedHead head = Trained();
  CalibrationFile file{.head = head.Fingerprint(), .n = 12, .items = "abc"};
  file.calibration = {.kind = CalibrationKind::kTemperature, .temperature = 2.5};
  const auto read = ReadCalibrationFile(file.ToJson(), head);
  ASSERT_TRUE(read) << ToString(read.error());
  EXPECT_EQ(read->calibration.temperature, 2.5);
  EXPECT_EQ(read->n, 12);
  TrainOptions options = Quick();
  options.seed = 9;
  options.layers = {{2}};
  const auto refused = ReadCalibrationFile(file.ToJson(), Trained(options));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().place, "/head");
  for (const char* text : {"", "[]", "{}", "{\"adjudge_calibration\": 2}"}) {
    EXPECT_FALSE(ReadCalibrationFile(text, head)) << text;
  }
  file.calibration.temperature = 1e9;
  EXPECT_EQ(ReadCalibrationFile(file.ToJson(), head).error().place, "/calibration/temperature");
}

}  // namespace
}  // namespace adjudge
