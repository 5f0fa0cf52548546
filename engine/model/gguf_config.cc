#include <cmath>
#include <string>

#include "engine/model/architectures.h"
#include "engine/model/config_checks.h"
#include "engine/model/config_reader.h"
#include "engine/model/dequantize.h"
#include "engine/model/printable_name.h"

namespace adjudge {
namespace {

constexpr std::string_view kRopeFreqs = "rope_freqs.weight";

// A key that would change the arithmetic; only its neutral value is computed here.
struct UnsupportedKey {
  std::string_view key;
  double neutral;
};
constexpr UnsupportedKey kUnsupportedKeys[] = {
    {"expert_count", 0},
    {"expert_used_count", 0},
    {"attn_logit_softcapping", 0},
    {"attention.max_alibi_bias", 0},
    {"attention.clamp_kqv", 0},
    {"attention.causal", 1},
    {"attention.temperature_scale", 0},
    {"attention.temperature_length", 0},
    {"logit_scale", 0},
    {"embedding_scale", 0},
    {"residual_scale", 0},
    {"use_parallel_residual", 0},
    {"rope.dimension_count_swa", 0},
    {"rope.scaling.yarn_log_multiplier", 0},
    {"rope.scaling.yarn_ext_factor", 1},
    {"rope.scaling.yarn_attn_factor", 1},
    {"rope.scaling.alpha", 0},
    {"attention.key_length_swa", 0},
    {"attention.value_length_swa", 0},
};

class GgufConfigReader {
 public:
  GgufConfigReader(const GgufFile& file, const ModelConfigLimits& limits)
      : file_(file), limits_(limits) {}

  Result<ModelConfig> Run() {
    ADJUDGE_RETURN_IF_ERROR(ReadArchitecture());
    ADJUDGE_RETURN_IF_ERROR(RefuseUnsupported());
    ADJUDGE_RETURN_IF_ERROR(ReadSizes());
    ApplyArchitecture(*architecture_, config_);
    config_.rope_pairing = architecture_->gguf_pairing;
    config_.tied_output = file_.FindTensor("output.weight") == nullptr;
    ADJUDGE_RETURN_IF_ERROR(ReadScales());
    ADJUDGE_RETURN_IF_ERROR(ReadRope());
    ADJUDGE_RETURN_IF_ERROR(ReadScaling());
    ADJUDGE_RETURN_IF_ERROR(ReadFactors());
    ADJUDGE_RETURN_IF_ERROR(ReadWindows());
    ADJUDGE_RETURN_IF_ERROR(CheckConfig(config_, Keys()));
    return std::move(config_);
  }

 private:
  std::string Key(std::string_view name) const { return prefix_ + std::string(name); }

  ConfigKeys Keys() const {
    return {.dim = Key("embedding_length"),
            .n_heads = Key("attention.head_count"),
            .n_kv_heads = Key("attention.head_count_kv"),
            .head_dim = Key("attention.key_length"),
            .rope_dim = Key("rope.dimension_count"),
            .norm_eps = Key("attention.layer_norm_rms_epsilon"),
            .rope_base = Key("rope.freq_base"),
            .rope_local_base = Key("rope.freq_base_swa"),
            .rope_factor = Key("rope.scaling.factor"),
            .rope_scaling = Key("rope.scaling"),
            .final_softcap = Key("final_logit_softcapping")};
  }

  Result<int> Size(std::string_view name, int max, std::optional<std::int64_t> absent = {}) const {
    const std::string key = Key(name);
    ADJUDGE_ASSIGN_OR_RETURN(std::optional<std::int64_t> value, file_.Int(key));
    if (!value) value = absent;
    if (!value) return MissingKey(key);
    return CheckedSize(key, *value, max);
  }

  Result<double> Real(std::string_view name, std::optional<double> absent) const {
    const std::string key = Key(name);
    ADJUDGE_ASSIGN_OR_RETURN(std::optional<double> value, file_.Real(key));
    if (!value) value = absent;
    if (!value) return MissingKey(key);
    return *value;
  }

