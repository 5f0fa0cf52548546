// Recognizer: a deterministic acceptor of byte texts whose states are made as they are needed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/base/token_mask.h"

namespace adjudge {

// Characters as the mask engine tells tokens apart: ASCII bytes one by one, and whether every
// well-formed code point from U+0080 up belongs.
struct CharClass {
  std::array<std::uint64_t, 2> ascii{};  // bit b % 64 of word b / 64: the byte b < 0x80
  bool non_ascii = false;

  bool has(std::uint8_t byte) const {
    return byte < 0x80 ? ((ascii[byte / 64] >> (byte % 64)) & 1U) != 0 : non_ascii;
  }
  void add(std::uint8_t byte) { ascii[byte / 64] |= std::uint64_t{1} << (byte % 64); }
  bool empty() const { return ascii[0] == 0 && ascii[1] == 0 && !non_ascii; }
  friend bool operator==(const CharClass&, const CharClass&) = default;
};

// One thread at a time; whoever shares one locks. States are interned: the same future has, as far
// as that is cheap to see, the same id, so that masks can be kept by state. A state once given
// stays valid.
//
// Every state but kDead is live: some accepted text continues from it. That is exact, always; where
// it cannot be decided within the fuel, the answer is an error (status()), never a guess.
class Recognizer {
 public:
  using State = std::uint32_t;
  static constexpr State kDead = 0;
  static constexpr std::uint32_t kNoLimit = ~std::uint32_t{0};

  // What may be said of many texts at once, of up to kRunHorizon characters. Claims, all exact:
  // every text of at most `room` characters of `chars` is live from here, and, if `ends`, no longer
  // one is (room kNoLimit: all are live). If `next` is not kDead, each single character of the
  // class leads to that state (which may be the state itself). An empty class claims nothing.
  struct Run {
    CharClass chars;
    std::uint32_t room = 0;
    bool ends = true;
    State next = kDead;
  };
  static constexpr std::uint32_t kRunHorizon = 256;

  virtual ~Recognizer() = default;

  // Of the empty text. kDead only with an error in status(): empty languages do not compile.
  virtual State Start() = 0;
  // REQUIRES: state is not kDead. kDead iff no accepted text continues so, or the fuel is spent.
  virtual State Next(State state, std::uint8_t byte) = 0;
  virtual bool Accepts(State state) = 0;
  virtual Run RunFrom(State state);

  // A state that stands for this one where masks are kept: every token with fewer than two quotes
  // (") is allowed in both or in neither. So texts that were read need not keep masks apart.
  virtual State MaskTwin(State state) { return state; }

  // Terminals that are whole tokens of the vocabulary, whatever their bytes: those allowed here, or
  // null for none. Lives until the next call.
  virtual const TokenMask* Tokens(State) { return nullptr; }
  // The state after a token whose bytes lead to `spelled` (kDead where they lead nowhere, or where
  // the token is no text).
  virtual State NextToken(State state, TokenId token, State spelled);

  // A shortest text, in bytes, that ends from here; empty where the state accepts. Nothing where it
  // needs token terminals, or the fuel is spent.
  virtual std::optional<std::string> ShortestEnd(State state) = 0;

  // Heap that the states take, roughly.
  virtual std::size_t bytes() const { return 0; }

  // Fuel bounds the work of a caller's request (a mask, a token): a unit is about 10 ns. When it is
  // spent, Next gives kDead without remembering it and status() says so until the next Refuel.
  void Refuel(std::int64_t units) {
    fuel_ = units;
    if (!status_) status_ = {};
  }
  std::int64_t fuel() const { return fuel_; }
  const Status& status() const { return status_; }

 protected:
  // Takes units of fuel; false when there are none left.
  bool Burn(std::int64_t units) {
    fuel_ -= units;
    if (fuel_ >= 0) return true;
    if (status_) FailFuel();
    return false;
  }
  void SetError(Error error) { status_ = tl::unexpected<Error>(std::move(error)); }

 private:
  void FailFuel();

  std::int64_t fuel_ = std::int64_t{1} << 40;
  Status status_;
};

// Walks `text`; kDead as soon as nothing continues.
Recognizer::State Walk(Recognizer& recognizer, Recognizer::State state, std::string_view text);

}  // namespace adjudge
