// How decide reads its answers: debiasing, abstention, long states.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/outcome.h"
#include "heads/abstention.h"
#include "heads/decision_head.h"

namespace adjudge::cli {

struct ReadingArguments {
  std::string debias = "none";
  std::optional<double> adaptive;
  std::optional<std::string> x0;
  std::string priors;  // a path
  std::string norm = "sum";
  double min_label_mass = 0;
  std::optional<std::string> none_option;
  std::vector<std::string> abstain_below;  // NAME=NUMBER
  std::optional<double> cost_wrong;
  std::optional<double> gain;
  std::string conformal;  // lac=NUMBER or aps=NUMBER
  std::string truncate = "none";

  bool given() const;  // any of them
};

// --debias, --adaptive, --x0, --priors, --norm, --min-label-mass, --none-option, --abstain-below,
// --cost-wrong, --gain, --conformal and --truncate.
void AddReadingOptions(CLI::App& verb, ReadingArguments& arguments);

// Sets what they say, but for --priors, which are a model's. kUsage where they do not go together.
Outcome<bool> ApplyReadingOptions(const ReadingArguments& arguments, HeadOptions& options);

}  // namespace adjudge::cli
