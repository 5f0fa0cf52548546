#include "engine/model/config_checks.h"

#include <cmath>

namespace adjudge {
namespace {

tl::unexpected<Error> Expected(const std::string& key, const std::string& expected, double found) {
  return Fail(ErrorCode::kMalformed, "expected " + expected + ", found " + std::to_string(found),
              key);
}

Status CheckReal(const std::string& key, double value, double low, double high,
                 const std::string& expected) {
  // Written so that NaN fails.
  if (value >= low && value <= high) return {};
  return Expected(key, expected, value);
}

Status CheckScaling(const RopeScaling& scaling, const ConfigKeys& keys) {
  if (scaling.kind == RopeScalingKind::kNone) return {};
  ADJUDGE_RETURN_IF_ERROR(
      CheckReal(keys.rope_factor, scaling.factor, 1.0, 1e6, "a factor from 1 to 1e6"));
  if (scaling.kind == RopeScalingKind::kLinear) return {};
  if (scaling.kind == RopeScalingKind::kLlama3) {
    ADJUDGE_RETURN_IF_ERROR(CheckReal(keys.rope_scaling, scaling.low_freq_factor, 1e-6, 1e6,
                                      "low_freq_factor from 1e-6 to 1e6"));
    if (!(scaling.high_freq_factor > scaling.low_freq_factor && scaling.high_freq_factor <= 1e6)) {
      return Expected(keys.rope_scaling, "high_freq_factor above low_freq_factor",
                      scaling.high_freq_factor);
    }
    return {};
  }
  ADJUDGE_RETURN_IF_ERROR(
      CheckReal(keys.rope_scaling, scaling.beta_slow, 1e-6, 1e6, "beta_slow from 1e-6 to 1e6"));
  if (!(scaling.beta_fast >= scaling.beta_slow && scaling.beta_fast <= 1e6)) {
    return Expected(keys.rope_scaling, "beta_fast not below beta_slow", scaling.beta_fast);
  }
  return CheckReal(keys.rope_scaling, scaling.attention_factor, 0.0, 1e6,
                   "an attention factor from 0 to 1e6");
}

}  // namespace

Result<int> CheckedSize(const std::string& key, std::int64_t value, int max) {
  if (value >= 1 && value <= max) return static_cast<int>(value);
  return Fail(value < 1 ? ErrorCode::kMalformed : ErrorCode::kLimit,
              "expected 1 to " + std::to_string(max) + ", found " + std::to_string(value), key);
}

Status CheckConfig(const ModelConfig& config, const ConfigKeys& keys) {
  if (config.n_kv_heads > config.n_heads || config.n_heads % config.n_kv_heads != 0) {
    return Fail(ErrorCode::kMalformed,
                "expected a divisor of the " + std::to_string(config.n_heads) + " heads, found " +
                    std::to_string(config.n_kv_heads),
                keys.n_kv_heads);
  }
  if (config.rope_dim > config.head_dim || config.rope_dim % 2 != 0) {
    return Fail(ErrorCode::kMalformed,
                "expected an even number up to the head size " + std::to_string(config.head_dim) +
                    ", found " + std::to_string(config.rope_dim),
                keys.rope_dim);
  }
  ADJUDGE_RETURN_IF_ERROR(
      CheckReal(keys.norm_eps, config.norm_eps, 1e-30, 1.0, "a number from 1e-30 to 1"));
  for (const RopeConfig* rope : {&config.rope, &config.rope_local}) {
    const std::string& key = rope == &config.rope ? keys.rope_base : keys.rope_local_base;
    ADJUDGE_RETURN_IF_ERROR(CheckReal(key, rope->base, 1.0, 1e15, "a base from 1 to 1e15"));
    ADJUDGE_RETURN_IF_ERROR(CheckScaling(rope->scaling, keys));
  }
  ADJUDGE_RETURN_IF_ERROR(CheckReal(keys.head_dim, config.attention_scale, 1e-6, 1e6,
                                    "a scale of scores from 1e-6 to 1e6"));
  return CheckReal(keys.final_softcap, config.final_logit_softcap, 0.0, 1e6, "a cap from 0 to 1e6");
}

tl::unexpected<Error> MissingKey(const std::string& key) {
  return Fail(ErrorCode::kNotFound, "the file does not say it, and the architecture needs it", key);
}

int UsefulWindow(std::int64_t window, int context_length) {
  return window >= context_length ? 0 : static_cast<int>(window);
}

}  // namespace adjudge
