#include "tests/testing/schema_texts.h"

namespace adjudge::testing {

Result<bool> AcceptsText(Recognizer& recognizer, std::string_view text) {
  recognizer.Refuel(1'000'000'000);
  const Recognizer::State start = recognizer.Start();
  const Recognizer::State end = start == Recognizer::kDead ? start : Walk(recognizer, start, text);
  ADJUDGE_RETURN_IF_ERROR(recognizer.status());
  return end != Recognizer::kDead && recognizer.Accepts(end);
}

std::string SpacedText(const schema::JsonValue& value) {
  using schema::JsonKind;
  std::string out;
  if (value.is(JsonKind::kArray)) {
    for (const auto& item : value.items) out += (out.empty() ? "" : ", ") + SpacedText(item);
    return "[" + out + "]";
  }
  if (value.is(JsonKind::kObject)) {
    for (const auto& [name, member] : value.members) {
      out += (out.empty() ? "" : ", ") + schema::QuoteJson(name) + ": " + SpacedText(member);
    }
    return "{" + out + "}";
  }
  return value.ToText();
}

}  // namespace adjudge::testing
