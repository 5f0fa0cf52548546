// The sampler's slow twin: sorts everything, in double, one step after the other.
#pragma once

#include <span>

#include "engine/sampler.h"

namespace adjudge::testing {

// What Sampler::Distribution should give after the prompt and text were observed. REQUIRES: some
// allowed logit is above -infinity.
SampleDistribution TwinDistribution(const SamplerOptions& options, std::span<const float> logits,
                                    const TokenMask* mask, std::span<const TokenId> prompt,
                                    std::span<const TokenId> text);

}  // namespace adjudge::testing
