// The mask's slow twin: every token's bytes fed to the recogniser one by one.
#pragma once

#include "constraints/automaton/recognizer.h"
#include "engine/base/token_mask.h"
#include "engine/base/vocabulary.h"

namespace adjudge::testing {

inline TokenMask TwinMask(Recognizer& recognizer, Recognizer::State state,
                          const Vocabulary& vocabulary) {
  TokenMask mask(vocabulary.width());
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.is_stop(id)) {
      if (recognizer.Accepts(state)) mask.set(id);
      continue;
    }
    const bool text = !vocabulary.is_special(id) && !vocabulary.bytes(id).empty();
    const auto spelled = text ? Walk(recognizer, state, vocabulary.bytes(id)) : Recognizer::kDead;
    if (recognizer.NextToken(state, id, spelled) != Recognizer::kDead) mask.set(id);
  }
  return mask;
}

}  // namespace adjudge::testing
