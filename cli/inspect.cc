// inspect: what a model's file holds.
#include "engine/inspect.h"

#include <map>
#include <memory>

#include "cli/json_output.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/verb.h"
#include "cli/words.h"
#include "heads/pointer_head.h"
#include "heads/trained_head.h"

namespace adjudge::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kThousand = 1000;
constexpr int kLabelWidth = 18;
constexpr std::size_t kMaxSpecialsShown = 12;

struct Arguments {
  ModelArguments model;
  std::string file;
  bool json = false;
  bool tensors = false;
  bool metadata = false;
  bool chat_template = false;
};

struct Found {
  fs::path path;
  InspectedModel model;
  Result<std::shared_ptr<const Tokenizer>> tokenizer;
};

struct TypeTotal {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

std::map<std::string, TypeTotal> ByType(const std::vector<InspectedTensor>& tensors) {
  std::map<std::string, TypeTotal> totals;
  for (const InspectedTensor& tensor : tensors) {
    TypeTotal& total = totals[tensor.type];
    ++total.count;
    total.bytes += tensor.bytes;
  }
  return totals;
}

std::int64_t AllBytes(const std::vector<InspectedTensor>& tensors) {
  std::int64_t bytes = 0;
  for (const InspectedTensor& tensor : tensors) bytes += tensor.bytes;
  return bytes;
}

std::vector<TokenId> SpecialIds(const Vocabulary& vocabulary) {
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.kind(id) == TokenKind::kControl) ids.push_back(id);
  }
  return ids;
}

std::string_view ScalingName(RopeScalingKind kind) {
  switch (kind) {
    case RopeScalingKind::kNone:
      return "none";
    case RopeScalingKind::kLinear:
      return "linear";
    case RopeScalingKind::kLlama3:
      return "llama3";
    case RopeScalingKind::kYarn:
      return "yarn";
  }
  return "";
}

// The window of the windowed layers, and how many they are.
std::pair<int, int> Windows(const ModelConfig& config) {
  int window = 0;
  int count = 0;
  for (const int layer : config.layer_window) {
    if (layer > 0) {
      window = layer;
      ++count;
    }
  }
  return {window, count};
}

Json ConfigJson(const ModelConfig& config) {
  const auto [window, windowed] = Windows(config);
  return {{"layers", config.n_layers},
          {"dim", config.dim},
          {"heads", config.n_heads},
          {"kv_heads", config.n_kv_heads},
          {"head_dim", config.head_dim},
          {"hidden_dim", config.hidden_dim},
          {"vocab_size", config.vocab_size},
          {"context_length", config.context_length},
          {"norm_eps", config.norm_eps},
          {"activation", config.activation == Activation::kSilu ? "silu" : "gelu_tanh"},
          {"tied_output", config.tied_output},
          {"qkv_bias", config.qkv_bias},
          {"qk_norm", config.qk_norm},
          {"rope_base", config.rope.base},
          {"rope_scaling", ScalingName(config.rope.scaling.kind)},
          {"rope_pairing",
           config.rope_pairing == RopePairing::kInterleaved ? "interleaved" : "half_split"},
          {"windowed_layers", windowed},
          {"window", window}};
}

Json IdOrNull(std::optional<TokenId> id) { return id ? Json(*id) : Json(nullptr); }

Json TokenizerJson(const Tokenizer& tokenizer) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  Json special = Json::array();
  for (const TokenId id : SpecialIds(vocabulary)) {
    special.push_back({{"id", id}, {"name", TextOrHex(vocabulary.bytes(id))}});
  }
  return {{"kind", tokenizer.kind()},          {"size", vocabulary.size()},
          {"bos", IdOrNull(tokenizer.bos())},  {"eos", IdOrNull(tokenizer.eos())},
          {"stop_ids", vocabulary.stop_ids()}, {"wants_bos", tokenizer.wants_bos()},
          {"special", std::move(special)}};
}

Json TensorsJson(const std::vector<InspectedTensor>& tensors, bool list) {
  Json types = Json::object();
  for (const auto& [type, total] : ByType(tensors)) {
    types[type] = {{"count", total.count}, {"bytes", total.bytes}};
  }
  Json json = {{"count", tensors.size()}, {"bytes", AllBytes(tensors)}, {"types", types}};
  if (!list) return json;
  Json all = Json::array();
  for (const InspectedTensor& tensor : tensors) {
    all.push_back({{"name", tensor.name},
                   {"type", tensor.type},
                   {"shape", tensor.shape},
                   {"bytes", tensor.bytes}});
  }
  json["list"] = std::move(all);
  return json;
}

