// train-head: a head trained on labelled texts, on the states of any model.
#include "heads/train_head.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "cli/head_options.h"
#include "cli/interrupt.h"
#include "cli/json_output.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/verb.h"
#include "cli/words.h"
#include "engine/atomic_file.h"
#include "heads/train_pointer.h"

namespace adjudge::cli {
namespace {

struct Arguments {
  const CLI::App* verb = nullptr;
  ModelArguments model;
  TextsArguments texts;
  std::string kind = "linear";
  std::string labels_are = "multiclass";
  std::string train;
  std::string out;
  std::string layers = "auto";
  std::string pooling = "mean";
  std::string prefix;
  std::string suffix;
  CLI::Option* prefix_given = nullptr;
  std::vector<std::string> labels;
  std::string decays;
  std::string calibration = "temperature";
  int rank = 0;
  int hidden = 0;
  int folds = 0;
  int neighbours = 5;
  double hold_out = 0;
  bool balanced = false;
  std::string instructions = "Which label fits?";
  bool listed = false;
  std::uint64_t seed = 0;
  bool json = false;
};

// "8,15,4+8+15": candidates between commas, layers of one between plus signs. auto: three joined,
// at two, four and six fifteenths of the model, which cross-validation on Banking77 preferred.
Outcome<std::vector<std::vector<int>>> ParseLayers(const std::string& text, int n_layers) {
  std::vector<std::vector<int>> candidates;
  if (text == "auto") {
    const auto at = [&](double share) {
      return std::clamp(static_cast<int>(share * n_layers + 0.5), 1, n_layers);
    };
    std::vector<int> joined = {at(2.0 / 15), at(4.0 / 15), at(6.0 / 15)};
    joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
    candidates.push_back(std::move(joined));
    return candidates;
  }
  const char* at = text.data();
  const char* end = at + text.size();
  candidates.emplace_back();
  while (true) {
    int layer = 0;
    const auto [after, error] = std::from_chars(at, end, layer);
    const bool separated = after == end || *after == ',' || *after == '+';
    if (error != std::errc() || !separated) {
      return UsageFailure(
          "--layers: expected auto, or layers like 8 or 4+8+15 between commas, found \"" +
          Printable(text) + "\"");
    }
    candidates.back().push_back(layer);
    if (after == end) break;
    if (*after == ',') candidates.emplace_back();
    at = after + 1;
  }
  return candidates;
}

Outcome<std::vector<double>> ParseDecays(const std::string& text) {
  std::vector<double> decays;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    double decay = 0;
    const auto [after, error] = std::from_chars(text.data() + at, text.data() + end, decay);
    if (error != std::errc() || after != text.data() + end || !(decay > 0)) {
      return UsageFailure("--decays: expected positive numbers between commas, found \"" +
                          Printable(text) + "\"");
    }
    decays.push_back(decay);
    at = end + 1;
  }
  return decays;
}

// The default words before a text: short, and the same for any task.
constexpr const char* kPrefix = "Message: ";

Outcome<HeadForm> ToForm(const Arguments& arguments) {
  const bool linear = arguments.kind == "linear";
  if (!linear && (arguments.rank > 0 || arguments.hidden > 0)) {
    return UsageFailure("--rank and --hidden go with --kind linear");
  }
  if (arguments.rank > 0 && arguments.hidden > 0) {
    return UsageFailure("expected one of --rank and --hidden");
  }
  if (arguments.rank > 0) return HeadForm::kLowRank;
  if (arguments.hidden > 0) return HeadForm::kHidden;
  return OrExit(ParseHeadForm(arguments.kind), kUsage, "--kind");
}

Outcome<TrainOptions> ToTrainOptions(const Arguments& arguments, int n_layers) {
  TrainOptions options;
  CLI_ASSIGN_OR_RETURN(options.form, ToForm(arguments));
  CLI_ASSIGN_OR_RETURN(options.kind, OrExit(ParseLabelKind(arguments.labels_are), kUsage));
  CLI_ASSIGN_OR_RETURN(options.layers, ParseLayers(arguments.layers, n_layers));
  CLI_ASSIGN_OR_RETURN(options.spec.pooling,
                       OrExit(ParsePooling(arguments.pooling), kUsage, "--pool"));
  if (!arguments.decays.empty()) {
    CLI_ASSIGN_OR_RETURN(options.decays, ParseDecays(arguments.decays));
  }
  CLI_ASSIGN_OR_RETURN(options.calibration, OrExit(ParseCalibrationKind(arguments.calibration),
                                                   kUsage, "--calibration"));
  options.spec.prefix = arguments.prefix_given->count() > 0 ? arguments.prefix : kPrefix;
  options.spec.suffix = arguments.suffix;
  options.labels = arguments.labels;
  options.rows = std::max({arguments.rank, arguments.hidden, 1});
  options.folds = arguments.folds;
  options.neighbours = arguments.neighbours;
  options.balanced = arguments.balanced;
  options.hold_out = arguments.hold_out;
  options.seed = arguments.seed;
  options.threads = arguments.model.threads;
  options.cache = CacheFolder(arguments.texts);
  return options;
}

std::string LayerWords(const std::vector<int>& layers) {
  std::string words;
  for (const int layer : layers) words += (words.empty() ? "" : "+") + std::to_string(layer);
  return words;
}

Json CandidatesJson(const std::vector<TrainCandidate>& candidates) {
  Json list = Json::array();
  for (const TrainCandidate& candidate : candidates) {
    list.push_back({{"layers", candidate.layers},
                    {"weight_decay", candidate.decay},
                    {"accuracy", candidate.accuracy},
                    {"nll", candidate.nll}});
  }
  return list;
}

Json ResultJson(const Arguments& arguments, const TrainedResult& result) {
  const TrainedHead& head = result.head;
  return {{"head", arguments.out},
          {"fingerprint", head.Fingerprint()},
          {"form", ToString(head.model.form)},
          {"kind", ToString(head.model.kind)},
          {"labels", head.labels.size()},
          {"texts", head.metrics.at("n_texts")},
          {"layers", head.spec.layers},
          {"weight_decay", head.metrics.at("weight_decay")},
          {"held_out", ToJson(result.held_out)},
          {"calibration", Json::parse(head.calibration.ToJson())},
          {"calibrated", ToJson(result.calibrated)},
          {"candidates", CandidatesJson(result.candidates)},
          {"states",
           {{"computed_tokens", result.usage.prompt_tokens},
            {"cached_texts", result.states_cached},
            {"forward_passes", result.usage.forward_passes},
            {"ms", result.timings.prefill_ms}}},
          {"fit_ms", result.fit_ms}};
}

std::string Report(const Arguments& arguments, const TrainedResult& result) {
  const TrainedHead& head = result.head;
  std::string text;
  if (result.candidates.size() > 1) {
    text += "layers        decay     accuracy  nll     (held out, by cross-validation)\n";
    for (const TrainCandidate& candidate : result.candidates) {
      const bool chosen = candidate.layers == head.spec.layers &&
                          candidate.decay == head.metrics.at("weight_decay");
      text += Column(LayerWords(candidate.layers), 12) + (chosen ? "* " : "  ") +
              Column(Share(candidate.decay), 10) + Fixed(candidate.accuracy, 4) + "    " +
              Fixed(candidate.nll, 4) + "\n";
    }
  }
  text += "held out     accuracy " + Fixed(result.held_out.accuracy, 4) + " of " +
          std::to_string(result.held_out.n) + ", nll " + Fixed(result.held_out.nll, 4) + ", ece " +
          Fixed(result.held_out.ece, 4) + "\n";
  text += "calibrated   nll " + Fixed(result.calibrated.nll, 4) + ", ece " +
          Fixed(result.calibrated.ece, 4) + " (" + std::string(ToString(head.calibration.kind)) +
          (head.calibration.kind == CalibrationKind::kTemperature
               ? " " + Fixed(head.calibration.temperature, 3)
               : "") +
          ")\n";
  text += "head         " + Printable(arguments.out) + ": " +
          std::string(ToString(head.model.form)) + " over " + std::to_string(head.labels.size()) +
          " labels, layers " + LayerWords(head.spec.layers) + " of " +
          std::to_string(head.backbone_layers) + "\n";
  return text;
}

Json PointerJson(const Arguments& arguments, const PointerTrained& trained) {
  const PointerHead& head = trained.head;
  return {{"head", arguments.out},
          {"fingerprint", head.Fingerprint()},
          {"form", "pointer"},
          {"head_dim", head.head_dim()},
          {"option_isolation", head.isolated},
          {"temperature", head.temperature},
          {"examples", head.metrics.at("n_examples")},
          {"held_out", ToJson(trained.held_out)},
          {"calibrated", ToJson(trained.calibrated)},
          {"states",
           {{"computed_tokens", trained.usage.prompt_tokens},
            {"forward_passes", trained.usage.forward_passes},
            {"ms", trained.timings.prefill_ms}}},
          {"fit_ms", trained.fit_ms}};
}

Outcome<int> RunPointer(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const auto examples,
                       OrExit(ReadPointerExamples(arguments.train, ToTextsOptions(arguments.texts),
                                                  arguments.instructions),
                              kFailed, "--train"));
  CLI_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(arguments.model));
  CLI_ASSIGN_OR_RETURN(const Backbone backbone, ToBackbone(loaded, arguments.model));
  PointerTrainOptions options;
  if (arguments.rank > 0) options.head_dim = arguments.rank;
  if (arguments.hold_out > 0) options.hold_out = arguments.hold_out;
  options.isolated = !arguments.listed;
  options.seed = arguments.seed;
  options.threads = arguments.model.threads;
  if (!arguments.decays.empty()) {
    CLI_ASSIGN_OR_RETURN(const std::vector<double> decays, ParseDecays(arguments.decays));
    if (decays.size() != 1) return UsageFailure("--decays: a pointer head takes one");
    options.decay = decays[0];
  }
  const Interrupt interrupt;
  options.cancel = interrupt.flag();
  Result<PointerTrained> trained = tl::unexpected<Error>(Error{});
  {
    Stages stages(arguments.model.quiet);
    options.progress = stages.callback();
    trained = TrainPointerHead(backbone, examples, options);
  }
  if (!trained) return tl::unexpected<Failure>(TextsFailure(trained.error(), loaded));
  CLI_RETURN_IF_ERROR(
      OrExit(WriteFileAtomically(arguments.out, trained->head.Bytes()).map([] { return true; }),
             kFailed, "--out"));
  Output output;
  if (arguments.json) {
    output.Write(Dump(PointerJson(arguments, *trained)));
    return output.Finish();
  }
  output.Write("held out     accuracy " + Fixed(trained->held_out.accuracy, 4) + " of " +
               std::to_string(trained->held_out.n) + ", ece " + Fixed(trained->calibrated.ece, 4) +
               " at temperature " + Fixed(trained->head.temperature, 3) + "\n");
  output.Write("head         " + Printable(arguments.out) + ": pointer of " +
               std::to_string(trained->head.head_dim()) + " numbers\n");
  return output.Finish();
}

