// Which tokens may be taken without asking the model.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "constraints/automaton/recognizer.h"
#include "constraints/mask/recognized_constraint.h"
#include "constraints/mask/vocabulary_index.h"

namespace adjudge {

// The canonical tokens of `forced`, which every accepted text has next, as it follows `before` (the
// bytes of the last tokens, `before_tokens`), less the last ones: none is kept behind which a
// longer token, allowed by the constraint, could begin within the kept text and run past the end of
// the forced bytes. So the model is never steered to a split that it would not have taken. Nothing
// where the canonical split of both together does not keep the last tokens apart.
std::vector<TokenId> CanonicalForced(Recognizer& recognizer, const VocabularyIndex& index,
                                     const Tokenize& tokenize,
                                     const std::vector<TokenId>& before_tokens,
                                     Recognizer::State state, const std::string& forced);

}  // namespace adjudge