Json ErrorJson(const Error& error) {
  return {{"error", {{"code", ToString(error.code)}, {"message", ToString(error)}}}};
}

Json ToJson(const Found& found, const Arguments& arguments) {
  const InspectedModel& model = found.model;
  Json json = {{"file", found.path.string()},        {"format", model.format},
               {"file_bytes", model.file_bytes},     {"name", model.name},
               {"architecture", model.architecture}, {"supported", model.config.has_value()}};
  json["config"] = model.config ? ConfigJson(*model.config) : ErrorJson(model.config.error());
  json["tokenizer"] =
      found.tokenizer ? TokenizerJson(**found.tokenizer) : ErrorJson(found.tokenizer.error());
  json["tensors"] = model.tensors ? TensorsJson(*model.tensors, arguments.tensors)
                                  : ErrorJson(model.tensors.error());
  if (model.config) {
    json["memory"] = {
        {"cache_bytes_per_1000_tokens", kThousand * CacheBytesPerToken(*model.config)},
        {"cache_bytes_full_window",
         model.config->context_length * CacheBytesPerToken(*model.config)}};
    if (model.tensors) json["memory"]["weight_bytes"] = AllBytes(*model.tensors);
  }
  if (found.tokenizer && (*found.tokenizer)->chat_template()) {
    json["template"] = *(*found.tokenizer)->chat_template();
  } else {
    json["template"] = nullptr;
  }
  if (arguments.metadata) {
    Json metadata = Json::object();
    for (const auto& [key, value] : model.metadata) metadata[key] = TextOrHex(value);
    json["metadata"] = std::move(metadata);
  }
  return json;
}

std::string Line(std::string_view label, const std::string& value) {
  return Column(label, kLabelWidth) + Printable(value) + "\n";
}

std::string ConfigLines(const ModelConfig& config) {
  const auto [window, windowed] = Windows(config);
  std::string lines =
      Line("layers", std::to_string(config.n_layers) + " x " + std::to_string(config.dim) +
                         ", feed-forward " + std::to_string(config.hidden_dim));
  lines += Line("heads", std::to_string(config.n_heads) + " (" + std::to_string(config.n_kv_heads) +
                             " for keys and values) x " + std::to_string(config.head_dim));
  lines += Line("output", std::to_string(config.vocab_size) + " tokens, " +
                              (config.tied_output ? "tied to the embedding" : "own matrix"));
  lines += Line("context window", std::to_string(config.context_length) + " tokens");
  lines += Line("rotary", "base " + Fixed(config.rope.base, 0) + ", scaling " +
                              std::string(ScalingName(config.rope.scaling.kind)));
  if (windowed > 0) {
    lines += Line("windowed layers", std::to_string(windowed) + " of " +
                                         std::to_string(config.n_layers) + ", window " +
                                         std::to_string(window));
  }
  return lines;
}

std::string TokenizerLines(const Tokenizer& tokenizer) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  std::string lines =
      Line("tokenizer", std::string(tokenizer.kind()) + ", " + std::to_string(vocabulary.size()) +
                            " tokens" + (tokenizer.wants_bos() ? ", BOS in front" : ""));
  const std::vector<TokenId> special = SpecialIds(vocabulary);
  std::string names;
  for (std::size_t i = 0; i < special.size() && i < kMaxSpecialsShown; ++i) {
    names += (names.empty() ? "" : "  ") + std::to_string(special[i]) + " " +
             std::string(vocabulary.bytes(special[i]));
  }
  if (special.size() > kMaxSpecialsShown) {
    names += "  and " + std::to_string(special.size() - kMaxSpecialsShown) + " more (--json)";
  }
  lines += Line("special tokens", names.empty() ? "none" : names);
  std::string stops;
  for (const TokenId id : vocabulary.stop_ids()) {
    stops += (stops.empty() ? "" : "  ") + std::to_string(id);
  }
  return lines + Line("stop ids", stops.empty() ? "none" : stops);
}

