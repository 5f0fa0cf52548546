// What a result cost: counted work and measured time.
#pragma once

namespace adjudge {

struct Usage {
  int prompt_tokens = 0;     // tokens of the prompt, computed and reused
  int cached_tokens = 0;     // of these, reused from a kept sequence
  int generated_tokens = 0;  // sampled
  int forced_tokens = 0;     // the only continuation, appended without sampling
  int forward_passes = 0;
};

struct Timings {
  double load_ms = 0;
  double prefill_ms = 0;
  double decode_ms = 0;
  double mask_ms = 0;
};

}  // namespace adjudge
