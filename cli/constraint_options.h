// What a text must be, from the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/outcome.h"
#include "constraints/constraint_spec.h"

namespace adjudge::cli {

struct ConstraintArguments {
  std::string grammar;  // a file, or - for standard input
  std::string regex;
  CLI::Option* regex_given = nullptr;
  std::vector<std::string> choices;
};

// --grammar, --regex and --choice.
void AddConstraintOptions(CLI::App& verb, ConstraintArguments& arguments);

// Nothing where none was given; more than one kind, and a file that cannot be read, are failures.
Outcome<std::optional<ConstraintSpec>> ReadConstraint(const ConstraintArguments& arguments);

}  // namespace adjudge::cli
