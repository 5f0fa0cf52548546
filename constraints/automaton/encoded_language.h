// EncodedLanguage: a CharLanguage read byte by byte.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "constraints/automaton/char_language.h"
#include "constraints/automaton/key_hash.h"
#include "constraints/automaton/recognizer.h"

namespace adjudge {

enum class Encoding {
  kUtf8,
  // The inside of a JSON string: every spelling of each character, escapes and surrogate pairs
  // included; never a lone surrogate. The quotes around it are not part.
  kJsonString,
};

class EncodedLanguage final : public Recognizer {
 public:
  EncodedLanguage(CharLanguage::Ptr language, Encoding encoding);

  State Start() override;
  State Next(State state, std::uint8_t byte) override;
  bool Accepts(State state) override;
  Run RunFrom(State state) override;
  std::optional<std::string> ShortestEnd(State state) override;
  std::size_t bytes() const override;

 private:
  // What was read of a character that is not whole yet.
  enum class Part : std::uint8_t {
    kNone,
    kAny,     // UTF-8: `left` more bytes of any kind lead to the character state
    kUtf8,    // UTF-8: the bits `value`, `left` bytes to come, of `length`
    kEscape,  // JSON: a backslash
    kHex,     // JSON: \u and hex digits `value`, `left` to come
    kLow,     // JSON: a high surrogate `value`; a backslash must come
    kLowU,    // JSON: and now a u
    kLowHex,  // JSON: and hex digits; `value` holds both, `left` to come
  };
  struct Place {
    CharLanguage::State chars = CharLanguage::kDead;
    Part part = Part::kNone;
    std::uint8_t left = 0;
    std::uint8_t length = 0;
    std::uint32_t value = 0;
  };
  // All that one state says of single characters.
  struct CharRun {
    CharClass chars;
    CharLanguage::State next = CharLanguage::kDead;
    bool any_left = false;  // a character outside of the class may come, too
  };

  State Intern(const Place& place);
  State AfterChar(CharLanguage::State chars, char32_t code);
  State Derive(const Place& place, std::uint8_t byte);
  State Lead(CharLanguage::State chars, std::uint8_t byte);
  State Utf8Part(const Place& place);
  State HexPart(const Place& place);
  bool AnyLive(CharLanguage::State chars, char32_t first, char32_t last);
  CharRun CharRunOf(CharLanguage::State chars);
  bool LivesOn(CharLanguage::State chars, const CharClass& chars_class);
  bool Borrow();

  const CharLanguage::Ptr language_;
  const Encoding encoding_;
  std::vector<Place> places_;  // by state
  std::vector<std::vector<State>> rows_;
  std::unordered_map<std::uint64_t, std::vector<State>> ids_;
  std::unordered_map<CharLanguage::State, CharRun> runs_;
};

}  // namespace adjudge
