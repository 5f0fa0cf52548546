// decide --in: System One requests as JSON lines, answered many to a pass.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "cli/line_input.h"
#include "cli/line_output.h"
#include "cli/model_options.h"
#include "cli/outcome.h"
#include "heads/decision_head.h"
#include "heads/system_one.h"

namespace adjudge::cli {

struct BatchArguments {
  std::string in;  // empty: no batch
  std::string out;
  bool resume = false;
  std::string fit_priors;  // a path, or nothing

  bool given() const { return !in.empty() || !out.empty() || resume || !fit_priors.empty(); }
};

// --in, --out, --resume and --fit-priors.
void AddBatchOptions(CLI::App& verb, BatchArguments& arguments);

// New tokens in one pass of a batch: enough for full speed, and what bounds the cache's memory.
inline constexpr int kBatchPassTokens = 2048;

struct BatchFiles {
  std::unique_ptr<LineInput> input;
  std::unique_ptr<LineOutput> output;
};

// Opens both before the model is loaded. kUsage where they cannot go together.
Outcome<BatchFiles> OpenBatch(const BatchArguments& arguments);

struct BatchStyle {
  bool lossy = false;   // U+FFFD for bytes that are not UTF-8
  bool strict = false;  // no x_ keys
  bool quiet = false;
  std::optional<Audit> audit;
  std::string fit_priors;  // where the label priors of the answers go, or nothing
};

// A line of the input gives a line of the output: the answer body, or {"line", "error"}. Gives the
// exit code: kFailed where a line was bad, the work was cancelled, or a file failed.
Outcome<int> RunBatch(BatchFiles files, const BatchStyle& style, const DecisionHead& head,
                      const LoadedModel& loaded);

}  // namespace adjudge::cli
