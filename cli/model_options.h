// Which model a verb works with, and how it is run.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/outcome.h"
#include "engine/chat_template.h"
#include "engine/model.h"
#include "engine/tokenizer.h"

namespace adjudge::cli {

struct ModelArguments {
  std::string model;      // empty: ADJUDGE_MODEL, else the default model
  std::string tokenizer;  // empty: the model's own
  std::string backend = "cpu";
  std::string precision = "default";
  std::string cpu_isa;  // empty: the machine's best
  int threads = 0;
  bool quiet = false;
};

// --model, --tokenizer and --quiet; the second adds --backend, --precision, --cpu-isa and
// --threads.
void AddFileOptions(CLI::App& verb, ModelArguments& arguments);
void AddModelOptions(CLI::App& verb, ModelArguments& arguments);

// Where scripts/fetch-model puts the default model.
std::filesystem::path DefaultModelPath();

// The file or folder to read. Failures end with kModel: nothing there, with what to do.
Outcome<std::filesystem::path> FindModel(const ModelArguments& arguments);
Outcome<std::shared_ptr<const Tokenizer>> LoadTokenizer(const ModelArguments& arguments);

struct LoadedModel {
  std::filesystem::path path;
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  Precision precision = Precision::kDefault;  // of its arithmetic; the reference's is exact
  double load_ms = 0;

  // What answers and reports call the model: the file's name without its ending.
  std::string name() const { return path.stem().string(); }
};

Outcome<LoadedModel> LoadModel(const ModelArguments& arguments);
// Without its tokenizer, which stays null and need not exist.
Outcome<LoadedModel> LoadModelAlone(const ModelArguments& arguments);

// The model's chat template. kModel where it cannot be parsed; kUsage where there is none, with
// what to do `instead`.
Outcome<ChatTemplate> LoadTemplate(const LoadedModel& loaded, const std::string& instead);

// What a failed computation ends with: kModel and the model's name where the model's numbers are
// at fault, else kFailed.
Failure WorkFailure(const LoadedModel& loaded, const Error& error);

}  // namespace adjudge::cli
