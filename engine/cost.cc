#include "engine/cost.h"

namespace adjudge {

Usage& Usage::operator+=(const Usage& other) {
  prompt_tokens += other.prompt_tokens;
  cached_tokens += other.cached_tokens;
  generated_tokens += other.generated_tokens;
  forced_tokens += other.forced_tokens;
  forward_passes += other.forward_passes;
  return *this;
}

Timings& Timings::operator+=(const Timings& other) {
  load_ms += other.load_ms;
  prefill_ms += other.prefill_ms;
  decode_ms += other.decode_ms;
  mask_ms += other.mask_ms;
  return *this;
}

}  // namespace adjudge
