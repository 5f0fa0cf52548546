// test-head: how a trained head does on labelled texts. calibrate: a calibration fitted to some.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

#include "cli/head_options.h"
#include "cli/interrupt.h"
#include "cli/json_output.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/verb.h"
#include "cli/words.h"
#include "engine/atomic_file.h"
#include "engine/fingerprint.h"
#include "heads/answer.h"
#include "heads/train_head.h"
#include "heads/train_pointer.h"

namespace adjudge::cli {
namespace {

struct Arguments {
  ModelArguments model;
  TextsArguments texts;
  std::string head;
  std::string test;
  std::string calibration;
  std::string out_of_scope;
  std::string kind = "temperature";
  std::string out;
  std::string instructions = "Which label fits?";
  bool json = false;
};

struct Loaded {
  LoadedModel model;
  Backbone backbone;
  std::shared_ptr<TrainedHead> head;
};

Outcome<Loaded> Load(const Arguments& arguments) {
  Loaded loaded;
  CLI_ASSIGN_OR_RETURN(loaded.head, ReadHead(arguments.head));
  if (!arguments.calibration.empty()) {
    CLI_RETURN_IF_ERROR(ApplyCalibration(arguments.calibration, *loaded.head));
  }
  CLI_ASSIGN_OR_RETURN(loaded.model, LoadModel(arguments.model));
  CLI_ASSIGN_OR_RETURN(loaded.backbone, ToBackbone(loaded.model, arguments.model));
  CLI_RETURN_IF_ERROR(
      OrExit(loaded.head->CheckBackbone(loaded.backbone.fingerprint, loaded.backbone.name).map([] {
        return true;
      }),
             kFailed, "--head: " + Printable(arguments.head)));
  return loaded;
}

Outcome<ScoredTexts> Score(const Loaded& loaded, const Arguments& arguments,
                           std::span<const LabelledText> texts) {
  const Interrupt interrupt;
  Stages stages(arguments.model.quiet);
  auto scored = ScoreTexts(loaded.backbone, *loaded.head, texts, CacheFolder(arguments.texts),
                           interrupt.flag(), stages.callback());
  if (!scored) return tl::unexpected<Failure>(TextsFailure(scored.error(), loaded.model));
  return std::move(*scored);
}

std::vector<std::vector<double>> Probabilities(const TrainedHead& head, const ScoredItems& items) {
  std::vector<std::vector<double>> p;
  for (const std::vector<double>& scores : items.scores) {
    p.push_back(head.calibration.Probabilities(scores));
  }
  return p;
}

// Quantities by which a text may show that it is in scope, each by its name.
std::map<std::string, std::vector<double>> ScopeOf(const std::vector<std::vector<double>>& p,
                                                   const ScoredItems& items) {
  std::map<std::string, std::vector<double>> scope;
  for (std::size_t i = 0; i < p.size(); ++i) {
    scope["top_probability"].push_back(*std::max_element(p[i].begin(), p[i].end()));
    scope["margin"].push_back(Margin(p[i]));
    scope["negative_entropy"].push_back(-Entropy(p[i]));
    scope["top_score"].push_back(*std::max_element(items.scores[i].begin(), items.scores[i].end()));
    scope["log_sum"].push_back(LogSumExp(items.scores[i]));
  }
  return scope;
}

// Splits the texts into those of a label that the head has and those of the out-of-scope label.
void SplitScope(const std::string& label, std::vector<LabelledText>& texts,
                std::vector<LabelledText>& outside) {
  if (label.empty()) return;
  const auto middle = std::stable_partition(texts.begin(), texts.end(), [&](const auto& text) {
    return text.labels != std::vector<std::string>{label};
  });
  outside.assign(middle, texts.end());
  texts.erase(middle, texts.end());
}

void WriteResult(Output& output, const Json& json, bool as_json) {
  if (as_json) {
    output.Write(Dump(json));
    return;
  }
  for (const auto& [key, value] : json.items()) {
    output.Write(Column(key, 20) + value.dump() + "\n");
  }
}

Outcome<int> RunPointerTest(const Arguments& arguments) {
  if (!arguments.calibration.empty() || !arguments.out_of_scope.empty()) {
    return UsageFailure("--calibration and --out-of-scope do not go with a pointer head");
  }
  CLI_ASSIGN_OR_RETURN(const PointerHead head, ReadPointerHead(arguments.head));
  CLI_ASSIGN_OR_RETURN(const auto examples,
                       OrExit(ReadPointerExamples(arguments.test, ToTextsOptions(arguments.texts),
                                                  arguments.instructions),
                              kFailed, "--test"));
  CLI_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(arguments.model));
  CLI_ASSIGN_OR_RETURN(const Backbone backbone, ToBackbone(loaded, arguments.model));
  const Interrupt interrupt;
  Result<PointerTest> test = tl::unexpected<Error>(Error{});
  {
    Stages stages(arguments.model.quiet);
    test = TestPointerHead(backbone, head, examples, interrupt.flag(), stages.callback());
  }
  if (!test) return tl::unexpected<Failure>(TextsFailure(test.error(), loaded));
  Json json = ToJson(test->metrics);
  json["forward_passes"] = test->usage.forward_passes;
  json["ms_per_item"] = test->timings.prefill_ms / std::max(1, test->metrics.n);
  json["trained_on"] = test->trained_on;
  Output output;
  WriteResult(output, json, arguments.json);
  return output.Finish();
}

Outcome<int> RunTest(const Arguments& arguments) {
  if (IsPointerHead(arguments.head)) return RunPointerTest(arguments);
  CLI_ASSIGN_OR_RETURN(auto texts, ReadTexts("--test", arguments.test, arguments.texts));
  CLI_ASSIGN_OR_RETURN(const Loaded loaded, Load(arguments));
  std::vector<LabelledText> outside;
  SplitScope(arguments.out_of_scope, texts, outside);
  const auto start = std::chrono::steady_clock::now();
  CLI_ASSIGN_OR_RETURN(const ScoredTexts scored, Score(loaded, arguments, texts));
  const auto p = Probabilities(*loaded.head, scored.items);
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const ClassifierMetrics metrics = MeasureClassifier(scored.items.kind, p, scored.items.labels);
  Json json = ToJson(metrics);
  json["forward_passes"] = scored.cost.usage.forward_passes;
  json["ms_per_item"] = ms / std::max(1, metrics.n);
  json["cached_texts"] = scored.cost.cached;
  json["trained_on"] = std::count_if(texts.begin(), texts.end(), [&](const LabelledText& text) {
    return loaded.head->TrainedOn(text.text);
  });
  if (!outside.empty()) {
    for (LabelledText& text : outside) text.labels = {loaded.head->labels[0]};
    CLI_ASSIGN_OR_RETURN(const ScoredTexts other, Score(loaded, arguments, outside));
    const auto inside = ScopeOf(p, scored.items);
    const auto out = ScopeOf(Probabilities(*loaded.head, other.items), other.items);
    Json auroc = Json::object();
    for (const auto& [name, values] : inside) auroc[name] = AreaUnderRoc(values, out.at(name));
    json["out_of_scope"] = {{"n", outside.size()}, {"auroc", auroc}};
  }
  Output output;
  WriteResult(output, json, arguments.json);
  return output.Finish();
}

Json GainJson(const CalibrationGain& gain) {
  return {{"nll_before", gain.nll_before},
          {"nll_after", gain.nll_after},
          {"nll_gain_interval", {gain.nll_gain.low, gain.nll_gain.high}},
          {"ece_before", gain.ece_before},
          {"ece_after", gain.ece_after},
          {"ece_gain_interval", {gain.ece_gain.low, gain.ece_gain.high}}};
}

// The gain is measured on the half of the texts that its calibration was not fitted to, twice.
Outcome<CalibrationGain> CrossGain(CalibrationKind kind, const ScoredItems& items) {
  ScoredItems halves[2] = {{.kind = items.kind}, {.kind = items.kind}};
  for (std::size_t i = 0; i < items.scores.size(); ++i) {
    halves[i % 2].scores.push_back(items.scores[i]);
    halves[i % 2].labels.push_back(items.labels[i]);
  }
  CLI_ASSIGN_OR_RETURN(const Calibration fitted, FitCalibration(kind, halves[0]));
  return MeasureGain({.labels = items.kind}, fitted, halves[1]);
}

Outcome<int> RunCalibrate(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const auto texts, ReadTexts("--data", arguments.test, arguments.texts));
  CLI_ASSIGN_OR_RETURN(const CalibrationKind kind,
                       OrExit(ParseCalibrationKind(arguments.kind), kUsage, "--kind"));
  CLI_ASSIGN_OR_RETURN(const Loaded loaded, Load(arguments));
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (loaded.head->TrainedOn(texts[i].text)) {
      return tl::unexpected<Failure>(Failure(
          kFailed, "--data: " + Printable(arguments.test) + ": text " + std::to_string(i + 1) +
                       " (counted from 1) is one that the head was trained on; a "
                       "calibration needs held-out texts"));
    }
    all += ItemFingerprint(texts[i].text);
  }
  CLI_ASSIGN_OR_RETURN(const ScoredTexts scored, Score(loaded, arguments, texts));
  CalibrationFile file{.head = loaded.head->Fingerprint(),
                       .n = static_cast<int>(texts.size()),
                       .items = Fingerprint(all)};
  CLI_ASSIGN_OR_RETURN(file.calibration, FitCalibration(kind, scored.items));
  CLI_RETURN_IF_ERROR(
      OrExit(WriteFileAtomically(arguments.out, file.ToJson()).map([] { return true; }), kFailed,
             "--out"));
  Json json = {{"out", arguments.out},
               {"head", file.head},
               {"n", file.n},
               {"calibration", Json::parse(file.calibration.ToJson())}};
  if (texts.size() >= 4) {
    CLI_ASSIGN_OR_RETURN(const CalibrationGain gain, CrossGain(kind, scored.items));
    json["held_out_half"] = GainJson(gain);
  }
  Output output;
  if (arguments.json) {
    output.Write(Dump(json));
    return output.Finish();
  }
  for (const auto& [key, value] : json.items()) {
    output.Write(Column(key, 16) + Printable(value.dump()) + "\n");
  }
  return output.Finish();
}

