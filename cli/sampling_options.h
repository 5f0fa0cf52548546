// How generate, trace and chat choose tokens and when they end.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/outcome.h"
#include "engine/base/vocabulary.h"
#include "engine/generate.h"

namespace adjudge::cli {

struct SamplingArguments {
  CLI::Option* seed_given = nullptr;
  int max_tokens = 256;
  SamplerOptions sampler;
  std::vector<std::string> logit_bias;  // ID=V
  std::vector<std::string> stop;
  bool ignore_eos = false;
};

void AddSamplingOptions(CLI::App& verb, SamplingArguments& arguments);

// The options for Generate. Without --seed a draw of one is made where it matters (temperature
// above zero), and told by the caller. Failures are usage.
Outcome<GenerateOptions> ToGenerateOptions(const SamplingArguments& arguments,
                                           const Vocabulary& vocabulary);

}  // namespace adjudge::cli
