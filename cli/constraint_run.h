// Runs the cases of `constraint test` by mask over a vocabulary.
#pragma once

#include <string>
#include <vector>

#include "cli/constraint_cases.h"
#include "cli/json_output.h"
#include "constraints/compiler.h"
#include "engine/base/vocabulary.h"

namespace adjudge::cli {

struct CaseOutcome {
  std::string outcome;  // right, wrong, refused
  std::string why;      // of the first text judged wrongly, or the refusal
  double ttfm_ms = 0;   // text to first mask
  std::vector<double> mask_us;
};

// Cuts texts greedily, longest token first, and asks for each token's bit and for the end. CPU
// time.
class CaseRunner {
 public:
  CaseRunner(const Vocabulary& vocabulary, const ConstraintCompiler& compiler);
  CaseOutcome Run(const ConstraintCase& c) const;

 private:
  // Accepted as a whole, by its masks; nothing where a mask could not be found out, with why.
  Result<bool> Walk(const CompiledConstraint& constraint, const std::string& text,
                    std::vector<double>& mask_us) const;

  const Vocabulary& vocabulary_;
  const ConstraintCompiler& compiler_;
  std::vector<std::vector<TokenId>> by_first_;  // text tokens by first byte, longest first
};

Json ToJson(const std::string& id, const CaseOutcome& outcome);
// {"p50", "p99", "max"}, rounded to hundredths.
Json Percentiles(std::vector<double> values);

}  // namespace adjudge::cli
