// NumberCase: a set of numbers, and the texts that spell them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "constraints/schema/decimal.h"
#include "constraints/schema/formula.h"

namespace adjudge::schema {

// Numbers inside the bounds, multiples of `step` if there is one and of none of `not_steps`, and
// not listed in `excluded`; or exactly those of `listed`. A value.
struct NumberCase {
  Bounds bounds;
  std::optional<Decimal> step;
  std::vector<Decimal> not_steps;
  std::vector<Decimal> excluded;               // ascending
  std::optional<std::vector<Decimal>> listed;  // ascending; then nothing else is set

  bool Contains(const Decimal& value) const;
  // Some member lies within the bounds given too. Exact; kUndecided where the search for a number
  // that is not a multiple of not_steps was given up.
  enum class Answer { kNo, kYes, kUndecided };
  Answer MeetsBounds(const Bounds& within) const;
  bool is_free() const {
    return !bounds.has_low && !bounds.has_high && !step && not_steps.empty() && excluded.empty() &&
           !listed;
  }
  std::string Key() const;
};

// Both at once; nullopt: surely empty. `too_long` is set where the common step is too long to be
// computed (the result is then meaningless).
std::optional<NumberCase> Intersect(const NumberCase& a, const NumberCase& b, bool* too_long);

// Spelling. A number's text so far is itself the state, put into a normal form in which texts with
// the same continuations are often equal.
enum class NumberForms : unsigned char {
  kAll,    // every JSON spelling: 100, 100.0, 1e2, 10E+1
  kPlain,  // no exponents, and no fraction where only integers belong
};

struct NumberStep {
  NumberCase::Answer alive = NumberCase::Answer::kNo;
  std::string text;  // the next state
};

// The state after `byte`. `text` is a state, "" the first.
NumberStep StepNumber(const NumberCase& numbers, NumberForms forms, std::string_view text,
                      char byte);
bool AcceptsNumber(const NumberCase& numbers, NumberForms forms, std::string_view text);
// The least that must follow. REQUIRES: alive.
std::string FinishNumber(const NumberCase& numbers, NumberForms forms, std::string_view text);

}  // namespace adjudge::schema
