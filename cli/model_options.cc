#include "cli/model_options.h"

#include <chrono>
#include <cstdlib>
#include <system_error>

#include "cli/output.h"
#include "cli/printable.h"
#include "cli/verb.h"
#include "engine/inspect.h"
#include "engine/prompt.h"

namespace adjudge::cli {
namespace fs = std::filesystem;

namespace {

constexpr const char* kDefaultModel = "SmolLM2-135M-Instruct.Q4_1.gguf";

const char* NonEmptyEnv(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

tl::unexpected<Failure> ModelFailure(const std::string& message) {
  return tl::unexpected<Failure>(Failure(kModel, message));
}

std::string Shown(const fs::path& path, const std::string& what = "model") {
  return what + " " + Printable(path.string());
}

// The file's fault, its path named once.
template <typename T>
Outcome<T> OrRefuse(Result<T> result, const fs::path& path, const std::string& what = "model") {
  if (!result && result.error().place == path.string()) result.error().place.clear();
  return OrExit(std::move(result), kModel, Shown(path, what));
}

bool IsLlama2c(const fs::path& path) {
  const auto inspected = InspectModel(path);
  return inspected && inspected->format == "llama2.c";
}

}  // namespace

void AddFileOptions(CLI::App& verb, ModelArguments& arguments) {
  verb.add_option("-m,--model", arguments.model,
                  "GGUF file, or folder with safetensors; otherwise $ADJUDGE_MODEL, otherwise the "
                  "default model")
      ->type_name("FILE");
  verb.add_option("--tokenizer", arguments.tokenizer,
                  "tokenizer file, where the model's own file has none")
      ->type_name("FILE");
  verb.add_flag("-q,--quiet", arguments.quiet, "no words on standard error but errors");
}

void AddModelOptions(CLI::App& verb, ModelArguments& arguments) {
  AddFileOptions(verb, arguments);
  verb.add_option("--backend", arguments.backend, "reference (the slow definition) or cpu")
      ->check(CLI::IsMember({"reference", "cpu"}))
      ->type_name("NAME")
      ->capture_default_str();
  verb.add_option(
          "--precision", arguments.precision,
          "of activations on the cpu: fast (8-bit integers), default (12- or 16-bit) or exact "
          "(float32); weights are the file's in all three")
      ->check(CLI::IsMember({"fast", "default", "exact"}))
      ->type_name("NAME")
      ->capture_default_str();
  verb.add_option("--cpu-isa", arguments.cpu_isa,
                  "instruction set of the cpu backend: baseline, avx2, avx-vnni, avx512, "
                  "avx512-vnni, avx512-bf16, amx, neon; otherwise the machine's best")
      ->type_name("NAME");
  verb.add_option("--threads", arguments.threads, "0 = physical cores that this process may use")
      ->transform(WholeNumber(0, ModelOptions::kMaxThreads))
      ->type_name("N")
      ->capture_default_str();
}

fs::path DefaultModelPath() {
  const char* home = NonEmptyEnv("HOME");
  fs::path cache = fs::path(home != nullptr ? home : "/") / ".cache";
  if (const char* xdg = NonEmptyEnv("XDG_CACHE_HOME")) cache = xdg;
  return cache / "adjudge" / "models" / kDefaultModel;
}

Outcome<fs::path> FindModel(const ModelArguments& arguments) {
  std::error_code error;
  const char* from_env = NonEmptyEnv("ADJUDGE_MODEL");
  if (arguments.model.empty() && from_env == nullptr) {
    fs::path path = DefaultModelPath();
    if (fs::exists(path, error)) return path;
    return ModelFailure("the default model is not at " + Printable(path.string()) +
                        "; run scripts/fetch-model, or give a model with --model FILE or "
                        "ADJUDGE_MODEL");
  }
  fs::path path = arguments.model.empty() ? from_env : arguments.model;
  if (fs::exists(path, error)) return path;
  const std::string source = arguments.model.empty() ? " (from ADJUDGE_MODEL)" : "";
  return ModelFailure(Shown(path) + source + ": " +
                      (error ? error.message() : "no such file or folder"));
}

Outcome<std::shared_ptr<const Tokenizer>> LoadTokenizer(const ModelArguments& arguments) {
  if (!arguments.tokenizer.empty()) {
    return OrRefuse(Tokenizer::Load(arguments.tokenizer), arguments.tokenizer, "tokenizer");
  }
  CLI_ASSIGN_OR_RETURN(const fs::path path, FindModel(arguments));
  auto tokenizer = OrRefuse(Tokenizer::Load(path), path);
  if (!tokenizer && IsLlama2c(path)) {
    return UsageFailure(Shown(path) +
                        ": a llama2.c file has no tokenizer of its own; give --tokenizer FILE");
  }
  return tokenizer;
}

namespace {

// A tokenizer from another file must have the ids of the model's own, where it has one. Without one
// the model may have more rows than there are ids, which are padding.
Outcome<bool> CheckGivenTokenizer(const ModelArguments& arguments, const LoadedModel& loaded) {
  if (arguments.tokenizer.empty()) return true;
  const int given = loaded.tokenizer->vocabulary().size();
  const auto refuse = [&](const std::string& owner, int n) {
    return UsageFailure("--tokenizer " + Printable(arguments.tokenizer) + " has " +
                        std::to_string(given) + " ids, " + owner + " " + std::to_string(n));
  };
  if (const auto own = Tokenizer::Load(loaded.path); own && (*own)->vocabulary().size() != given) {
    return refuse("the model's own vocabulary", (*own)->vocabulary().size());
  }
  const int rows = loaded.model->config().vocab_size;
  if (given > rows) return refuse("the model's output only", rows);
  return true;
}

// An instruction set that is not there is the command line's fault, anything else the file's.
Outcome<std::shared_ptr<const Model>> LoadOrRefuse(const fs::path& path,
                                                   const ModelOptions& options) {
  auto model = Model::Load(path, options);
  if (!model && model.error().place == "cpu-isa") {
    return UsageFailure("--cpu-isa: " + model.error().message);
  }
  return OrRefuse(std::move(model), path);
}

Outcome<LoadedModel> Load(const ModelArguments& arguments, bool with_tokenizer) {
  LoadedModel loaded;
  CLI_ASSIGN_OR_RETURN(loaded.path, FindModel(arguments));
  ModelOptions options;
  options.threads = arguments.threads;
  options.cpu_isa = arguments.cpu_isa;
  CLI_ASSIGN_OR_RETURN(options.backend, OrExit(ParseBackendKind(arguments.backend), kUsage));
  CLI_ASSIGN_OR_RETURN(options.precision, OrExit(ParsePrecision(arguments.precision), kUsage));
  loaded.precision =
      options.backend == BackendKind::kReference ? Precision::kExact : options.precision;
  const bool show = !arguments.quiet && StderrIsTerminal();
  if (show) fprintf(stderr, "loading %s ...", Printable(loaded.path.string()).c_str());
  const auto start = std::chrono::steady_clock::now();
  Outcome<std::shared_ptr<const Tokenizer>> tokenizer = nullptr;
  if (with_tokenizer) tokenizer = LoadTokenizer(arguments);
  Outcome<std::shared_ptr<const Model>> model =
      tokenizer ? LoadOrRefuse(loaded.path, options) : tl::unexpected<Failure>(tokenizer.error());
  loaded.load_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (show) fputs("\r\033[K", stderr);
  CLI_ASSIGN_OR_RETURN(loaded.tokenizer, std::move(tokenizer));
  CLI_ASSIGN_OR_RETURN(loaded.model, std::move(model));
  if (with_tokenizer) CLI_RETURN_IF_ERROR(CheckGivenTokenizer(arguments, loaded));
  return loaded;
}

}  // namespace

Outcome<LoadedModel> LoadModel(const ModelArguments& arguments) {
  return Load(arguments, /*with_tokenizer=*/true);
}

Outcome<LoadedModel> LoadModelAlone(const ModelArguments& arguments) {
  return Load(arguments, /*with_tokenizer=*/false);
}

Outcome<ChatTemplate> LoadTemplate(const LoadedModel& loaded, const std::string& instead) {
  Result<ChatTemplate> parsed = LoadChatTemplate(*loaded.tokenizer);
  if (!parsed && parsed.error().code == ErrorCode::kNotFound) {
    return UsageFailure(parsed.error().message + "; " + instead);
  }
  return OrExit(std::move(parsed), kModel, Shown(loaded.path) + ": chat template");
}

Failure WorkFailure(const LoadedModel& loaded, const Error& error) {
  if (error.code != ErrorCode::kNotFinite) return error;
  return Failure(kModel, Shown(loaded.path) + ": " + ToString(error));
}

}  // namespace adjudge::cli