// Options that a pointer head has no use for.
Outcome<bool> CheckPointer(const CLI::App& verb) {
  for (const char* name :
       {"--layers", "--pool", "--prefix", "--suffix", "--label", "--folds", "--neighbours",
        "--balanced", "--hidden", "--labels-are", "--cache", "--no-cache"}) {
    if (verb.get_option(name)->count() > 0) {
      return UsageFailure(std::string(name) + " does not go with --kind pointer");
    }
  }
  return true;
}

Outcome<int> Run(const Arguments& arguments) {
  if (arguments.kind == "pointer") {
    CLI_RETURN_IF_ERROR(CheckPointer(*arguments.verb));
    return RunPointer(arguments);
  }
  if (arguments.listed || arguments.verb->get_option("--instructions")->count() > 0) {
    return UsageFailure("--listed and --instructions go with --kind pointer");
  }
  CLI_ASSIGN_OR_RETURN(const auto texts, ReadTexts("--train", arguments.train, arguments.texts));
  CLI_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(arguments.model));
  CLI_ASSIGN_OR_RETURN(const Backbone backbone, ToBackbone(loaded, arguments.model));
  CLI_ASSIGN_OR_RETURN(TrainOptions options,
                       ToTrainOptions(arguments, loaded.model->config().n_layers));
  const Interrupt interrupt;
  options.cancel = interrupt.flag();
  Result<TrainedResult> trained = tl::unexpected<Error>(Error{});
  {
    Stages stages(arguments.model.quiet);
    options.progress = stages.callback();
    trained = TrainHead(backbone, texts, options);
  }
  if (!trained) return tl::unexpected<Failure>(TextsFailure(trained.error(), loaded));
  CLI_RETURN_IF_ERROR(
      OrExit(trained->head.Write(arguments.out).map([] { return true; }), kFailed, "--out"));
  Output output;
  output.Write(arguments.json ? Dump(ResultJson(arguments, *trained))
                              : Report(arguments, *trained));
  if (!arguments.model.quiet) {
    const double seconds = trained->timings.prefill_ms / 1000;
    std::string words =
        "states of " +
        std::to_string(texts.size() - static_cast<std::size_t>(trained->states_cached)) +
        " texts computed in " + Fixed(seconds, 1) + " s";
    if (trained->usage.prompt_tokens > 0) {
      words += " (" + std::to_string(trained->usage.prompt_tokens) + " tokens, " +
               Fixed(trained->usage.prompt_tokens / std::max(seconds, 1e-9), 0) + " a second)";
    }
    words += ", " + std::to_string(trained->states_cached) + " were on disk; fits " +
             Fixed(trained->fit_ms / 1000, 1) + " s";
    Say(words);
  }
  return output.Finish();
}

