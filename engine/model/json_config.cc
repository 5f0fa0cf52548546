#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "engine/model/architectures.h"
#include "engine/model/config_checks.h"
#include "engine/model/config_reader.h"
#include "engine/model/printable_name.h"
#include "engine/model/strict_json.h"

namespace adjudge {
namespace {

using nlohmann::json;

// Keys that would change the arithmetic; only null and the neutral value are computed here.
struct UnsupportedKey {
  const char* key;
  double neutral;
};
constexpr UnsupportedKey kUnsupportedKeys[] = {
    {"mlp_bias", 0},
    {"attn_logit_softcapping", 0},
    {"use_bidirectional_attention", 0},
    {"partial_rotary_factor", 1},
    {"rope_interleaved", 0},
    {"num_local_experts", 0},
    {"num_experts", 0},
    {"residual_multiplier", 1},
    {"embedding_multiplier", 1},
    {"attention_multiplier", 1},
    {"logits_scaling", 1},
    {"is_encoder_decoder", 0},
};

// What may stand in rope_scaling; anything else would be passed over in silence.
constexpr std::string_view kRopeKeys[] = {
    "rope_type",
    "type",
    "rope_theta",
    "factor",
    "original_max_position_embeddings",
    "low_freq_factor",
    "high_freq_factor",
    "beta_fast",
    "beta_slow",
    "attention_factor",
    "finetuned",
};

// An object of the config and its JSON pointer. A null value counts as absent.
class Object {
 public:
  Object(const json& value, std::string pointer) : value_(value), pointer_(std::move(pointer)) {}

  std::string Place(std::string_view key) const { return pointer_ + "/" + PrintableName(key); }
  const json& value() const { return value_; }

  const json* Find(std::string_view key) const {
    const auto found = value_.find(key);
    return found == value_.end() || found->is_null() ? nullptr : &*found;
  }

  tl::unexpected<Error> WrongType(std::string_view key, std::string_view expected) const {
    return Fail(ErrorCode::kMalformed,
                "expected " + std::string(expected) + ", found " + Find(key)->type_name(),
                Place(key));
  }

  Result<std::optional<std::int64_t>> Int(std::string_view key) const {
    const json* found = Find(key);
    if (found == nullptr) return std::nullopt;
    if (!found->is_number_integer()) return WrongType(key, "an integer");
    if (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX) {
      return Fail(ErrorCode::kMalformed, "expected an integer below 2^63", Place(key));
    }
    return found->get<std::int64_t>();
  }

  Result<int> Size(std::string_view key, int max, std::optional<std::int64_t> absent = {}) const {
    ADJUDGE_ASSIGN_OR_RETURN(std::optional<std::int64_t> found, Int(key));
    if (!found) found = absent;
    if (!found) return MissingKey(Place(key));
    return CheckedSize(Place(key), *found, max);
  }

  Result<double> Real(std::string_view key, std::optional<double> absent = {}) const {
    const json* found = Find(key);
    if (found == nullptr && absent) return *absent;
    if (found == nullptr) return MissingKey(Place(key));
    if (!found->is_number()) return WrongType(key, "a number");
    return found->get<double>();
  }

  Result<bool> Bool(std::string_view key, bool absent) const {
    const json* found = Find(key);
    if (found == nullptr) return absent;
    if (!found->is_boolean()) return WrongType(key, "true or false");
    return found->get<bool>();
  }

  Result<std::optional<std::string>> Text(std::string_view key) const {
    const json* found = Find(key);
    if (found == nullptr) return std::nullopt;
    if (!found->is_string()) return WrongType(key, "a string");
    return found->get<std::string>();
  }

  Result<Object> Child(std::string_view key) const {
    const json* found = Find(key);
    if (found == nullptr) return MissingKey(Place(key));
    if (!found->is_object()) return WrongType(key, "an object");
    return Object(*found, Place(key));
  }

 private:
  const json& value_;
  std::string pointer_;
};

class JsonConfigReader {
 public:
  JsonConfigReader(const json& root, const ModelConfigLimits& limits)
      : root_(root, ""), limits_(limits) {}

  Result<ModelConfig> Run() {
    ADJUDGE_RETURN_IF_ERROR(ReadArchitecture());
    ADJUDGE_RETURN_IF_ERROR(RefuseUnsupported());
    ADJUDGE_RETURN_IF_ERROR(ReadSizes());
    ApplyArchitecture(*architecture_, config_);
    config_.rope_pairing = RopePairing::kHalfSplit;
    config_.norm_weight_plus_one = architecture_->norm_weight_plus_one;
    ADJUDGE_ASSIGN_OR_RETURN(config_.tied_output,
                             root_.Bool("tie_word_embeddings", architecture_->tied_by_default));
    ADJUDGE_RETURN_IF_ERROR(ReadActivation());
    ADJUDGE_RETURN_IF_ERROR(ReadScales());
    ADJUDGE_RETURN_IF_ERROR(ReadRope());
    ADJUDGE_RETURN_IF_ERROR(ReadWindows());
    ADJUDGE_RETURN_IF_ERROR(CheckConfig(config_, Keys()));
    return std::move(config_);
  }

