// One generation from the command line: what generate and trace share.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "cli/constraint_options.h"
#include "cli/interrupt.h"
#include "cli/json_output.h"
#include "cli/model_options.h"
#include "cli/outcome.h"
#include "cli/prompt_options.h"
#include "cli/sampling_options.h"
#include "engine/generate.h"

namespace adjudge::cli {

struct GenerationArguments {
  ModelArguments model;
  PromptArguments prompt;
  SamplingArguments sampling;
  ConstraintArguments constraint;
};

void AddGenerationOptions(CLI::App& verb, GenerationArguments& arguments);

// Everything that a generation needs; `options` may be added to before Run.
class Generation {
 public:
  static Outcome<std::unique_ptr<Generation>> Make(const GenerationArguments& arguments);

  const LoadedModel& loaded() const { return loaded_; }
  const Vocabulary& vocabulary() const { return loaded_.tokenizer->vocabulary(); }
  GenerateOptions& options() { return options_; }

  // Shows the progress of a long prompt; Ctrl-C ends the text.
  Outcome<GenerateResult> Run();

  // How it ended and what it cost, in words on standard error (none when quiet).
  void Tell(const GenerateResult& result) const;
  // {"text", "token_ids", "finish_reason", "model", "seed", "usage", "timings_ms"}
  Json ToJson(const GenerateResult& result) const;
  // kFailed, told on standard error, where the text was cut short of what was asked.
  int ExitCodeOf(const GenerateResult& result) const;

 private:
  Generation() = default;

  LoadedModel loaded_;
  std::vector<TokenId> prompt_;
  std::unique_ptr<Matcher> matcher_;
  GenerateOptions options_;
  Interrupt interrupt_;
  bool quiet_ = false;
};

}  // namespace adjudge::cli