std::string TensorLines(const std::vector<InspectedTensor>& tensors, bool list) {
  std::string types;
  for (const auto& [type, total] : ByType(tensors)) {
    types += (types.empty() ? ": " : ", ") + type + " x " + std::to_string(total.count) + " (" +
             ByteWords(static_cast<double>(total.bytes)) + ")";
  }
  std::string lines = Line("tensors", std::to_string(tensors.size()) + types);
  if (!list) return lines;
  for (const InspectedTensor& tensor : tensors) {
    std::string shape;
    for (const std::int64_t size : tensor.shape) {
      shape += (shape.empty() ? "" : " x ") + std::to_string(size);
    }
    lines += "  " + Column(Printable(tensor.name), 32) + " " + Column(tensor.type, 8) + " " +
             Column(shape, 20) + " " + std::to_string(tensor.bytes) + "\n";
  }
  return lines;
}

std::string Report(const Found& found, const Arguments& arguments) {
  const InspectedModel& model = found.model;
  std::string text = Line("file", found.path.string());
  text += Line("format", model.format + ", " + ByteWords(static_cast<double>(model.file_bytes)));
  if (!model.name.empty()) text += Line("name", model.name);
  text += Line("architecture", model.architecture);
  text += model.config ? ConfigLines(*model.config)
                       : Line("as a model", "refused: " + ToString(model.config.error()));
  text += found.tokenizer ? TokenizerLines(**found.tokenizer)
                          : Line("tokenizer", "refused: " + ToString(found.tokenizer.error()));
  text += model.tensors ? TensorLines(*model.tensors, arguments.tensors)
                        : Line("tensors", "refused: " + ToString(model.tensors.error()));
  if (model.config) {
    const double per_token = static_cast<double>(CacheBytesPerToken(*model.config));
    text += Line("cache", ByteWords(kThousand * per_token) + " for 1,000 tokens, " +
                              ByteWords(model.config->context_length * per_token) +
                              " for the whole window");
    if (model.tensors) {
      text += Line("weights", ByteWords(static_cast<double>(AllBytes(*model.tensors))));
    }
  }
  const bool has_template = found.tokenizer && (*found.tokenizer)->chat_template();
  text += Line("chat template", has_template
                                    ? std::to_string((*found.tokenizer)->chat_template()->size()) +
                                          " bytes (--template prints it)"
                                    : "none");
  if (arguments.metadata) {
    for (const auto& [key, value] : model.metadata) {
      text += "  " + Printable(key) + " = " + Printable(value) + "\n";
    }
  }
  return text;
}

Json TokenizerFileJson(const fs::path& path, const Tokenizer& tokenizer, const Error& error) {
  Json json = {{"file", path.string()},
               {"format", "tokenizer"},
               {"supported", false},
               {"config", ErrorJson(error)},
               {"tokenizer", TokenizerJson(tokenizer)},
               {"template", nullptr}};
  if (tokenizer.chat_template()) json["template"] = *tokenizer.chat_template();
  return json;
}

std::string TokenizerFileReport(const fs::path& path, const Tokenizer& tokenizer,
                                const Error& error) {
  return Line("file", path.string()) + Line("format", "tokenizer alone") +
         Line("as a model", "refused: " + ToString(error)) + TokenizerLines(tokenizer);
}