 private:
  static ConfigKeys Keys() {
    return {.dim = "/hidden_size",
            .n_heads = "/num_attention_heads",
            .n_kv_heads = "/num_key_value_heads",
            .head_dim = "/head_dim",
            .rope_dim = "/head_dim",
            .norm_eps = "/rms_norm_eps",
            .rope_base = "/rope_theta",
            .rope_local_base = "/rope_local_base_freq",
            .rope_factor = "/rope_scaling/factor",
            .rope_scaling = "/rope_scaling",
            .final_softcap = "/final_logit_softcapping"};
  }

  bool is(std::string_view architecture) const { return architecture_->name == architecture; }

  Status ReadArchitecture() {
    ADJUDGE_ASSIGN_OR_RETURN(const std::optional<std::string> type, root_.Text("model_type"));
    if (!type) return MissingKey("/model_type");
    architecture_ = FindModelType(*type);
    if (architecture_ == nullptr) {
      return Fail(ErrorCode::kUnsupported,
                  "unknown architecture \"" + PrintableName(*type) + "\"; adjudge computes " +
                      ModelTypeNames(),
                  "/model_type");
    }
    ADJUDGE_ASSIGN_OR_RETURN(const std::optional<std::string> name, root_.Text("_name_or_path"));
    config_.name = name.value_or("");
    return {};
  }

  Status RefuseUnsupported() const {
    for (const UnsupportedKey& unsupported : kUnsupportedKeys) {
      ADJUDGE_RETURN_IF_ERROR(RefuseUnless(unsupported.key, unsupported.neutral));
    }
    // In qwen2 the bias is the architecture's own; the tensors show whether it is there.
    if (!architecture_->qkv_bias) ADJUDGE_RETURN_IF_ERROR(RefuseUnless("attention_bias", 0));
    if (root_.Find("quantization_config") != nullptr) {
      return Fail(ErrorCode::kUnsupported, "adjudge does not read quantized safetensors",
                  "/quantization_config");
    }
    return {};
  }

  Status RefuseUnless(const char* key, double neutral) const {
    const json* found = root_.Find(key);
    if (found == nullptr) return {};
    if (found->is_boolean() && (found->get<bool>() ? 1.0 : 0.0) == neutral) return {};
    if (found->is_number() && found->get<double>() == neutral) return {};
    return Fail(ErrorCode::kUnsupported, "adjudge does not compute what this key asks for",
                root_.Place(key));
  }

  Status ReadSizes() {
    ADJUDGE_ASSIGN_OR_RETURN(config_.n_layers, root_.Size("num_hidden_layers", limits_.max_layers));
    ADJUDGE_ASSIGN_OR_RETURN(config_.dim, root_.Size("hidden_size", limits_.max_dim));
    ADJUDGE_ASSIGN_OR_RETURN(config_.n_heads, root_.Size("num_attention_heads", limits_.max_heads));
    ADJUDGE_ASSIGN_OR_RETURN(config_.n_kv_heads,
                             root_.Size("num_key_value_heads", limits_.max_heads, config_.n_heads));
    ADJUDGE_ASSIGN_OR_RETURN(config_.hidden_dim,
                             root_.Size("intermediate_size", limits_.max_hidden_dim));
    ADJUDGE_ASSIGN_OR_RETURN(config_.vocab_size, root_.Size("vocab_size", limits_.max_vocab_size));
    ADJUDGE_ASSIGN_OR_RETURN(config_.context_length,
                             root_.Size("max_position_embeddings", limits_.max_context_length));
    std::optional<std::int64_t> derived;
    if (architecture_->head_dim_from_heads && config_.dim % config_.n_heads == 0) {
      derived = config_.dim / config_.n_heads;
    }
    ADJUDGE_ASSIGN_OR_RETURN(config_.head_dim,
                             root_.Size("head_dim", limits_.max_head_dim, derived));
    config_.rope_dim = config_.head_dim;
    return {};
  }

  Status ReadActivation() {
    const char* key = is("gemma3") ? "hidden_activation" : "hidden_act";
    ADJUDGE_ASSIGN_OR_RETURN(const std::optional<std::string> name, root_.Text(key));
    if (!name) return MissingKey(root_.Place(key));
    if (*name == "silu" || *name == "swish") {
      config_.activation = Activation::kSilu;
    } else if (*name == "gelu_pytorch_tanh") {
      config_.activation = Activation::kGeluTanh;
    } else {
      return Fail(ErrorCode::kUnsupported,
                  "unknown activation \"" + PrintableName(*name) +
                      "\"; adjudge computes silu, gelu_pytorch_tanh",
                  root_.Place(key));
    }
    return {};
  }

