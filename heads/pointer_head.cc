#include "heads/pointer_head.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/check.h"
#include "engine/decision_tensors.h"
#include "engine/fingerprint.h"
#include "engine/json_check.h"
#include "heads/calibration.h"

namespace adjudge {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKey = "adjudge_pointer";

std::string Shape(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

Status CheckShape(const FloatTensor& tensor, const std::vector<std::int64_t>& shape,
                  const char* name) {
  if (tensor.shape != shape) {
    return Fail(tensor.shape.empty() ? ErrorCode::kNotFound : ErrorCode::kMalformed,
                "expected the shape " + Shape(shape) + ", found " + Shape(tensor.shape), name);
  }
  for (const float value : tensor.values) {
    if (!std::isfinite(value)) {
      return Fail(ErrorCode::kNotFinite, "a value is no finite number", name);
    }
  }
  return {};
}

Status CheckTemperature(double temperature, const std::string& place) {
  if (temperature >= Calibration::kLeastTemperature &&
      temperature <= Calibration::kMostTemperature) {
    return {};
  }
  return Fail(ErrorCode::kInvalidArgument,
              "expected a temperature from 0.05 to 20, found " + Json(temperature).dump(), place);
}

std::vector<double> Project(const FloatTensor& weight, const FloatTensor& bias, const float* x) {
  const auto rows = static_cast<std::size_t>(weight.shape[0]);
  const auto cols = static_cast<std::size_t>(weight.shape[1]);
  std::vector<double> out(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const float* w = weight.values.data() + r * cols;
    double sum = bias.values[r];
    for (std::size_t d = 0; d < cols; ++d) {
      sum += static_cast<double>(w[d]) * static_cast<double>(x[d]);
    }
    out[r] = sum;
  }
  return out;
}

// Bases whose layers are not all attention.
Status CheckBase(const std::string& base) {
  std::string lower;
  for (const char c : base) {
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const char* hybrid : {"qwen3.5", "qwen35", "qwen3_5"}) {
    if (lower.find(hybrid) == std::string::npos) continue;
    return Fail(ErrorCode::kUnsupported,
                "the head is of " + base +
                    ", whose hybrid layers (Gated DeltaNet) adjudge does not compute",
                "base");
  }
  return {};
}

Status ReadOwn(const std::string& text, PointerHead& head) {
  ADJUDGE_RETURN_IF_ERROR(CheckJson(text));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto string = [&](const Json& object, const char* key, std::string& to) -> Status {
    const Json value = object.value(key, Json());
    if (!value.is_string()) return Fail(ErrorCode::kMalformed, "expected a string", key);
    to = value.get<std::string>();
    return {};
  };
  if (!json.is_object() || json.value("version", Json()) != 1) {
    return Fail(ErrorCode::kUnsupported, "expected version 1 of a pointer head", kKey);
  }
  ADJUDGE_RETURN_IF_ERROR(string(json, "backbone", head.backbone));
  ADJUDGE_RETURN_IF_ERROR(string(json, "backbone_name", head.backbone_name));
  const Json marks = json.value("marks", Json::object());
  if (!marks.is_object()) return Fail(ErrorCode::kMalformed, "expected an object", "marks");
  ADJUDGE_RETURN_IF_ERROR(string(marks, "state", head.marks.state));
  ADJUDGE_RETURN_IF_ERROR(string(marks, "question", head.marks.question));
  ADJUDGE_RETURN_IF_ERROR(string(marks, "option_begin", head.marks.option_begin));
  ADJUDGE_RETURN_IF_ERROR(string(marks, "option_end", head.marks.option_end));
  ADJUDGE_RETURN_IF_ERROR(string(marks, "decide", head.marks.decide));
  const Json isolated = json.value("option_isolation", Json());
  const Json temperature = json.value("temperature", Json());
  if (!isolated.is_boolean() || !temperature.is_number()) {
    return Fail(ErrorCode::kMalformed, "expected option_isolation and a temperature", kKey);
  }
  head.isolated = isolated.get<bool>();
  head.temperature = temperature.get<double>();
  std::string items;
  ADJUDGE_RETURN_IF_ERROR(string(json, "training_items", items));
  constexpr std::size_t kDigits = 16;
  for (std::size_t at = 0; at + kDigits <= items.size(); at += kDigits) {
    head.training_items.insert(items.substr(at, kDigits));
  }
  const Json metrics = json.value("metrics", Json::object());
  for (const auto& [key, value] : metrics.items()) {
    if (value.is_number()) head.metrics[key] = value.get<double>();
  }
  return {};
}

// The plain keys of an exported head.pt.
Status ReadExported(const std::map<std::string, std::string>& metadata, PointerHead& head) {
  const auto get = [&](const char* key) {
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string() : found->second;
  };
  head.backbone_name = get("base");
  const std::string isolated = get("option_isolation");
  head.isolated = isolated == "true" || isolated == "True";
  if (const std::string special = get("special_embeddings");
      special == "true" || special == "True") {
    return Fail(ErrorCode::kUnsupported, "a head with embeddings of its own is not read",
                "special_embeddings");
  }
  if (const std::string text = get("temperature"); !text.empty()) {
    char* end = nullptr;
    head.temperature = std::strtod(text.c_str(), &end);
    if (*end != '\0') return Fail(ErrorCode::kMalformed, "expected a number", "temperature");
  }
  if (const std::string text = get("head_dim");
      !text.empty() && text != std::to_string(head.head_dim())) {
    return Fail(ErrorCode::kMalformed,
                "head_dim is " + text + ", the tensors have " + std::to_string(head.head_dim()),
                "head_dim");
  }
  return {};
}

Result<PointerHead> FromFile(TensorFile file) {
  PointerHead head;
  const std::pair<const char*, FloatTensor*> tensors[] = {{"q.weight", &head.q_weight},
                                                          {"q.bias", &head.q_bias},
                                                          {"k.weight", &head.k_weight},
                                                          {"k.bias", &head.k_bias}};
  for (const auto& [name, to] : tensors) *to = std::move(file.tensors[name]);
  const auto own = file.metadata.find(kKey);
  ADJUDGE_RETURN_IF_ERROR(own != file.metadata.end() ? ReadOwn(own->second, head)
                                                     : ReadExported(file.metadata, head));
  ADJUDGE_RETURN_IF_ERROR(CheckBase(head.backbone_name));
  ADJUDGE_RETURN_IF_ERROR(head.Check());
  return head;
}

// Sums in ascending order, so that the order of the options changes no bit.
std::vector<double> OrderlessSoftmax(std::vector<double> z, double temperature) {
  const double largest = *std::max_element(z.begin(), z.end());
  for (double& value : z) value = std::exp((value - largest) / temperature);
  std::vector<double> sorted = z;
  std::sort(sorted.begin(), sorted.end());
  double sum = 0;
  for (const double value : sorted) sum += value;
  for (double& value : z) value /= sum;
  return z;
}

class PointerDecisionHead : public DecisionHead {
 public:
  PointerDecisionHead(std::shared_ptr<const PointerHead> head,
                      std::shared_ptr<const Tokenizer> tokenizer, const HeadOptions& options)
      : head_(std::move(head)), tokenizer_(std::move(tokenizer)), options_(options) {}

  std::string_view name() const override { return "pointer"; }

  Result<Decisions> Decide(DecisionSession& session, const Entry& state,
                           std::span<const Question> questions) const override {
    ADJUDGE_RETURN_IF_ERROR(ValidateQuestions(questions, options_.limits));
    ADJUDGE_RETURN_IF_ERROR(RefuseSelects(questions, "a pointer head"));
    ADJUDGE_ASSIGN_OR_RETURN(const PointerReading reading,
                             ReadPointerRows(session, *tokenizer_, head_->marks, head_->isolated,
                                             state, questions, options_.pack));
    Decisions decisions{.usage = reading.usage, .timings = reading.timings};
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const PointerRows& rows = reading.rows[i];
      std::vector<double> logits = head_->Logits(rows.decide, rows.options);
      for (const double logit : logits) {
        if (std::isfinite(logit)) continue;
        return Fail(ErrorCode::kNotFinite, "the model gave a hidden state that is not finite",
                    "question " + std::to_string(i));
      }
      const double temperature = head_->TemperatureOf(questions[i].type);
      Answer answer = MakeAnswer(questions[i], OrderlessSoftmax(logits, temperature));
      answer.head = name();
      answer.scores = std::move(logits);
      answer.temperature = temperature;
      answer.calibration = "temperature";
      decisions.answers.push_back(std::move(answer));
    }
    return decisions;
  }

 private:
  std::shared_ptr<const PointerHead> head_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  HeadOptions options_;
};

}  // namespace