  Status ReadArchitecture() {
    constexpr std::string_view kKey = "general.architecture";
    ADJUDGE_ASSIGN_OR_RETURN(const std::optional<std::string_view> name, file_.Text(kKey));
    if (!name) return MissingKey(std::string(kKey));
    architecture_ = FindGgufArchitecture(*name);
    if (architecture_ == nullptr) {
      return Fail(ErrorCode::kUnsupported,
                  "unknown architecture \"" + PrintableName(*name) + "\"; adjudge computes " +
                      GgufArchitectureNames() + ConfigJsonOnlyNames(),
                  std::string(kKey));
    }
    prefix_ = std::string(*name) + ".";
    ADJUDGE_ASSIGN_OR_RETURN(const auto title, file_.Text("general.name"));
    config_.name = std::string(title.value_or(""));
    return {};
  }

  Status RefuseUnsupported() const {
    for (const UnsupportedKey& unsupported : kUnsupportedKeys) {
      const std::string key = Key(unsupported.key);
      const GgufValue* value = file_.Find(key);
      if (value == nullptr) continue;
      const bool number =
          value->type != GgufValue::Type::kString && value->type != GgufValue::Type::kArray;
      const bool real =
          value->type == GgufValue::Type::kF32 || value->type == GgufValue::Type::kF64;
      const double found = real ? value->real : static_cast<double>(value->integer);
      if (number && found == unsupported.neutral) continue;
      return Fail(ErrorCode::kUnsupported,
                  "adjudge does not compute what this key asks for (" +
                      (number ? std::to_string(found) : TypeName(*value)) + ")",
                  key);
    }
    return {};
  }

  Status ReadSizes() {
    ADJUDGE_ASSIGN_OR_RETURN(config_.n_layers, Size("block_count", limits_.max_layers));
    ADJUDGE_ASSIGN_OR_RETURN(config_.dim, Size("embedding_length", limits_.max_dim));
    ADJUDGE_ASSIGN_OR_RETURN(config_.n_heads, Size("attention.head_count", limits_.max_heads));
    ADJUDGE_ASSIGN_OR_RETURN(config_.n_kv_heads,
                             Size("attention.head_count_kv", limits_.max_heads, config_.n_heads));
    ADJUDGE_ASSIGN_OR_RETURN(config_.hidden_dim,
                             Size("feed_forward_length", limits_.max_hidden_dim));
    ADJUDGE_ASSIGN_OR_RETURN(config_.context_length,
                             Size("context_length", limits_.max_context_length));
    ADJUDGE_RETURN_IF_ERROR(ReadHeadDim());
    return ReadVocabSize();
  }

  Status ReadHeadDim() {
    std::optional<std::int64_t> derived;
    if (config_.dim % config_.n_heads == 0) derived = config_.dim / config_.n_heads;
    ADJUDGE_ASSIGN_OR_RETURN(config_.head_dim,
                             Size("attention.key_length", limits_.max_head_dim, derived));
    ADJUDGE_ASSIGN_OR_RETURN(const int value_length, Size("attention.value_length",
                                                          limits_.max_head_dim, config_.head_dim));
    if (value_length != config_.head_dim) {
      return Fail(ErrorCode::kUnsupported,
                  "expected the key length " + std::to_string(config_.head_dim) + ", found " +
                      std::to_string(value_length),
                  Key("attention.value_length"));
    }
    ADJUDGE_ASSIGN_OR_RETURN(config_.rope_dim,
                             Size("rope.dimension_count", limits_.max_head_dim, config_.head_dim));
    return {};
  }

  Status ReadVocabSize() {
    const GgufTensor* embedding = file_.FindTensor("token_embd.weight");
    std::optional<std::int64_t> rows;
    if (embedding != nullptr && embedding->dims.size() == 2) rows = embedding->dims[1];
    ADJUDGE_ASSIGN_OR_RETURN(config_.vocab_size, Size("vocab_size", limits_.max_vocab_size, rows));
    return {};
  }

