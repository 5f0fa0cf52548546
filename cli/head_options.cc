#include "cli/head_options.h"

#include <fstream>
#include <utility>

#include "cli/printable.h"
#include "cli/text_input.h"
#include "engine/fingerprint.h"

namespace adjudge::cli {

void AddTextsOptions(CLI::App& verb, TextsArguments& arguments) {
  verb.add_option("--text-column", arguments.text_column, "column (or key) of the text")
      ->type_name("NAME")
      ->capture_default_str();
  verb.add_option("--label-column", arguments.label_column, "column (or key) of the label")
      ->type_name("NAME")
      ->capture_default_str();
  verb.add_option("--label-separator", arguments.label_separator,
                  "what stands between several labels in one CSV cell")
      ->type_name("SEPARATOR");
  verb.add_option("--cache", arguments.cache,
                  "folder where hidden states are kept (default: adjudge/states in the user's "
                  "cache folder)")
      ->type_name("FOLDER");
  verb.add_flag("--no-cache", arguments.no_cache, "keep no hidden states on disk");
}

LabelledTextsOptions ToTextsOptions(const TextsArguments& arguments) {
  LabelledTextsOptions options;
  options.text_column = arguments.text_column;
  options.label_column = arguments.label_column;
  options.label_separator = arguments.label_separator;
  return options;
}

std::filesystem::path CacheFolder(const TextsArguments& arguments) {
  if (arguments.no_cache) return {};
  if (!arguments.cache.empty()) return arguments.cache;
  return DefaultModelPath().parent_path().parent_path() / "states";
}

Outcome<std::vector<LabelledText>> ReadTexts(const std::string& option, const std::string& path,
                                             const TextsArguments& arguments) {
  CLI_ASSIGN_OR_RETURN(auto texts,
                       OrExit(ReadLabelledTexts(path, ToTextsOptions(arguments)), kFailed, option));
  if (texts.empty()) {
    return tl::unexpected<Failure>(Failure(kFailed, option + ": " + path + ": no texts"));
  }
  return texts;
}

Outcome<Backbone> ToBackbone(const LoadedModel& loaded, const ModelArguments& arguments) {
  Backbone backbone{.model = loaded.model, .tokenizer = loaded.tokenizer, .name = loaded.name()};
  CLI_ASSIGN_OR_RETURN(backbone.fingerprint, OrExit(ModelFingerprint(loaded.path), kModel));
  if (!arguments.tokenizer.empty()) {
    CLI_ASSIGN_OR_RETURN(const std::string tokenizer,
                         OrExit(ModelFingerprint(arguments.tokenizer), kModel));
    backbone.fingerprint = Fingerprint(backbone.fingerprint + tokenizer);
  }
  backbone.precision = ToString(loaded.precision);
  return backbone;
}

Outcome<std::shared_ptr<TrainedHead>> ReadHead(const std::string& path) {
  CLI_ASSIGN_OR_RETURN(TrainedHead head, OrExit(TrainedHead::Read(path), kFailed, "--head"));
  return std::make_shared<TrainedHead>(std::move(head));
}

Outcome<PointerHead> ReadPointerHead(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic(4, '\0');
  const bool gguf = file.read(magic.data(), 4) && magic == "GGUF";
  return OrExit(gguf ? PointerHead::FromGguf(path) : PointerHead::Read(path), kFailed, "--head");
}

Outcome<bool> ApplyCalibration(const std::string& path, TrainedHead& head) {
  CLI_ASSIGN_OR_RETURN(const std::string text, ReadFileOrInput(path, kMaxJsonBytes));
  CLI_ASSIGN_OR_RETURN(const CalibrationFile file,
                       OrExit(ReadCalibrationFile(text, head), kFailed, "--calibration: " + path));
  head.calibration = file.calibration;
  return true;
}

TrainProgress Stages::callback() {
  return [this](std::string_view what, std::int64_t done, std::int64_t n) {
    if (what != stage_) {
      stage_ = what;
      progress_.emplace(stage_, n, quiet_);
    }
    progress_->Update(done);
  };
}

Failure TextsFailure(const Error& error, const LoadedModel& loaded) {
  if (error.code == ErrorCode::kCancelled) return {kFailed, "cancelled; begin again to go on"};
  if (error.code == ErrorCode::kNotFinite) return WorkFailure(loaded, error);
  constexpr std::string_view kText = "text ";
  Error shown = error;
  if (shown.place.starts_with(kText)) {
    shown.place = "text " + std::to_string(std::stoull(shown.place.substr(kText.size())) + 1) +
                  " (counted from 1)";
  }
  return shown;
}

Json ToJson(const ClassifierMetrics& metrics) {
  return {{"n", metrics.n},
          {"accuracy", metrics.accuracy},
          {"accuracy_interval", {metrics.accuracy_interval.low, metrics.accuracy_interval.high}},
          {"nll", metrics.nll},
          {"brier", metrics.brier},
          {"ece", metrics.ece}};
}

}  // namespace adjudge::cli
