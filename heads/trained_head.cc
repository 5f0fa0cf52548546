#include "heads/trained_head.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/atomic_file.h"
#include "engine/fingerprint.h"
#include "engine/json_check.h"
#include "engine/tensor_file.h"
#include "heads/labelled_texts.h"

namespace adjudge {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKey = "adjudge_head";
constexpr int kVersion = 1;
constexpr std::size_t kItemDigits = 16;

// Reads members by name, with the key in every error.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  template <typename T>
  Result<T> Get(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) return Fail(ErrorCode::kNotFound, "no such key", Place(key));
    if (!Fits<T>(*found)) {
      return Fail(ErrorCode::kMalformed, std::string("not expected: ") + found->type_name(),
                  Place(key));
    }
    return found->template get<T>();
  }

 private:
  static std::string Place(const char* key) { return std::string(kKey) + "/" + key; }

  template <typename T>
  static bool Fits(const Json& value) {
    if constexpr (std::is_same_v<T, std::string>) return value.is_string();
    if constexpr (std::is_same_v<T, int>) {
      return value.is_number_integer() && value >= 0 && value <= (1 << 30);
    }
    if constexpr (std::is_same_v<T, double>) {
      return value.is_number() && std::isfinite(value.template get<double>());
    }
    const auto all = [&](auto is) { return std::all_of(value.begin(), value.end(), is); };
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      return value.is_array() && all([](const Json& item) { return item.is_string(); });
    }
    if constexpr (std::is_same_v<T, std::vector<int>>) {
      return value.is_array() && all([](const Json& item) {
               return item.is_number_integer() && item >= 0 && item <= (1 << 30);
             });
    }
    if constexpr (std::is_same_v<T, std::map<std::string, double>>) {
      return value.is_object() && all([](const Json& item) { return item.is_number(); });
    }
    if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
      return value.is_object() && all([](const Json& item) { return item.is_string(); });
    }
    if constexpr (std::is_same_v<T, Json>) return value.is_object();
    return false;
  }

  const Json& json_;
};

Status CheckLabels(const std::vector<std::string>& labels, const TrainedHeadLimits& limits) {
  const std::string place = std::string(kKey) + "/labels";
  if (labels.size() > static_cast<std::size_t>(limits.max_labels)) {
    return Fail(ErrorCode::kLimit,
                std::to_string(labels.size()) + " labels; max_labels is " +
                    std::to_string(limits.max_labels),
                place);
  }
  const std::set<std::string> distinct(labels.begin(), labels.end());
  if (distinct.size() == labels.size() && distinct.count("") == 0) return {};
  return Fail(ErrorCode::kMalformed, "expected distinct labels, none empty", place);
}

Status ReadModel(const Json& json, TrainedHead& head) {
  const Reader reader(json);
  ADJUDGE_ASSIGN_OR_RETURN(const std::string form, reader.Get<std::string>("form"));
  ADJUDGE_ASSIGN_OR_RETURN(head.model.form, ParseHeadForm(form));
  ADJUDGE_ASSIGN_OR_RETURN(const std::string kind, reader.Get<std::string>("kind"));
  ADJUDGE_ASSIGN_OR_RETURN(head.model.kind, ParseLabelKind(kind));
  ADJUDGE_ASSIGN_OR_RETURN(head.labels, reader.Get<std::vector<std::string>>("labels"));
  ADJUDGE_ASSIGN_OR_RETURN(head.model.width, reader.Get<int>("width"));
  ADJUDGE_ASSIGN_OR_RETURN(head.model.neighbours, reader.Get<int>("neighbours"));
  ADJUDGE_ASSIGN_OR_RETURN(head.model.sharpness, reader.Get<double>("sharpness"));
  head.model.n_labels = static_cast<int>(head.labels.size());
  return {};
}

Status ReadSpec(const Json& json, StateSpec& spec) {
  const Reader reader(json);
  ADJUDGE_ASSIGN_OR_RETURN(spec.layers, reader.Get<std::vector<int>>("layers"));
  ADJUDGE_ASSIGN_OR_RETURN(const std::string pooling, reader.Get<std::string>("pooling"));
  ADJUDGE_ASSIGN_OR_RETURN(spec.pooling, ParsePooling(pooling));
  ADJUDGE_ASSIGN_OR_RETURN(spec.prefix, reader.Get<std::string>("prefix"));
  ADJUDGE_ASSIGN_OR_RETURN(spec.suffix, reader.Get<std::string>("suffix"));
  return {};
}