  Status ReadScales() {
    ADJUDGE_ASSIGN_OR_RETURN(config_.norm_eps, root_.Real("rms_norm_eps"));
    double scalar = config_.head_dim;
    if (is("gemma3")) {
      ADJUDGE_ASSIGN_OR_RETURN(scalar, root_.Real("query_pre_attn_scalar"));
      if (!(scalar > 0)) {
        return Fail(ErrorCode::kMalformed,
                    "expected a positive number, found " + std::to_string(scalar),
                    "/query_pre_attn_scalar");
      }
    }
    config_.attention_scale = 1.0 / std::sqrt(scalar);
    ADJUDGE_ASSIGN_OR_RETURN(config_.final_logit_softcap,
                             root_.Real("final_logit_softcapping", 0.0));
    return {};
  }

  // transformers 4 has rope_theta and rope_scaling; 5 has rope_parameters, with one object for
  // each type of layer where there are two.
  Status ReadRope() {
    const bool two_bases = architecture_->window_pattern > 0;
    if (root_.Find("rope_parameters") == nullptr) {
      ADJUDGE_RETURN_IF_ERROR(ReadBase(root_, config_.rope));
      if (root_.Find("rope_scaling") != nullptr) {
        ADJUDGE_ASSIGN_OR_RETURN(const Object scaling, root_.Child("rope_scaling"));
        ADJUDGE_RETURN_IF_ERROR(ReadScaling(scaling, config_.rope.scaling));
      }
    } else {
      ADJUDGE_ASSIGN_OR_RETURN(const Object parameters, root_.Child("rope_parameters"));
      if (two_bases && parameters.Find("full_attention") != nullptr) {
        ADJUDGE_RETURN_IF_ERROR(ReadLayerRope(parameters, "full_attention", config_.rope));
        return ReadLayerRope(parameters, "sliding_attention", config_.rope_local);
      }
      ADJUDGE_RETURN_IF_ERROR(ReadBase(parameters, config_.rope));
      ADJUDGE_RETURN_IF_ERROR(ReadScaling(parameters, config_.rope.scaling));
    }
    if (!two_bases) {
      config_.rope_local = config_.rope;
      return {};
    }
    ADJUDGE_ASSIGN_OR_RETURN(config_.rope_local.base, root_.Real("rope_local_base_freq", 10000.0));
    return {};
  }

  Status ReadLayerRope(const Object& parameters, const char* layers, RopeConfig& rope) {
    ADJUDGE_ASSIGN_OR_RETURN(const Object object, parameters.Child(layers));
    ADJUDGE_RETURN_IF_ERROR(ReadBase(object, rope));
    return ReadScaling(object, rope.scaling);
  }

  Status ReadBase(const Object& object, RopeConfig& rope) const {
    const double base = architecture_->default_rope_base;
    ADJUDGE_ASSIGN_OR_RETURN(
        rope.base,
        object.Real("rope_theta", base > 0 ? std::optional<double>(base) : std::nullopt));
    return {};
  }

  Status ReadScaling(const Object& object, RopeScaling& scaling) const {
    for (const auto& [key, value] : object.value().items()) {
      if (value.is_null() || std::ranges::find(kRopeKeys, key) != std::end(kRopeKeys)) continue;
      return Fail(ErrorCode::kUnsupported, "adjudge does not compute what this key asks for",
                  object.Place(key));
    }
    const char* key = object.Find("rope_type") != nullptr ? "rope_type" : "type";
    ADJUDGE_ASSIGN_OR_RETURN(const std::optional<std::string> kind, object.Text(key));
    if (!kind) return MissingKey(object.Place("rope_type"));
    if (*kind == "default") return {};
    if (*kind == "linear") {
      scaling.kind = RopeScalingKind::kLinear;
    } else if (*kind == "llama3") {
      scaling.kind = RopeScalingKind::kLlama3;
    } else if (*kind == "yarn") {
      scaling.kind = RopeScalingKind::kYarn;
    } else {
      return Fail(ErrorCode::kUnsupported,
                  "unknown rope type \"" + PrintableName(*kind) +
                      "\"; adjudge computes default, linear, llama3, yarn",
                  object.Place(key));
    }
    ADJUDGE_ASSIGN_OR_RETURN(scaling.factor, object.Real("factor"));
    if (scaling.kind == RopeScalingKind::kLinear) return {};
    ADJUDGE_ASSIGN_OR_RETURN(
        scaling.original_context,
        object.Size("original_max_position_embeddings", limits_.max_context_length));
    return scaling.kind == RopeScalingKind::kLlama3 ? ReadLlama3(object, scaling)
                                                    : ReadYarn(object, scaling);
  }