  Status ReadScales() {
    ADJUDGE_ASSIGN_OR_RETURN(config_.norm_eps, Real("attention.layer_norm_rms_epsilon", {}));
    // Files do not say gemma3's query_pre_attn_scalar. It is the head size except in the 27B model
    // (62 layers), where it is the width of the model over the heads.
    const bool gemma3_27b = architecture_->name == "gemma3" && config_.n_layers == 62;
    const double scalar = gemma3_27b ? static_cast<double>(config_.dim) / config_.n_heads
                                     : static_cast<double>(config_.head_dim);
    ADJUDGE_ASSIGN_OR_RETURN(config_.attention_scale,
                             Real("attention.scale", 1.0 / std::sqrt(scalar)));
    ADJUDGE_ASSIGN_OR_RETURN(config_.final_logit_softcap, Real("final_logit_softcapping", 0.0));
    return {};
  }

  Status ReadRope() {
    const double base = architecture_->default_rope_base;
    ADJUDGE_ASSIGN_OR_RETURN(
        config_.rope.base,
        Real("rope.freq_base", base > 0 ? std::optional<double>(base) : std::nullopt));
    const bool two_bases = architecture_->window_pattern > 0;
    ADJUDGE_ASSIGN_OR_RETURN(config_.rope_local.base,
                             Real("rope.freq_base_swa", two_bases ? 10000.0 : config_.rope.base));
    return {};
  }

  Status ReadScaling() {
    RopeScaling& scaling = config_.rope.scaling;
    const std::string type_key = Key("rope.scaling.type");
    ADJUDGE_ASSIGN_OR_RETURN(const auto type, file_.Text(type_key));
    ADJUDGE_ASSIGN_OR_RETURN(auto factor, file_.Real(Key("rope.scaling.factor")));
    if (!factor) {
      // The key of older files.
      ADJUDGE_ASSIGN_OR_RETURN(factor, file_.Real(Key("rope.scale_linear")));
    }
    // A factor without a type is linear: so the format's own writer and reader have it.
    const std::string_view kind = type ? *type : factor ? "linear" : "none";
    if (kind == "none") return {};
    if (kind == "linear") {
      scaling.kind = RopeScalingKind::kLinear;
    } else if (kind == "yarn") {
      scaling.kind = RopeScalingKind::kYarn;
    } else {
      return Fail(ErrorCode::kUnsupported,
                  "unknown rope scaling \"" + PrintableName(kind) +
                      "\"; adjudge computes none, linear, yarn",
                  type_key);
    }
    if (!factor) return MissingKey(Key("rope.scaling.factor"));
    scaling.factor = *factor;
    if (scaling.kind == RopeScalingKind::kYarn) ADJUDGE_RETURN_IF_ERROR(ReadYarn());
    // gemma3's windowed layers are not stretched.
    if (architecture_->window_pattern == 0) config_.rope_local.scaling = scaling;
    return {};
  }

  Status ReadYarn() {
    RopeScaling& scaling = config_.rope.scaling;
    ADJUDGE_ASSIGN_OR_RETURN(scaling.original_context, Size("rope.scaling.original_context_length",
                                                            limits_.max_context_length));
    ADJUDGE_ASSIGN_OR_RETURN(scaling.beta_fast, Real("rope.scaling.yarn_beta_fast", 32.0));
    ADJUDGE_ASSIGN_OR_RETURN(scaling.beta_slow, Real("rope.scaling.yarn_beta_slow", 1.0));
    // GGUF's factor multiplies the usual one.
    ADJUDGE_ASSIGN_OR_RETURN(const double attention, Real("rope.scaling.attn_factor", 1.0));
    if (attention != 1.0) {
      scaling.attention_factor = attention * (0.1 * std::log(scaling.factor) + 1.0);
    }
    return {};
  }