// An object's members, a line each.
std::string JsonLines(const Json& json) {
  std::string lines;
  for (const auto& [key, value] : json.items()) {
    lines += Line(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return lines;
}

// A trained head's file is described as such.
Outcome<int> InspectHead(const TrainedHead& head, const fs::path& path, bool as_json) {
  Json json = {{"file", path.string()},
               {"format", "adjudge head"},
               {"fingerprint", head.Fingerprint()},
               {"form", ToString(head.model.form)},
               {"kind", ToString(head.model.kind)},
               {"labels", head.labels},
               {"backbone",
                {{"name", head.backbone_name},
                 {"fingerprint", head.backbone},
                 {"layers", head.backbone_layers},
                 {"dim", head.backbone_dim},
                 {"precision", head.precision}}},
               {"layers", head.spec.layers},
               {"pooling", ToString(head.spec.pooling)},
               {"prefix", head.spec.prefix},
               {"suffix", head.spec.suffix},
               {"calibration", Json::parse(head.calibration.ToJson())},
               {"training_data", head.training_data},
               {"training_texts", head.training_items.size()},
               {"metrics", head.metrics},
               {"notes", head.notes}};
  Json tensors = Json::object();
  for (const auto& [name, tensor] : head.model.tensors) tensors[name] = tensor.shape;
  json["tensors"] = std::move(tensors);
  Output output;
  output.Write(as_json ? Dump(json) : JsonLines(json));
  return output.Finish();
}

Outcome<int> InspectPointer(const PointerHead& head, const fs::path& path, bool as_json) {
  const Json json = {{"file", path.string()},
                     {"format", "adjudge pointer head"},
                     {"fingerprint", head.Fingerprint()},
                     {"head_dim", head.head_dim()},
                     {"dim", head.dim()},
                     {"option_isolation", head.isolated},
                     {"marks",
                      {head.marks.state, head.marks.question, head.marks.option_begin,
                       head.marks.option_end, head.marks.decide}},
                     {"temperature", head.temperature},
                     {"backbone", {{"name", head.backbone_name}, {"fingerprint", head.backbone}}},
                     {"training_states", head.training_items.size()},
                     {"metrics", head.metrics}};
  Output output;
  output.Write(as_json ? Dump(json) : JsonLines(json));
  return output.Finish();
}

Outcome<int> Run(Arguments arguments) {
  if (!arguments.file.empty()) {
    if (!arguments.model.model.empty()) {
      return UsageFailure("give the file once: FILE or --model FILE");
    }
    arguments.model.model = arguments.file;
  }
  CLI_ASSIGN_OR_RETURN(const fs::path path, FindModel(arguments.model));
  if (path.extension() != ".gguf" && IsPointerHead(path)) {
    CLI_ASSIGN_OR_RETURN(const PointerHead head, OrExit(PointerHead::Read(path), kFailed));
    return InspectPointer(head, path, arguments.json);
  }
  if (IsTrainedHead(path)) {
    CLI_ASSIGN_OR_RETURN(const TrainedHead head, OrExit(TrainedHead::Read(path), kFailed));
    return InspectHead(head, path, arguments.json);
  }
  const std::string shown = "model " + Printable(path.string());
  Output output;
  if (arguments.chat_template) {
    CLI_ASSIGN_OR_RETURN(const auto tokenizer, LoadTokenizer(arguments.model));
    if (!tokenizer->chat_template()) {
      return tl::unexpected<Failure>(Failure(kFailed, shown + ": no chat template"));
    }
    output.WriteText(*tokenizer->chat_template());
    if (output.is_terminal()) output.Write("\n");
    return output.Finish();
  }
  Result<InspectedModel> inspected = InspectModel(path);
  if (!inspected && inspected.error().place == path.string()) inspected.error().place.clear();
  if (!inspected) {
    // A tokenizer's file alone is no model, but can be described.
    const auto tokenizer = Tokenizer::Load(path);
    if (tokenizer) {
      output.Write(arguments.json ? Dump(TokenizerFileJson(path, **tokenizer, inspected.error()))
                                  : TokenizerFileReport(path, **tokenizer, inspected.error()));
      return output.Finish();
    }
  }
  CLI_ASSIGN_OR_RETURN(InspectedModel model, OrExit(std::move(inspected), kModel, shown));
  const std::string tokenizer_file = arguments.model.tokenizer;
  const Found found = {path, std::move(model),
                       Tokenizer::Load(tokenizer_file.empty() ? path : fs::path(tokenizer_file))};
  output.Write(arguments.json ? Dump(ToJson(found, arguments)) : Report(found, arguments));
  return output.Finish();
}

}  // namespace

void AddInspect(CLI::App& app, Program& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("inspect", "Show what a model's or a trained head's file holds");
  AddFileOptions(*verb, arguments->model);
  verb->add_option("file", arguments->file, "the same as --model")->type_name("FILE");
  verb->add_flag("--json", arguments->json, "one JSON object");
  verb->add_flag("--tensors", arguments->tensors, "list every tensor");
  verb->add_flag("--metadata", arguments->metadata, "list a GGUF file's scalar keys");
  verb->add_flag("--template", arguments->chat_template, "print the chat template alone");
  verb->footer(
      "A file that adjudge refuses as a model is described as far as it can be read.\n\n"
      "Examples:\n"
      "  adjudge inspect\n"
      "  adjudge inspect --model other.gguf --tensors\n"
      "  adjudge inspect my.head");
  verb->callback([arguments, &program] { program.run = [arguments] { return Run(*arguments); }; });
}

}  // namespace adjudge::cli