double PointerHead::TemperatureOf(QuestionType type) const {
  const auto found = temperatures.find(std::string(ToString(type)));
  return found == temperatures.end() ? temperature : found->second;
}

std::vector<double> PointerHead::Logits(std::span<const float> decide,
                                        std::span<const float> options) const {
  const auto width = static_cast<std::size_t>(dim());
  ADJUDGE_CHECK(decide.size() == width && options.size() % width == 0);
  const std::vector<double> q = Project(q_weight, q_bias, decide.data());
  std::vector<double> logits;
  for (std::size_t at = 0; at < options.size(); at += width) {
    const std::vector<double> k = Project(k_weight, k_bias, options.data() + at);
    double sum = 0;
    for (std::size_t r = 0; r < q.size(); ++r) sum += q[r] * k[r];
    logits.push_back(sum / std::sqrt(static_cast<double>(q.size())));
  }
  return logits;
}

Status PointerHead::Check() const {
  const std::int64_t r = std::max(head_dim(), 1);
  const std::int64_t d = std::max(dim(), 1);
  ADJUDGE_RETURN_IF_ERROR(CheckShape(q_weight, {r, d}, "q.weight"));
  ADJUDGE_RETURN_IF_ERROR(CheckShape(q_bias, {r}, "q.bias"));
  ADJUDGE_RETURN_IF_ERROR(CheckShape(k_weight, {r, d}, "k.weight"));
  ADJUDGE_RETURN_IF_ERROR(CheckShape(k_bias, {r}, "k.bias"));
  ADJUDGE_RETURN_IF_ERROR(CheckTemperature(temperature, "temperature"));
  for (const auto& [type, value] : temperatures) {
    ADJUDGE_RETURN_IF_ERROR(CheckTemperature(value, "temperature." + type));
  }
  return {};
}

