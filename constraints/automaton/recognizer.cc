#include "constraints/automaton/recognizer.h"

namespace adjudge {

Recognizer::Run Recognizer::RunFrom(State) { return {}; }

Recognizer::State Recognizer::NextToken(State, TokenId, State spelled) { return spelled; }

void Recognizer::FailFuel() {
  SetError({ErrorCode::kLimit, "the constraint's work limit is spent before its answer was known",
            "constraint"});
}

Recognizer::State Walk(Recognizer& recognizer, Recognizer::State state, std::string_view text) {
  for (const char c : text) {
    if (state == Recognizer::kDead) break;
    state = recognizer.Next(state, static_cast<std::uint8_t>(c));
  }
  return state;
}

}  // namespace adjudge
