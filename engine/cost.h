// What a result cost: counted work and measured time.
#pragma once

namespace adjudge {

struct Usage {
  int prompt_tokens = 0;     // tokens of the prompt, computed and reused
  int cached_tokens = 0;     // of these, reused from a kept sequence
  int generated_tokens = 0;  // sampled, the stop id included
  int forced_tokens = 0;     // the only continuation, appended without sampling
  int forward_passes = 0;

  Usage& operator+=(const Usage& other);
};

struct Timings {
  double load_ms = 0;     // of the model; set by whoever loaded it
  double prefill_ms = 0;  // until the first logits were there
  double decode_ms = 0;   // from then to the end
  double mask_ms = 0;     // part of decode_ms: filling the constraint's masks

  Timings& operator+=(const Timings& other);
};

}  // namespace adjudge
