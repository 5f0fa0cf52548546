// Range checks that both config readers share; errors name the key of the file.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/result.h"
#include "engine/model_config.h"

namespace adjudge {

// The keys under which a file stores what the checks below speak of.
struct ConfigKeys {
  std::string dim;
  std::string n_heads;
  std::string n_kv_heads;
  std::string head_dim;
  std::string rope_dim;
  std::string norm_eps;
  std::string rope_base;
  std::string rope_local_base;
  std::string rope_factor;
  std::string rope_scaling;
  std::string final_softcap;
};

// `value` if it is in [1, max].
Result<int> CheckedSize(const std::string& key, std::int64_t value, int max);

// How the fields fit each other: heads divide, the rotated part is even and inside the head, reals
// are finite and in range. REQUIRES: sizes were checked one by one.
Status CheckConfig(const ModelConfig& config, const ConfigKeys& keys);

// The error for a key that is needed and absent.
tl::unexpected<Error> MissingKey(const std::string& key);

// A window that no position can reach past is no window.
int UsefulWindow(std::int64_t window, int context_length);

}  // namespace adjudge
