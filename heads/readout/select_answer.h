// The answer of a multi-select from the yes-or-no answers of its options.
#pragma once

#include <span>
#include <vector>

#include "heads/answer.h"
#include "heads/question.h"

namespace adjudge {

// The yes-or-no question that an option of a multi-select is read as. Its id is the select's.
Question OptionQuestion(const Question& select, std::size_t option);

// `options`: the answers of its option questions. Selected are those with p(yes) >= 1/2 that do not
// abstain; below min_selected the likeliest of the rest are added (abstained ones last), above
// max_selected the unlikeliest are dropped: of all sets within the limits the likeliest one, were
// the options independent. Ties go by the options' names.
Answer SelectAnswer(const Question& select, std::span<const Answer> options);

}  // namespace adjudge
