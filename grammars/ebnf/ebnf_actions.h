// EbnfActions: what the parser of EBNF does with the pieces that it finds.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "grammars/ebnf.h"
#include "grammars/grammar.h"

namespace adjudge {

// Pieces are views of the text. The parser calls in the order of the text and only for what it will
// not take back.
class EbnfActions {
 public:
  EbnfActions(std::string_view text, const GrammarLimits& limits) : text_(text), limits_(limits) {}

  // False where the piece is refused: error() says why.
  bool BeginRule(std::string_view name);
  void EndRule();
  void BeginChoice() { choices_.emplace_back(); }
  void BeginSequence() { sequences_.emplace_back(); }
  void EndSequence();
  void EndChoice();  // becomes an item of the sequence around, or the rule's body
  bool Literal(std::string_view quoted);
  bool Class(std::string_view bracketed);
  bool HexChar(std::string_view piece);
  void AnyChar();
  void Reference(std::string_view name);
  bool Token(std::string_view piece);  // <..> or !<..>
  bool Repeat(std::uint32_t least, std::uint32_t most);
  bool Braces(std::string_view piece);  // {m,n} and its kin

  const std::optional<Error>& error() const { return error_; }
  std::string PlaceOf(const char* at) const;
  Result<Grammar> Finish();

 private:
  bool Refuse(ErrorCode code, std::string words, const char* at);
  void Item(Grammar::Node node) { sequences_.back().push_back(node); }
  std::uint32_t RuleId(std::string_view name);

  struct Known {
    std::uint32_t id = 0;
    const char* defined_at = nullptr;
    const char* used_at = nullptr;
  };

  std::string_view text_;
  const GrammarLimits& limits_;
  GrammarBuilder builder_;
  std::map<std::string, Known, std::less<>> names_;
  std::vector<std::string> order_;     // of definition
  std::vector<Grammar::Node> bodies_;  // by rule id
  std::vector<std::vector<Grammar::Node>> choices_;
  std::vector<std::vector<Grammar::Node>> sequences_;
  std::string current_;
  std::optional<Error> error_;
};

}  // namespace adjudge