  static Status ReadLlama3(const Object& object, RopeScaling& scaling) {
    ADJUDGE_ASSIGN_OR_RETURN(scaling.low_freq_factor, object.Real("low_freq_factor"));
    ADJUDGE_ASSIGN_OR_RETURN(scaling.high_freq_factor, object.Real("high_freq_factor"));
    return {};
  }

  static Status ReadYarn(const Object& object, RopeScaling& scaling) {
    ADJUDGE_ASSIGN_OR_RETURN(scaling.beta_fast, object.Real("beta_fast", 32.0));
    ADJUDGE_ASSIGN_OR_RETURN(scaling.beta_slow, object.Real("beta_slow", 1.0));
    if (object.Find("attention_factor") == nullptr) return {};
    ADJUDGE_ASSIGN_OR_RETURN(scaling.attention_factor, object.Real("attention_factor"));
    if (scaling.attention_factor > 0) return {};
    return Fail(ErrorCode::kMalformed,
                "expected a positive number, found " + std::to_string(scaling.attention_factor),
                object.Place("attention_factor"));
  }

  // The window of the layers that have one; 0 = none has.
  Result<int> Window() const {
    const bool switched = is("qwen2") || is("qwen3");
    ADJUDGE_ASSIGN_OR_RETURN(const bool in_use, root_.Bool("use_sliding_window", !switched));
    if (!in_use) return 0;
    if (root_.Find("sliding_window") == nullptr && !is("gemma3") && !switched) return 0;
    ADJUDGE_ASSIGN_OR_RETURN(const int window,
                             root_.Size("sliding_window", limits_.max_context_length));
    if (is("llama")) {
      return Fail(ErrorCode::kUnsupported, "architecture llama has no windowed layers",
                  "/sliding_window");
    }
    return UsefulWindow(window, config_.context_length);
  }

  Status ReadWindows() {
    config_.layer_window.assign(static_cast<std::size_t>(config_.n_layers), 0);
    ADJUDGE_ASSIGN_OR_RETURN(const int window, Window());
    if (root_.Find("layer_types") != nullptr) return ReadLayerTypes(window);
    int first = 0;   // layers before it see everything
    int period = 0;  // and so does every period-th
    if (is("gemma3")) {
      const char* key = root_.Find("_sliding_window_pattern") != nullptr ? "_sliding_window_pattern"
                                                                         : "sliding_window_pattern";
      ADJUDGE_ASSIGN_OR_RETURN(period,
                               root_.Size(key, limits_.max_layers, architecture_->window_pattern));
    } else if (window > 0 && !is("mistral")) {
      ADJUDGE_ASSIGN_OR_RETURN(const auto given, root_.Int("max_window_layers"));
      if (!given) return MissingKey("/max_window_layers");
      first = static_cast<int>(std::clamp<std::int64_t>(*given, 0, config_.n_layers));
    }
    for (int layer = first; layer < config_.n_layers; ++layer) {
      const bool full = period > 0 && (layer + 1) % period == 0;
      config_.layer_window[static_cast<std::size_t>(layer)] = full ? 0 : window;
    }
    return {};
  }

  Status ReadLayerTypes(int window) {
    const json& types = *root_.Find("layer_types");
    if (!types.is_array() || types.size() != config_.layer_window.size()) {
      return Fail(ErrorCode::kMalformed,
                  "expected an array of " + std::to_string(config_.n_layers) + ", found " +
                      types.type_name() + " of " + std::to_string(types.size()),
                  "/layer_types");
    }
    for (std::size_t layer = 0; layer < types.size(); ++layer) {
      const std::string name = types[layer].is_string() ? types[layer].get<std::string>() : "";
      if (name == "sliding_attention") {
        config_.layer_window[layer] = window;
      } else if (name != "full_attention") {
        return Fail(ErrorCode::kUnsupported,
                    "unknown type of layer \"" + PrintableName(name) +
                        "\"; adjudge computes full_attention, sliding_attention",
                    "/layer_types/" + std::to_string(layer));
      }
    }
    return {};
  }

  Object root_;
  const ModelConfigLimits& limits_;
  const Architecture* architecture_ = nullptr;
  ModelConfig config_;
};

}  // namespace

Result<ModelConfig> ReadJsonConfig(std::string_view text, const ModelConfigLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(const json root, ParseStrictJson(text));
  if (!root.is_object()) {
    return Fail(ErrorCode::kMalformed,
                std::string("expected a JSON object, found ") + root.type_name());
  }
  return JsonConfigReader(root, limits).Run();
}

}  // namespace adjudge