void AddStateOptions(CLI::App& verb, Arguments& arguments) {
  verb.add_option("--layers", arguments.layers,
                  "layers whose states are read, 1 to the model's: 8, or 4+8+15 joined; several "
                  "candidates between commas are tried by cross-validation; auto")
      ->type_name("LIST")
      ->capture_default_str();
  verb.add_option("--pool", arguments.pooling,
                  "mean over the text's tokens, last, max, or row (with the suffix)")
      ->check(CLI::IsMember({"mean", "last", "max", "row"}))
      ->type_name("NAME")
      ->capture_default_str();
  arguments.prefix_given = verb.add_option("--prefix", arguments.prefix,
                                           "words before each text (default: \"Message: \")")
                               ->type_name("TEXT");
  verb.add_option("--suffix", arguments.suffix, "words behind each text")->type_name("TEXT");
}

void AddFitOptions(CLI::App& verb, Arguments& arguments) {
  verb.add_option("--decays", arguments.decays,
                  "weight decays tried by cross-validation, between commas (default: 0.1 to 0.001)")
      ->type_name("LIST");
  verb.add_option("--rank", arguments.rank,
                  "linear: a low-rank head of this rank; pointer: the head's width (64)")
      ->transform(WholeNumber(1, 4096))
      ->type_name("N");
  verb.add_option("--hidden", arguments.hidden, "linear: one hidden layer of this width")
      ->transform(WholeNumber(1, 4096))
      ->type_name("N");
  verb.add_option("--folds", arguments.folds,
                  "of cross-validation (default: 5, or 3 for more than 2,000 texts)")
      ->transform(WholeNumber(2, 100))
      ->type_name("N");
  verb.add_option("--neighbours", arguments.neighbours, "knn: examples that vote")
      ->transform(WholeNumber(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  verb.add_option("--hold-out", arguments.hold_out,
                  "share of the texts that only calibrates; 0: every text is held out by one fold, "
                  "and the head is then fitted to all")
      ->check(CLI::Range(0.0, 0.5))
      ->type_name("SHARE")
      ->capture_default_str();
  verb.add_flag("--balanced", arguments.balanced, "each label counts the same");
  verb.add_option("--calibration", arguments.calibration,
                  "none, temperature, vector, platt, isotonic or beta")
      ->check(CLI::IsMember({"none", "temperature", "vector", "platt", "isotonic", "beta"}))
      ->type_name("NAME")
      ->capture_default_str();
  verb.add_option("--seed", arguments.seed, "of folds and first values")
      ->transform(SeedNumber())
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace

void AddTrainHead(CLI::App& app, Program& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("train-head", "Train a decision head on labelled texts");
  AddModelOptions(*verb, arguments->model);
  verb->add_option("--kind", arguments->kind,
                   "linear (trained), centroid or knn (nearest examples, nothing trained), or "
                   "pointer (options read at markers)")
      ->check(CLI::IsMember({"linear", "centroid", "knn", "pointer"}))
      ->type_name("NAME")
      ->capture_default_str();
  verb->add_option("--labels-are", arguments->labels_are,
                   "multiclass, binary, ordinal, or multilabel")
      ->check(CLI::IsMember({"multiclass", "binary", "ordinal", "multilabel"}))
      ->type_name("NAME")
      ->capture_default_str();
  arguments->verb = verb;
  verb->add_option(
          "--train", arguments->train,
          "CSV with a header, or .jsonl; a pointer head also takes System One requests with "
          "\"answers\", a line each")
      ->type_name("FILE")
      ->required();
  verb->add_option("--out", arguments->out, "the head's file")->type_name("FILE")->required();
  AddRepeated(*verb, "--label", arguments->labels,
              "a label; several times, in order: lowest first, or false then true");
  AddTextsOptions(*verb, arguments->texts);
  AddStateOptions(*verb, *arguments);
  AddFitOptions(*verb, *arguments);
  verb->add_option("--instructions", arguments->instructions,
                   "pointer: the question about each labelled text")
      ->type_name("TEXT")
      ->capture_default_str();
  verb->add_flag("--listed", arguments->listed,
                 "pointer: options follow each other as listed, instead of apart from each other");
  verb->add_flag("--json", arguments->json, "the result as one JSON object");
  verb->footer(
      "Hidden states are computed once and kept; a run that was stopped goes on where it was.\n\n"
      "Example:\n"
      "  adjudge train-head --kind linear --train banking77/train.csv --text-column text \\\n"
      "    --label-column category --out banking77.head");
  verb->callback([arguments, &program] { program.run = [arguments] { return Run(*arguments); }; });
}

}  // namespace adjudge::cli
