// --choice: generation restricted to a list of texts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/outcome.h"
#include "engine/base/matcher.h"
#include "engine/tokenizer.h"

namespace adjudge::cli {

// A matcher that accepts exactly the choices, byte for byte. Failures are usage: the same twice, an
// empty one, one that the vocabulary cannot spell.
Outcome<std::unique_ptr<Matcher>> ChoiceMatcher(const std::vector<std::string>& choices,
                                                const Tokenizer& tokenizer);

}  // namespace adjudge::cli
