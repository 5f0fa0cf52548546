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
  std::string schema;   // a file, or - for standard input
  std::string grammar;  // the same
  std::string regex;
  CLI::Option* regex_given = nullptr;
  std::vector<std::string> choices;
  // How JSON under a schema may be written.
  std::string key_order = "any";
  std::string whitespace = "free";
  std::string spelling = "any";
  std::string formats = "assert";
};

// What a schema leaves open: judging takes every spelling of JSON; writing keeps to one, since a
// model that may choose its spaces can write nothing else for ever.
enum class SchemaUse { kJudge, kWrite };

// --schema with its options, --grammar, --regex and --choice.
void AddConstraintOptions(CLI::App& verb, ConstraintArguments& arguments, SchemaUse use);

// Nothing where none was given; more than one kind, and a file that cannot be read, are failures.
Outcome<std::optional<ConstraintSpec>> ReadConstraint(const ConstraintArguments& arguments);

}  // namespace adjudge::cli
