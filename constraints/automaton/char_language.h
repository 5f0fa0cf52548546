// CharLanguage: a regular set of texts as a deterministic automaton over characters, built by need.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "constraints/automaton/counted_nfa.h"
#include "constraints/automaton/symbol_map.h"
#include "engine/base/result.h"
#include "grammars/regex.h"

namespace adjudge {

enum class RegexMatch {
  kWhole,   // the regex matches the whole text
  kSearch,  // it matches somewhere in the text
};

// Texts of Unicode scalar values. One thread at a time; a language that others are made of must not
// be used elsewhere meanwhile. Work is bounded by fuel as a Recognizer's is: when it is spent,
// steps give kDead and status() says so.
class CharLanguage {
 public:
  using State = std::uint32_t;
  using Ptr = std::shared_ptr<CharLanguage>;
  static constexpr State kDead = 0;

  static Result<Ptr> FromRegex(std::string_view regex, RegexMatch match,
                               const RegexLimits& limits = {});
  // A grammar of one rule, without rule or token nodes.
  static Result<Ptr> FromGrammar(const Grammar& grammar);
  static Ptr All();
  static Ptr Texts(const std::vector<std::string>& texts);  // UTF-8
  // All texts of least to most characters (most may be kUnbounded).
  static Ptr Lengths(std::uint32_t least, std::uint32_t most);
  static Ptr Not(Ptr a);
  static Ptr And(std::vector<Ptr> parts);  // of none: all texts
  static Ptr Or(std::vector<Ptr> parts);   // of none: no text
  static Ptr Minus(Ptr a, Ptr b) { return And({std::move(a), Not(std::move(b))}); }

  virtual ~CharLanguage() = default;
  CharLanguage(const CharLanguage&) = delete;
  CharLanguage& operator=(const CharLanguage&) = delete;

  // kDead where no text is accepted.
  State Start();
  // kDead iff no accepted text continues so. REQUIRES: state is not kDead, code is a scalar value.
  State Step(State state, char32_t code) { return StepSymbol(state, symbols_.Of(code)); }
  State StepSymbol(State state, std::uint32_t symbol);
  virtual bool Accepts(State state) = 0;
  // Some character from first to last (without surrogates) may come next.
  bool AnyLive(State state, char32_t first, char32_t last);
  const SymbolMap& symbols() const { return symbols_; }
  // A set of characters of which every text is live from here, whatever its length; empty where
  // none is known.
  virtual const CodePointSet* AlwaysLive(State) { return nullptr; }

  bool Matches(std::string_view utf8);
  Result<bool> IsEmpty();
  Result<bool> IsUniversal();
  // A shortest text (in characters) that ends from here, in UTF-8. REQUIRES: not kDead.
  Result<std::string> ShortestEnd(State state);
  // A shortest member; nothing where there is none.
  Result<std::optional<std::string>> Shortest();

  void Refuel(std::int64_t units) {
    fuel_ = units;
    if (!status_) status_ = {};
  }
  std::int64_t fuel() const { return fuel_; }
  const Status& status() const { return status_; }
  std::size_t n_states() const { return rows_.size(); }
  virtual std::size_t bytes() const;

 protected:
  enum class Life : std::uint8_t { kUnknown, kLive, kDead };

  explicit CharLanguage(SymbolMap symbols) : symbols_(std::move(symbols)) {
    rows_.emplace_back();
    life_.push_back(Life::kDead);
  }

  // A state whose life is not known yet; kDead only where it is dead for sure.
  virtual State RawStart() = 0;
  virtual State RawStep(State state, std::uint32_t symbol) = 0;
  State NewState(Life life) {
    rows_.emplace_back();
    life_.push_back(life);
    return static_cast<State>(rows_.size() - 1);
  }
  bool Burn(std::int64_t units);
  void SetStatus(const Status& status) { status_ = status; }

 private:
  static constexpr State kUnknown = ~State{0};

  State RawCached(State state, std::uint32_t symbol);
  bool IsLive(State state);

  SymbolMap symbols_;
  std::vector<std::vector<State>> rows_;  // by state, symbol; empty until first used
  std::vector<Life> life_;
  std::int64_t fuel_ = std::int64_t{1} << 40;
  Status status_;
  State start_ = kUnknown;
};

}  // namespace adjudge
