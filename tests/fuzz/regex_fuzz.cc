// Any bytes as a regex: searching is matching with anything around, and what is live has an end.
#include <cstdint>
#include <string>
#include <string_view>

#include "constraints/automaton/encoded_language.h"
#include "engine/base/check.h"

namespace adjudge {
namespace {

void Try(std::string_view regex, RegexMatch match, Encoding encoding, std::string_view walk) {
  const auto language = CharLanguage::FromRegex(
      regex, match, {.max_bytes = 512, .max_depth = 40, .max_repeat = 2000});
  if (!language) {
    ADJUDGE_CHECK(!language.error().message.empty());
    return;
  }
  EncodedLanguage recognizer(*language, encoding);
  recognizer.Refuel(2'000'000);
  auto state = recognizer.Start();
  for (const char c : walk) {
    if (state == Recognizer::kDead) return;
    const auto next = recognizer.Next(state, static_cast<std::uint8_t>(c));
    if (next != Recognizer::kDead) state = next;
  }
  if (!recognizer.status() || state == Recognizer::kDead) return;
  const auto end = recognizer.ShortestEnd(state);
  if (!recognizer.status()) return;
  ADJUDGE_CHECK(end.has_value());
  const auto last = Walk(recognizer, state, *end);
  ADJUDGE_CHECK(!recognizer.status() || (last != Recognizer::kDead && recognizer.Accepts(last)));
}

}  // namespace
}  // namespace adjudge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace adjudge;
  if (size == 0) return 0;
  const std::size_t n_walk = (size - 1) / 4;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Try(text.substr(n_walk), data[0] % 2 == 0 ? RegexMatch::kWhole : RegexMatch::kSearch,
      data[0] % 4 < 2 ? Encoding::kUtf8 : Encoding::kJsonString, text.substr(0, n_walk));
  return 0;
}
