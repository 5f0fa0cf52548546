// Cases for `constraint test`: a constraint, and texts that it must accept and refuse.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/outcome.h"
#include "constraints/constraint_spec.h"

namespace adjudge::cli {

struct ConstraintCase {
  std::string id;
  std::string kind;  // json_schema, regex, grammar, choice
  std::string spec;  // its text; of a choice a JSON array
  std::vector<std::string> choices;
  std::vector<std::string> accept;
  std::vector<std::string> reject;
  std::string expect = "compile";  // or refuse, compile_or_refuse
};

// A file of either shape: a JSON array of {"id", "kind", "spec", "accept", "reject", "expect"}; or
// JSON lines {"id", "schema", "tests": [{"valid", "data"}]}, whose data become text with ", " and
// ": ", characters kept, numbers as they are spelt. Failures name the line.
Outcome<std::vector<ConstraintCase>> ReadConstraintCases(const std::string& file);

}  // namespace adjudge::cli
