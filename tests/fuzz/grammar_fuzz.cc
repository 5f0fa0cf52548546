// Any bytes as a grammar: what parses prints to itself again, and what is live has an end.
#include <cstdint>
#include <string_view>

#include "constraints/automaton/grammar_recognizer.h"
#include "engine/base/check.h"
#include "grammars/ebnf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace adjudge;
  // The last bytes walk; the grammar is what is before them.
  const std::size_t n_walk = size / 4;
  const std::string_view text(reinterpret_cast<const char*>(data), size - n_walk);
  const auto grammar = ParseGrammar(
      text, {.max_bytes = 4096, .max_depth = 40, .max_rules = 200, .max_repeat = 5000});
  if (!grammar) {
    ADJUDGE_CHECK(!grammar.error().message.empty());
    return 0;
  }
  const auto again = ParseGrammar(PrintGrammar(*grammar));
  ADJUDGE_CHECK(again.has_value() && *again == *grammar);
  auto nfa = BuildNfa(*grammar, NfaSymbols::kBytes, {.max_places = 20'000});
  if (!nfa || !nfa->tokens.empty()) return 0;
  GrammarRecognizer recognizer(*std::move(nfa), {});
  recognizer.Refuel(2'000'000);
  auto state = recognizer.Start();
  for (std::size_t i = 0; i < n_walk && state != Recognizer::kDead; ++i) {
    const auto byte = data[size - n_walk + i];
    const auto next = recognizer.Next(state, byte);
    if (next != Recognizer::kDead) state = next;
  }
  if (!recognizer.status() || state == Recognizer::kDead) return 0;
  const auto end = recognizer.ShortestEnd(state);
  if (!recognizer.status()) return 0;
  ADJUDGE_CHECK(end.has_value());
  const auto last = Walk(recognizer, state, *end);
  ADJUDGE_CHECK(!recognizer.status() || (last != Recognizer::kDead && recognizer.Accepts(last)));
  return 0;
}