  Status ReadFactors() {
    const GgufTensor* tensor = file_.FindTensor(kRopeFreqs);
    if (tensor == nullptr) return {};
    const std::int64_t n = config_.rope_dim / 2;
    if (tensor->dims.size() != 1 || tensor->dims[0] != n || tensor->type != TensorType::kF32) {
      return Fail(ErrorCode::kMalformed,
                  "expected [" + std::to_string(n) + "] in F32, found [" +
                      std::to_string(tensor->dims[0]) + (tensor->dims.size() > 1 ? ", ..." : "") +
                      "] in " + GgufTypeName(tensor->type_id),
                  std::string(kRopeFreqs));
    }
    std::vector<float> factors(static_cast<std::size_t>(n));
    Dequantize(TensorType::kF32, tensor->data, n, factors.data());
    for (const float factor : factors) {
      if (!(factor > 0 && std::isfinite(factor))) {
        return Fail(ErrorCode::kMalformed,
                    "expected positive divisors, found " + std::to_string(factor),
                    std::string(kRopeFreqs));
      }
    }
    config_.rope.freq_factors = factors;
    if (architecture_->window_pattern == 0) config_.rope_local.freq_factors = std::move(factors);
    return {};
  }

  Status ReadWindows() {
    config_.layer_window.assign(static_cast<std::size_t>(config_.n_layers), 0);
    const std::string key = Key("attention.sliding_window");
    const int pattern = architecture_->window_pattern;
    ADJUDGE_ASSIGN_OR_RETURN(const auto window, file_.Int(key));
    if (!window && pattern > 0) return MissingKey(key);
    if (!window || *window == 0) return {};
    ADJUDGE_ASSIGN_OR_RETURN(const int checked,
                             CheckedSize(key, *window, limits_.max_context_length));
    const int useful = UsefulWindow(checked, config_.context_length);
    const std::string pattern_key = Key("attention.sliding_window_pattern");
    const GgufValue* stored = file_.Find(pattern_key);
    // mistral's files (architecture llama) window every layer; of the others only those that say
    // which layers are meant can be believed.
    if (pattern == 0 && stored == nullptr && architecture_->name != "llama" && useful > 0) {
      return Fail(ErrorCode::kUnsupported,
                  "a window of " + std::to_string(*window) + " without " + pattern_key, key);
    }
    if (stored != nullptr && stored->type == GgufValue::Type::kArray) {
      return WindowsFromList(pattern_key, *stored, useful);
    }
    ADJUDGE_ASSIGN_OR_RETURN(const auto period, file_.Int(pattern_key));
    if (period) ADJUDGE_RETURN_IF_ERROR(CheckedSize(pattern_key, *period, limits_.max_layers));
    const std::int64_t every = period.value_or(pattern);
    for (std::int64_t layer = 0; layer < config_.n_layers; ++layer) {
      const bool full = every > 0 && (layer + 1) % every == 0;
      config_.layer_window[static_cast<std::size_t>(layer)] = full ? 0 : useful;
    }
    return {};
  }

  Status WindowsFromList(const std::string& key, const GgufValue& list, int window) {
    if (list.element != GgufValue::Type::kBool ||
        list.integers.size() != config_.layer_window.size()) {
      return Fail(ErrorCode::kMalformed,
                  "expected " + std::to_string(config_.n_layers) + " bools, found " +
                      std::to_string(list.array_size()) + " " + std::string(ToString(list.element)),
                  key);
    }
    for (std::size_t layer = 0; layer < list.integers.size(); ++layer) {
      config_.layer_window[layer] = list.integers[layer] != 0 ? window : 0;
    }
    return {};
  }

  const GgufFile& file_;
  const ModelConfigLimits& limits_;
  const Architecture* architecture_ = nullptr;
  std::string prefix_;
  ModelConfig config_;
};

}  // namespace

Result<ModelConfig> ReadGgufConfig(const GgufFile& file, const ModelConfigLimits& limits) {
  return GgufConfigReader(file, limits).Run();
}

}  // namespace adjudge