Result<PointerHead> PointerHead::Parse(std::string bytes) {
  ADJUDGE_ASSIGN_OR_RETURN(TensorFile file, TensorFile::Parse(std::move(bytes)));
  return FromFile(std::move(file));
}

Result<PointerHead> PointerHead::Read(const std::filesystem::path& path) {
  auto file = TensorFile::Read(path);
  auto head = file ? FromFile(std::move(*file))
                   : Result<PointerHead>(tl::unexpected<Error>(std::move(file).error()));
  if (!head && head.error().place != path.string()) {
    head.error().place = path.string() + ": " + head.error().place;
  }
  return head;
}

Result<PointerHead> PointerHead::FromGguf(const std::filesystem::path& path) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto found, ReadDecisionTensors(path));
  if (!found) return Fail(ErrorCode::kNotFound, "the file has no decision head", path.string());
  if (found->type != "kev") {
    return Fail(ErrorCode::kUnsupported, "expected the decision type kev, found " + found->type,
                found->architecture + ".decision.type");
  }
  ADJUDGE_RETURN_IF_ERROR(CheckBase(found->architecture));
  const FloatTensor& weight = found->weight;
  if (weight.shape.size() != 2 || weight.shape[0] % 2 != 0 ||
      found->bias.shape != std::vector<std::int64_t>{weight.shape[0]} ||
      found->embedding_length_out.value_or(-1) != weight.shape[0]) {
    return Fail(ErrorCode::kMalformed,
                "expected [2 R, dim] with a bias [2 R] and embedding_length_out = 2 R, found " +
                    Shape(weight.shape) + ", " + Shape(found->bias.shape) + " and " +
                    std::to_string(found->embedding_length_out.value_or(0)),
                "cls.output.weight");
  }
  PointerHead head;
  const std::int64_t r = weight.shape[0] / 2;
  const std::int64_t d = weight.shape[1];
  const auto part = [](const std::vector<float>& values, std::int64_t begin, std::int64_t n) {
    return std::vector<float>(values.begin() + begin, values.begin() + begin + n);
  };
  head.q_weight = {{r, d}, part(weight.values, 0, r * d)};
  head.k_weight = {{r, d}, part(weight.values, r * d, r * d)};
  head.q_bias = {{r}, part(found->bias.values, 0, r)};
  head.k_bias = {{r}, part(found->bias.values, r, r)};
  head.temperatures = found->temperatures;
  head.backbone_name = path.stem().string();
  ADJUDGE_RETURN_IF_ERROR(head.Check());
  return head;
}