Status ReadOrigin(const Json& json, TrainedHead& head) {
  const Reader reader(json);
  ADJUDGE_ASSIGN_OR_RETURN(head.backbone, reader.Get<std::string>("backbone"));
  ADJUDGE_ASSIGN_OR_RETURN(head.backbone_name, reader.Get<std::string>("backbone_name"));
  ADJUDGE_ASSIGN_OR_RETURN(head.backbone_layers, reader.Get<int>("backbone_layers"));
  ADJUDGE_ASSIGN_OR_RETURN(head.backbone_dim, reader.Get<int>("backbone_dim"));
  ADJUDGE_ASSIGN_OR_RETURN(head.precision, reader.Get<std::string>("precision"));
  ADJUDGE_ASSIGN_OR_RETURN(head.training_data, reader.Get<std::string>("training_data"));
  ADJUDGE_ASSIGN_OR_RETURN(const std::string items, reader.Get<std::string>("training_items"));
  for (std::size_t at = 0; at + kItemDigits <= items.size(); at += kItemDigits) {
    head.training_items.insert(items.substr(at, kItemDigits));
  }
  using Numbers = std::map<std::string, double>;
  ADJUDGE_ASSIGN_OR_RETURN(head.metrics, reader.Get<Numbers>("metrics"));
  using Texts = std::map<std::string, std::string>;
  ADJUDGE_ASSIGN_OR_RETURN(head.notes, reader.Get<Texts>("notes"));
  return {};
}

Result<TrainedHead> FromFile(TensorFile file, const TrainedHeadLimits& limits) {
  const auto found = file.metadata.find(kKey);
  if (found == file.metadata.end()) {
    return Fail(ErrorCode::kMalformed, "the file has no key of a trained head", kKey);
  }
  ADJUDGE_RETURN_IF_ERROR(CheckJson(found->second, {.max_bytes = limits.max_bytes}));
  const Json json = Json::parse(found->second, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Fail(ErrorCode::kMalformed, "expected an object", kKey);
  const Reader reader(json);
  ADJUDGE_ASSIGN_OR_RETURN(const int version, reader.Get<int>("version"));
  if (version != kVersion) {
    return Fail(ErrorCode::kUnsupported,
                "expected version 1, found version " + std::to_string(version),
                std::string(kKey) + "/version");
  }
  TrainedHead head;
  ADJUDGE_RETURN_IF_ERROR(ReadModel(json, head));
  ADJUDGE_RETURN_IF_ERROR(CheckLabels(head.labels, limits));
  ADJUDGE_RETURN_IF_ERROR(ReadSpec(json, head.spec));
  ADJUDGE_RETURN_IF_ERROR(ReadOrigin(json, head));
  const std::int64_t width = static_cast<std::int64_t>(head.spec.layers.size()) * head.backbone_dim;
  if (width != head.model.width) {
    return Fail(ErrorCode::kMalformed,
                "expected a width of " + std::to_string(width) + " (" +
                    std::to_string(head.spec.layers.size()) + " layers of " +
                    std::to_string(head.backbone_dim) + "), found " +
                    std::to_string(head.model.width),
                std::string(kKey) + "/width");
  }
  head.model.tensors = std::move(file.tensors);
  ADJUDGE_RETURN_IF_ERROR(head.model.Check());
  ADJUDGE_ASSIGN_OR_RETURN(const Json calibration, reader.Get<Json>("calibration"));
  auto read = Calibration::FromJson(calibration.dump(), head.model.kind, head.model.n_labels);
  if (!read) {
    read.error().place = std::string(kKey) + "/calibration" + read.error().place;
    return tl::unexpected<Error>(std::move(read).error());
  }
  head.calibration = std::move(*read);
  return head;
}

Json SpecJson(const StateSpec& spec) {
  return {{"layers", spec.layers},
          {"pooling", ToString(spec.pooling)},
          {"prefix", spec.prefix},
          {"suffix", spec.suffix}};
}

}  // namespace

Result<TrainedHead> TrainedHead::Parse(std::string bytes, const TrainedHeadLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(TensorFile file,
                           TensorFile::Parse(std::move(bytes), {.max_bytes = limits.max_bytes}));
  return FromFile(std::move(file), limits);
}