void AddShared(CLI::App& verb, Arguments& arguments) {
  AddModelOptions(verb, arguments.model);
  verb.add_option("--head", arguments.head, "what train-head wrote")->type_name("FILE")->required();
  AddTextsOptions(verb, arguments.texts);
  verb.add_flag("--json", arguments.json, "one JSON object");
}

}  // namespace

void AddTestHead(CLI::App& app, Program& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("test-head", "Measure a trained head on labelled texts");
  AddShared(*verb, *arguments);
  verb->add_option("--test", arguments->test, "CSV with a header, or .jsonl")
      ->type_name("FILE")
      ->required();
  verb->add_option("--calibration", arguments->calibration,
                   "what calibrate wrote, instead of the head's own")
      ->type_name("FILE");
  verb->add_option("--out-of-scope", arguments->out_of_scope,
                   "label of texts that no label of the head fits: how well they are told apart")
      ->type_name("LABEL");
  verb->add_option("--instructions", arguments->instructions,
                   "pointer: the question about each labelled text")
      ->type_name("TEXT")
      ->capture_default_str();
  verb->footer(
      "Example:\n  adjudge test-head --head banking77.head --test banking77/test.csv --json");
  verb->callback(
      [arguments, &program] { program.run = [arguments] { return RunTest(*arguments); }; });
}

void AddCalibrate(CLI::App& app, Program& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("calibrate", "Fit a head's calibration to held-out labelled texts");
  AddShared(*verb, *arguments);
  verb->add_option("--data", arguments->test, "CSV with a header, or .jsonl; held-out texts")
      ->type_name("FILE")
      ->required();
  verb->add_option("--kind", arguments->kind, "temperature, vector, platt, isotonic or beta")
      ->check(CLI::IsMember({"temperature", "vector", "platt", "isotonic", "beta"}))
      ->type_name("NAME")
      ->capture_default_str();
  verb->add_option("--out", arguments->out, "the calibration's file, JSON")
      ->type_name("FILE")
      ->required();
  verb->footer(
      "Texts that the head was trained on are refused. What the calibration gains is measured on a "
      "half of\nthe texts that it was not fitted to, with 95 % bootstrap intervals.\n\n"
      "Example:\n"
      "  adjudge calibrate --head my.head --data held-out.csv --kind beta --out my.calibration");
  verb->callback(
      [arguments, &program] { program.run = [arguments] { return RunCalibrate(*arguments); }; });
}

}  // namespace adjudge::cli
