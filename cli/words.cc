#include "cli/words.h"

#include <array>
#include <cstdio>

#include "cli/printable.h"

namespace adjudge::cli {

std::string FinishWords(const GenerateResult& result) {
  switch (result.finish_reason) {
    case FinishReason::kStop:
      return result.stop_string.empty() ? "stopped by the model"
                                        : "stopped at \"" + Printable(result.stop_string) + "\"";
    case FinishReason::kLength:
      return "ended by --max-tokens";
    case FinishReason::kContext:
      return "ended by the context window";
    case FinishReason::kConstraint:
      return "ended by the constraint";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "ended";
}

std::string CostWords(const Usage& usage, const Timings& timings) {
  std::string words = std::to_string(usage.prompt_tokens) + " prompt tokens (" +
                      std::to_string(usage.cached_tokens) + " reused), " +
                      std::to_string(usage.generated_tokens) + " generated, ";
  if (usage.forced_tokens > 0) words += std::to_string(usage.forced_tokens) + " forced, ";
  words += std::to_string(usage.forward_passes) + " passes; ";
  if (timings.load_ms > 0) words += "load " + Fixed(timings.load_ms, 0) + " ms, ";
  words += "prefill " + Fixed(timings.prefill_ms, 0) + " ms";
  if (timings.decode_ms > 0) {
    words += ", decode " + Fixed(timings.decode_ms, 0) + " ms";
    // The prompt's pass gives the first token, so decoding made one fewer.
    const int decoded = usage.generated_tokens + usage.forced_tokens - 1;
    if (decoded > 0) words += " (" + Fixed(decoded * 1000 / timings.decode_ms, 1) + " tokens/s)";
  }
  return words;
}

std::string Fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string Share(double share) {
  if (share == 0 || share >= 0.001) return Fixed(share, 4);
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", share);
  return text;
}

std::string ByteWords(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return Fixed(bytes, unit == 0 ? 0 : 1) + " " + kUnits[unit];
}

}  // namespace adjudge::cli
