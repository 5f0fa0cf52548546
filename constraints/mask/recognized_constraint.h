// A CompiledConstraint out of a Recognizer and a vocabulary's index.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "constraints/automaton/recognizer.h"
#include "constraints/compiled_constraint.h"
#include "constraints/mask/vocabulary_index.h"

namespace adjudge {

using Tokenize = std::function<std::vector<TokenId>(std::string_view)>;

// Errors: what Start() says.
Result<std::shared_ptr<const CompiledConstraint>> MakeConstraint(
    std::unique_ptr<Recognizer> recognizer, std::shared_ptr<const VocabularyIndex> index,
    const ConstraintLimits& limits, Tokenize tokenize = nullptr,
    std::vector<std::string> notes = {});

}  // namespace adjudge
