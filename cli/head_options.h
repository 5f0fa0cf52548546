// What the verbs that work with trained heads share: labelled texts, states on disk, the model.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/json_output.h"
#include "cli/model_options.h"
#include "cli/outcome.h"
#include "cli/progress.h"
#include "heads/pointer_head.h"
#include "heads/train_head.h"

namespace adjudge::cli {

struct TextsArguments {
  std::string text_column = "text";
  std::string label_column = "category";
  std::string label_separator;
  std::string cache;  // empty: the user's cache folder
  bool no_cache = false;
};

// --text-column, --label-column, --label-separator, --cache and --no-cache.
void AddTextsOptions(CLI::App& verb, TextsArguments& arguments);
LabelledTextsOptions ToTextsOptions(const TextsArguments& arguments);
// Where states are kept; empty: nowhere.
std::filesystem::path CacheFolder(const TextsArguments& arguments);

// The labelled texts of a file; failures say "option: path: line N: ...".
Outcome<std::vector<LabelledText>> ReadTexts(const std::string& option, const std::string& path,
                                             const TextsArguments& arguments);

// The loaded model with its fingerprint.
Outcome<Backbone> ToBackbone(const LoadedModel& loaded, const ModelArguments& arguments);

Outcome<std::shared_ptr<TrainedHead>> ReadHead(const std::string& path);
// From safetensors, or out of a GGUF model.
Outcome<PointerHead> ReadPointerHead(const std::string& path);
// Replaces the head's calibration by that of a file.
Outcome<bool> ApplyCalibration(const std::string& path, TrainedHead& head);

// Progress of work that names its own stages.
class Stages {
 public:
  explicit Stages(bool quiet) : quiet_(quiet) {}
  TrainProgress callback();

 private:
  bool quiet_;
  std::string stage_;
  std::optional<Progress> progress_;
};

// What went wrong with texts: "train: cancelled", the row's number from 1.
Failure TextsFailure(const Error& error, const LoadedModel& loaded);

// {"n", "accuracy", "accuracy_interval", "nll", "brier", "ece"}
Json ToJson(const ClassifierMetrics& metrics);

}  // namespace adjudge::cli
