// What a result cost and how it ended, in one line of words.
#pragma once

#include <string>

#include "engine/cost.h"
#include "engine/generate.h"

namespace adjudge::cli {

// "stopped by the model", "stopped at \"x\"", "reached --max-tokens", ...
std::string FinishWords(const GenerateResult& result);

// "12 prompt tokens (4 reused), 30 generated, 30 passes; load 210 ms, prefill 40 ms, decode 900 ms
// (32.2 tokens/s)"
std::string CostWords(const Usage& usage, const Timings& timings);

// A number with `decimals` digits after the point.
std::string Fixed(double value, int decimals);
// A share of one with four digits after the point, or as 2.1e-05 where that would show none.
std::string Share(double share);
// "93.8 MiB"
std::string ByteWords(double bytes);

}  // namespace adjudge::cli