std::string PointerHead::Bytes() const {
  std::string items;
  for (const std::string& item : training_items) items += item;
  const Json json = {{"version", 1},
                     {"backbone", backbone},
                     {"backbone_name", backbone_name},
                     {"marks",
                      {{"state", marks.state},
                       {"question", marks.question},
                       {"option_begin", marks.option_begin},
                       {"option_end", marks.option_end},
                       {"decide", marks.decide}}},
                     {"option_isolation", isolated},
                     {"temperature", temperature},
                     {"training_items", items},
                     {"metrics", metrics}};
  const TensorFile file{
      .metadata = {{kKey, json.dump(-1, ' ', false, Json::error_handler_t::replace)}},
      .tensors = {
          {"q.weight", q_weight}, {"q.bias", q_bias}, {"k.weight", k_weight}, {"k.bias", k_bias}}};
  return file.Bytes();
}

std::string PointerHead::Fingerprint() const {
  PointerHead bare = *this;
  bare.temperature = 1;
  bare.training_items.clear();
  bare.metrics.clear();
  return adjudge::Fingerprint(bare.Bytes());
}

bool IsPointerHead(const std::filesystem::path& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string start(64 << 10, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  if (start.starts_with("GGUF")) {
    const auto found = ReadDecisionTensors(path);
    return found && *found;
  }
  return start.size() > 8 && start[8] == '{' && start.find("\"q.weight\":") != std::string::npos;
}

Result<std::unique_ptr<DecisionHead>> MakePointerDecisionHead(
    std::shared_ptr<const PointerHead> head, std::shared_ptr<const Model> model,
    std::shared_ptr<const Tokenizer> tokenizer, std::string_view fingerprint,
    const HeadOptions& options) {
  if (!head->backbone.empty() && head->backbone != fingerprint) {
    return Fail(ErrorCode::kUnsupported,
                "the head was trained on the model " + head->backbone_name + " (" + head->backbone +
                    "), and this is " + std::string(fingerprint),
                "backbone");
  }
  if (head->dim() != model->config().dim) {
    return Fail(ErrorCode::kUnsupported,
                "the head of " + head->backbone_name + " reads states of " +
                    std::to_string(head->dim()) + " numbers, the model has " +
                    std::to_string(model->config().dim),
                "backbone");
  }
  for (const std::string* mark :
       {&head->marks.state, &head->marks.question, &head->marks.option_begin,
        &head->marks.option_end, &head->marks.decide}) {
    if (tokenizer->FindSpecial(*mark)) continue;
    return Fail(ErrorCode::kUnsupported,
                "the vocabulary has no token " + *mark + ", a marker of this pointer head",
                "marks");
  }
  return std::unique_ptr<DecisionHead>(
      std::make_unique<PointerDecisionHead>(std::move(head), std::move(tokenizer), options));
}

}  // namespace adjudge
