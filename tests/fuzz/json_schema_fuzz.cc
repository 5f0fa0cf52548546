// Any bytes as a schema and a walk: compiling ends, no state is a dead end, shortest ends end.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "constraints/json_schema.h"
#include "engine/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace adjudge;
  if (size < 2) return 0;
  // The first byte says how much is the walk, the second picks options, the rest is the schema.
  const std::size_t walk = std::min<std::size_t>(data[0] % 64, size - 2);
  JsonSchemaOptions options;
  options.space = static_cast<SchemaSpace>(data[1] & 3);
  options.declared_order = (data[1] & 4) != 0;
  options.plain_numbers = (data[1] & 8) != 0;
  options.formats = (data[1] & 16) != 0 ? SchemaFormats::kAnnotate : SchemaFormats::kAssert;
  options.max_bytes = 4'096;
  options.max_depth = 40;
  options.max_cases = 100;
  options.max_states = 1'000;
  options.max_steps = 20'000;
  const std::string_view schema(reinterpret_cast<const char*>(data) + 2 + walk, size - 2 - walk);
  const auto compiled = CompileJsonSchema(schema, options);
  if (!compiled) return 0;
  Recognizer& recognizer = **compiled;
  recognizer.Refuel(1'000'000);
  Recognizer::State state = recognizer.Start();
  for (std::size_t i = 0; i < walk && state != Recognizer::kDead; ++i) {
    // The byte itself where it may follow, else the next that may.
    Recognizer::State next = Recognizer::kDead;
    for (int k = 0; k < 256 && next == Recognizer::kDead; ++k) {
      next = recognizer.Next(state, static_cast<std::uint8_t>(data[2 + i] + k));
    }
    if (!recognizer.status()) return 0;
    ADJUDGE_CHECK(next != Recognizer::kDead || recognizer.Accepts(state));
    if (next == Recognizer::kDead) return 0;
    state = next;
  }
  const auto rest = recognizer.ShortestEnd(state);
  if (!recognizer.status() || !rest) return 0;
  const auto end = Walk(recognizer, state, *rest);
  ADJUDGE_CHECK(!recognizer.status() || (end != Recognizer::kDead && recognizer.Accepts(end)));
  return 0;
}
