#include "cli/constraint_run.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "cli/printable.h"

namespace adjudge::cli {
namespace {

double CpuMicroseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double Hundredths(double value) { return std::round(value * 100) / 100; }

}  // namespace

CaseRunner::CaseRunner(const Vocabulary& vocabulary, const ConstraintCompiler& compiler)
    : vocabulary_(vocabulary), compiler_(compiler), by_first_(256) {
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const std::string_view text = vocabulary.bytes(id);
    if (vocabulary.is_special(id) || vocabulary.is_stop(id) || text.empty()) continue;
    by_first_[static_cast<unsigned char>(text[0])].push_back(id);
  }
  for (auto& ids : by_first_) {
    std::stable_sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) {
      return vocabulary.bytes(a).size() > vocabulary.bytes(b).size();
    });
  }
}

Result<bool> CaseRunner::Walk(const CompiledConstraint& constraint, const std::string& text,
                              std::vector<double>& mask_us) const {
  const auto matcher = constraint.NewMatcher();
  TokenMask mask(vocabulary_.width());
  const auto fill = [&]() -> Status {
    const double start = CpuMicroseconds();
    Status filled = matcher->FillMask(mask);
    mask_us.push_back(CpuMicroseconds() - start);
    return filled;
  };
  for (std::string_view rest = text; !rest.empty();) {
    ADJUDGE_RETURN_IF_ERROR(fill());
    const auto& ids = by_first_[static_cast<unsigned char>(rest[0])];
    const auto longest = std::find_if(ids.begin(), ids.end(), [&](TokenId id) {
      return rest.starts_with(vocabulary_.bytes(id));
    });
    if (longest == ids.end()) {
      return Fail(ErrorCode::kUnsupported, "the vocabulary has no token for a byte of the text");
    }
    const bool allowed = mask.test(*longest);
    const bool accepted = matcher->Accept(*longest);
    ADJUDGE_RETURN_IF_ERROR(matcher->status());
    if (allowed != accepted) {
      return Fail(ErrorCode::kInvalidArgument, "a token's bit and its acceptance differ");
    }
    if (!allowed) return false;
    rest.remove_prefix(vocabulary_.bytes(*longest).size());
  }
  ADJUDGE_RETURN_IF_ERROR(fill());
  if (vocabulary_.stop_ids().empty()) return matcher->CanStop();
  return mask.test(vocabulary_.stop_ids()[0]);
}

CaseOutcome CaseRunner::Run(const ConstraintCase& c) const {
  CaseOutcome outcome;
  ConstraintSpec spec;
  if (c.kind == "regex") {
    spec = ConstraintSpec::Regex(c.spec);
  } else if (c.kind == "grammar") {
    spec = ConstraintSpec::Grammar(c.spec);
  } else if (c.kind == "json_schema") {
    spec = ConstraintSpec::JsonSchema(c.spec);
  } else if (c.kind == "choice") {
    spec = ConstraintSpec::Choice(c.choices);
  } else {
    outcome.outcome = "refused";
    outcome.why = "constraints of kind \"" + c.kind + "\" are not known";
    return outcome;
  }
  const double start = CpuMicroseconds();
  const auto constraint = compiler_.Compile(spec);
  if (!constraint) {
    outcome.outcome = c.expect == "compile" ? "refused" : "right";
    outcome.why = ToString(constraint.error());
    return outcome;
  }
  TokenMask mask(vocabulary_.width());
  const Status first = (*constraint)->NewMatcher()->FillMask(mask);
  outcome.ttfm_ms = (CpuMicroseconds() - start) / 1e3;
  outcome.outcome = "right";
  const auto wrong = [&](const std::string& why) {
    outcome.outcome = "wrong";
    if (outcome.why.empty()) outcome.why = why;
  };
  if (!first) wrong(ToString(first.error()));
  if (c.expect == "refuse") wrong("compiled, but must be refused");
  for (const bool accept : {true, false}) {
    for (const std::string& text : accept ? c.accept : c.reject) {
      const auto verdict = Walk(**constraint, text, outcome.mask_us);
      if (!verdict) {
        wrong(ToString(verdict.error()));
      } else if (*verdict != accept) {
        wrong((accept ? "refuses " : "accepts ") + Printable(text.substr(0, 200)));
      }
    }
  }
  return outcome;
}

Json Percentiles(std::vector<double> values) {
  if (values.empty()) return {{"p50", 0}, {"p99", 0}, {"max", 0}};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const auto rank = static_cast<std::size_t>(share * static_cast<double>(values.size()));
    return Hundredths(values[std::min(rank, values.size() - 1)]);
  };
  return {{"p50", at(0.5)}, {"p99", at(0.99)}, {"max", Hundredths(values.back())}};
}

Json ToJson(const std::string& id, const CaseOutcome& outcome) {
  return {{"id", id},
          {"outcome", outcome.outcome},
          {"why", outcome.why},
          {"ttfm_ms", Hundredths(outcome.ttfm_ms)},
          {"masks", outcome.mask_us.size()},
          {"mask_us", Percentiles(outcome.mask_us)}};
}

}  // namespace adjudge::cli