Result<TrainedHead> TrainedHead::Read(const std::filesystem::path& path,
                                      const TrainedHeadLimits& limits) {
  auto file = TensorFile::Read(path, {.max_bytes = limits.max_bytes});
  auto head = file ? FromFile(std::move(*file), limits)
                   : Result<TrainedHead>(tl::unexpected<Error>(std::move(file).error()));
  if (!head && head.error().place != path.string()) {
    const std::string place = head.error().place;
    head.error().place = path.string() + (place.empty() ? "" : ": " + place);
  }
  return head;
}

bool IsTrainedHead(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(64 << 10, '\0');
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return false;
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  // The metadata come first in the header, their length before them.
  constexpr std::size_t kLengthBytes = 8;
  return start.size() > kLengthBytes && start[kLengthBytes] == '{' &&
         start.find("\"" + std::string(kKey) + "\":") != std::string::npos;
}

std::string TrainedHead::Bytes() const {
  Json json = {{"version", kVersion},
               {"form", ToString(model.form)},
               {"kind", ToString(model.kind)},
               {"labels", labels},
               {"width", model.width},
               {"neighbours", model.neighbours},
               {"sharpness", model.sharpness},
               {"backbone", backbone},
               {"backbone_name", backbone_name},
               {"backbone_layers", backbone_layers},
               {"backbone_dim", backbone_dim},
               {"precision", precision}};
  json.update(SpecJson(spec));
  json["calibration"] = Json::parse(calibration.ToJson());
  json["training_data"] = training_data;
  std::string items;
  for (const std::string& item : training_items) items += item;
  json["training_items"] = items;
  json["metrics"] = metrics;
  json["notes"] = notes;
  const TensorFile file{
      .metadata = {{kKey, json.dump(-1, ' ', false, Json::error_handler_t::replace)}},
      .tensors = model.tensors};
  return file.Bytes();
}

Status TrainedHead::Write(const std::filesystem::path& path) const {
  return WriteFileAtomically(path, Bytes());
}

std::string TrainedHead::Fingerprint() const {
  const Json json = {{"form", ToString(model.form)},
                     {"kind", ToString(model.kind)},
                     {"labels", labels},
                     {"backbone", backbone},
                     {"neighbours", model.neighbours},
                     {"sharpness", model.sharpness},
                     {"spec", SpecJson(spec)}};
  const TensorFile file{
      .metadata = {{"head", json.dump(-1, ' ', false, Json::error_handler_t::replace)}},
      .tensors = model.tensors};
  return adjudge::Fingerprint(file.Bytes());
}

Status TrainedHead::CheckBackbone(std::string_view fingerprint, std::string_view name) const {
  if (fingerprint == backbone) return {};
  return Fail(ErrorCode::kUnsupported,
              "the head was trained on the model " + backbone_name + " (" + backbone +
                  "), and this is " + std::string(name) + " (" + std::string(fingerprint) + ")",
              "backbone");
}

bool TrainedHead::TrainedOn(std::string_view text) const {
  return training_items.count(ItemFingerprint(text).substr(0, kItemDigits)) > 0;
}

std::string CalibrationFile::ToJson() const {
  const Json json = {{"adjudge_calibration", 1},
                     {"head", head},
                     {"n", n},
                     {"items", items},
                     {"calibration", Json::parse(calibration.ToJson())}};
  return json.dump() + "\n";
}

Result<CalibrationFile> ReadCalibrationFile(std::string_view text, const TrainedHead& head) {
  ADJUDGE_RETURN_IF_ERROR(CheckJson(text));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("adjudge_calibration", Json()) != 1) {
    return Fail(ErrorCode::kMalformed, "expected a calibration: {\"adjudge_calibration\": 1, ...}");
  }
  const Reader reader(json);
  CalibrationFile file;
  ADJUDGE_ASSIGN_OR_RETURN(file.head, reader.Get<std::string>("head"));
  if (file.head != head.Fingerprint()) {
    return Fail(
        ErrorCode::kUnsupported,
        "the calibration is of the head " + file.head + ", and this is " + head.Fingerprint(),
        "/head");
  }
  ADJUDGE_ASSIGN_OR_RETURN(file.n, reader.Get<int>("n"));
  ADJUDGE_ASSIGN_OR_RETURN(file.items, reader.Get<std::string>("items"));
  ADJUDGE_ASSIGN_OR_RETURN(const Json calibration, reader.Get<Json>("calibration"));
  auto read = Calibration::FromJson(calibration.dump(), head.model.kind, head.model.n_labels);
  if (!read) {
    read.error().place = "/calibration" + read.error().place;
    return tl::unexpected<Error>(std::move(read).error());
  }
  file.calibration = std::move(*read);
  return file;
}

}  // namespace adjudge
