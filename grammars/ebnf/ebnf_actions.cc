#include "grammars/ebnf/ebnf_actions.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/base/utf8.h"
#include "grammars/ebnf/literals.h"

namespace adjudge {

std::string EbnfActions::PlaceOf(const char* at) const {
  const auto offset = static_cast<std::size_t>(at - text_.data());
  const std::string_view before = text_.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t begin =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  int column = 1;
  for (std::size_t i = begin; i < offset; ++i) {
    if ((static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80) ++column;
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

bool EbnfActions::Refuse(ErrorCode code, std::string words, const char* at) {
  if (!error_) error_ = Error{code, "grammar: " + std::move(words), PlaceOf(at)};
  return false;
}

std::uint32_t EbnfActions::RuleId(std::string_view name) {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second.id;
  const auto id = static_cast<std::uint32_t>(names_.size());
  names_.emplace(std::string(name), Known{.id = id});
  bodies_.push_back(0);
  return id;
}

bool EbnfActions::BeginRule(std::string_view name) {
  RuleId(name);
  Known& known = names_.find(name)->second;
  if (known.defined_at != nullptr) {
    return Refuse(ErrorCode::kMalformed,
                  "the rule \"" + std::string(name) + "\" is defined twice, first at " +
                      PlaceOf(known.defined_at),
                  name.data());
  }
  known.defined_at = name.data();
  order_.emplace_back(name);
  current_ = std::string(name);
  if (order_.size() > limits_.max_rules) {
    return Refuse(ErrorCode::kLimit,
                  "more rules than max_rules, " + std::to_string(limits_.max_rules), name.data());
  }
  sequences_.emplace_back();
  return true;
}

void EbnfActions::EndRule() {
  bodies_[RuleId(current_)] = sequences_.back()[0];
  sequences_.pop_back();
}

void EbnfActions::EndSequence() {
  choices_.back().push_back(builder_.Sequence(sequences_.back()));
  sequences_.pop_back();
}

void EbnfActions::EndChoice() {
  const Grammar::Node node = builder_.Choice(choices_.back());
  choices_.pop_back();
  Item(node);
}

bool EbnfActions::Literal(std::string_view quoted) {
  const std::string_view inside = quoted.substr(1, quoted.size() - 2);
  auto text = ReadLiteral(inside);
  if (!text) {
    return Refuse(ErrorCode::kMalformed, text.error().words, inside.data() + text.error().offset);
  }
  Item(builder_.Text(*std::move(text)));
  return true;
}

bool EbnfActions::Class(std::string_view bracketed) {
  const std::string_view inside = bracketed.substr(1, bracketed.size() - 2);
  auto chars = ReadClass(inside);
  if (!chars) {
    return Refuse(ErrorCode::kMalformed, chars.error().words, inside.data() + chars.error().offset);
  }
  Item(builder_.Chars(*std::move(chars)));
  return true;
}

bool EbnfActions::HexChar(std::string_view piece) {
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(piece.data() + 2, piece.data() + piece.size(), code, 16);
  if (error != std::errc() || code > kLastCodePoint || (code >= 0xD800 && code <= 0xDFFF)) {
    return Refuse(ErrorCode::kMalformed,
                  "expected a character up to U+10FFFF that is no surrogate, found \"" +
                      std::string(piece) + "\"",
                  piece.data());
  }
  std::string text;
  AppendUtf8(code, text);
  Item(builder_.Text(std::move(text)));
  return true;
}

void EbnfActions::AnyChar() { Item(builder_.Chars(CodePointSet::All())); }

void EbnfActions::Reference(std::string_view name) {
  const std::uint32_t id = RuleId(name);
  Known& known = names_.find(name)->second;
  if (known.used_at == nullptr) known.used_at = name.data();
  Item(builder_.Rule(id));
}

bool EbnfActions::Token(std::string_view piece) {
  TokenTerminal token;
  token.negated = piece[0] == '!';
  std::string_view inside = piece.substr(token.negated ? 2 : 1);
  inside.remove_suffix(1);
  if (!inside.starts_with("[")) {
    token.names.emplace_back(inside);
  } else {
    TokenId id = 0;
    const auto [end, error] =
        std::from_chars(inside.data() + 1, inside.data() + inside.size() - 1, id);
    if (error != std::errc() || end != inside.data() + inside.size() - 1 || id < 0 ||
        inside.back() != ']') {
      return Refuse(ErrorCode::kMalformed,
                    "expected a token id, <[1000]>, found \"" + std::string(piece) + "\"",
                    piece.data());
    }
    token.ids.push_back(id);
  }
  Item(builder_.Token(std::move(token)));
  return true;
}

bool EbnfActions::Repeat(std::uint32_t least, std::uint32_t most) {
  sequences_.back().back() = builder_.Repeat(sequences_.back().back(), least, most);
  return true;
}

bool EbnfActions::Braces(std::string_view piece) {
  std::string digits;
  std::vector<std::string> numbers;
  for (const char c : piece) {
    if (c >= '0' && c <= '9') digits += c;
    if (c == ',' || c == '}') numbers.push_back(std::exchange(digits, ""));
  }
  const auto read = [&](const std::string& text, std::uint32_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && value <= limits_.max_repeat;
  };
  std::uint32_t least = 0;
  std::uint32_t most = kUnbounded;
  const bool fits = (numbers[0].empty() || read(numbers[0], least)) &&
                    (numbers.back().empty() || read(numbers.back(), most));
  if (!fits) {
    return Refuse(ErrorCode::kLimit,
                  "a repeat above max_repeat, " + std::to_string(limits_.max_repeat), piece.data());
  }
  if (numbers.size() == 1) most = least;
  if (most < least) {
    return Refuse(
        ErrorCode::kMalformed,
        "expected {least,most}, found \"" + std::string(piece) + "\" with most below least",
        piece.data());
  }
  return Repeat(least, most);
}

Result<Grammar> EbnfActions::Finish() {
  if (order_.empty()) {
    return Fail(ErrorCode::kMalformed, "grammar: expected a rule, name ::= ..., found none",
                "line 1, column 1");
  }
  const char* first = nullptr;  // place of the first use of an unknown rule
  std::string_view missing;
  for (const auto& [name, known] : names_) {
    if (known.defined_at != nullptr || (first != nullptr && first < known.used_at)) continue;
    first = known.used_at;
    missing = name;
  }
  if (first != nullptr) {
    return Fail(ErrorCode::kMalformed,
                "grammar: the rule \"" + std::string(missing) + "\" is not defined",
                PlaceOf(first));
  }
  // The root first, then the order of definition; rules were numbered as they were met.
  const auto root = std::find(order_.begin(), order_.end(), "root");
  if (root != order_.end()) std::rotate(order_.begin(), root, root + 1);
  return std::move(builder_).Renumbered(order_, [&](const std::string& name) {
    const std::uint32_t id = names_.find(name)->second.id;
    return std::pair{id, bodies_[id]};
  });
}

}  // namespace adjudge
