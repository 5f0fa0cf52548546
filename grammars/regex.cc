#include "grammars/regex.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/utf8.h"
#include "grammars/unicode/properties.h"

namespace adjudge {
namespace {

using Node = Grammar::Node;

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

class RegexParser {
 public:
  RegexParser(std::string_view text, const RegexLimits& limits) : text_(text), limits_(limits) {}

  Result<Grammar> Parse() {
    builder_.AddRule("root");
    ADJUDGE_ASSIGN_OR_RETURN(const Node body, Disjunction(0));
    if (at_ < text_.size()) return Malformed("expected the end, found an unmatched \")\"", at_);
    builder_.SetBody(0, body);
    return std::move(builder_).Build();
  }

 private:
  tl::unexpected<Error> Malformed(std::string words, std::size_t at) const {
    return Fail(ErrorCode::kMalformed, "regex: " + std::move(words),
                "offset " + std::to_string(at));
  }
  tl::unexpected<Error> Unsupported(std::string words, std::size_t at) const {
    return Fail(ErrorCode::kUnsupported, "regex: " + std::move(words),
                "offset " + std::to_string(at));
  }

  bool done() const { return at_ >= text_.size(); }
  bool Sees(std::string_view piece) const { return text_.substr(at_).starts_with(piece); }
  bool Take(std::string_view piece) {
    if (!Sees(piece)) return false;
    at_ += piece.size();
    return true;
  }
  char32_t TakeCodePoint() {
    const std::size_t length = Utf8Length(text_[at_]);
    const char32_t code = DecodeUtf8(text_.data() + at_, length);
    at_ += length;
    return code;
  }

  Result<Node> Disjunction(int depth);
  Result<Node> Alternative(int depth);
  Result<Node> Atom(int depth);
  Result<Node> Group(int depth);
  Result<Node> Quantified(Node atom, std::size_t atom_at);
  Result<std::optional<std::pair<std::uint32_t, std::uint32_t>>> Braces();
  Result<std::uint32_t> Number();
  Result<CodePointSet> Class();
  Result<CodePointSet> ClassAtom(bool& single);
  // What follows a backslash that was taken, as a set; `single` tells one character from a class.
  Result<CodePointSet> Escape(bool in_class, bool& single);
  Result<CodePointSet> PropertyEscape(bool negated, std::size_t at);
  Result<char32_t> UnicodeEscape(std::size_t at);
  std::optional<char32_t> Hex(std::size_t digits);

  std::string_view text_;
  const RegexLimits& limits_;
  std::size_t at_ = 0;
  GrammarBuilder builder_;
};

Result<Node> RegexParser::Disjunction(int depth) {
  if (depth > limits_.max_depth) {
    return Fail(ErrorCode::kLimit,
                "regex: groups nest deeper than max_depth, " + std::to_string(limits_.max_depth),
                "offset " + std::to_string(at_));
  }
  std::vector<Node> parts;
  do {
    ADJUDGE_ASSIGN_OR_RETURN(const Node part, Alternative(depth));
    parts.push_back(part);
  } while (Take("|"));
  return builder_.Choice(parts);
}

Result<Node> RegexParser::Alternative(int depth) {
  std::vector<Node> parts;
  while (!done() && !Sees("|") && !Sees(")")) {
    if (Take("^")) {
      parts.push_back(builder_.TextStart());
    } else if (Take("$")) {
      parts.push_back(builder_.TextEnd());
    } else {
      const std::size_t atom_at = at_;
      ADJUDGE_ASSIGN_OR_RETURN(const Node atom, Atom(depth));
      ADJUDGE_ASSIGN_OR_RETURN(const Node part, Quantified(atom, atom_at));
      parts.push_back(part);
      continue;
    }
    const bool quantified =
        !done() && (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '?');
    if (quantified)
      return Malformed("nothing to repeat before " + Quoted(text_.substr(at_, 1)), at_);
  }
  return builder_.Sequence(parts);
}

Result<Node> RegexParser::Atom(int depth) {
  const std::size_t at = at_;
  switch (text_[at_]) {
    case '(':
      return Group(depth);
    case '[': {
      ADJUDGE_ASSIGN_OR_RETURN(CodePointSet chars, Class());
      return builder_.Chars(std::move(chars));
    }
    case '.': {
      ++at_;
      CodePointSet ends('\n', '\n');
      for (const char32_t code : {U'\r', char32_t{0x2028}, char32_t{0x2029}}) ends.Add(code);
      return builder_.Chars(ends.Complement());
    }
    case '*':
    case '+':
    case '?':
      return Malformed("nothing to repeat before " + Quoted(text_.substr(at_, 1)), at);
    case '{': {
      ADJUDGE_ASSIGN_OR_RETURN(const auto braces, Braces());
      if (braces) return Malformed("nothing to repeat before \"{\"", at);
      break;
    }
    case '\\': {
      ++at_;
      bool single = false;
      ADJUDGE_ASSIGN_OR_RETURN(CodePointSet chars, Escape(false, single));
      if (!single) return builder_.Chars(std::move(chars));
      std::string bytes;
      AppendUtf8(chars.ranges()[0].first, bytes);
      return builder_.Text(std::move(bytes));
    }
    default:
      break;
  }
  std::string bytes;
  AppendUtf8(TakeCodePoint(), bytes);
  return builder_.Text(std::move(bytes));
}

Result<Node> RegexParser::Group(int depth) {
  const std::size_t at = at_;
  ++at_;
  struct Refused {
    std::string_view opening;
    const char* name;
  };
  for (const Refused& refused :
       {Refused{"?=", "lookahead (?=...)"}, Refused{"?!", "negative lookahead (?!...)"},
        Refused{"?<=", "lookbehind (?<=...)"}, Refused{"?<!", "negative lookbehind (?<!...)"}}) {
    if (Sees(refused.opening)) {
      return Unsupported(std::string(refused.name) + " is not supported", at);
    }
  }
  if (Take("?<")) {
    const std::size_t end = text_.find('>', at_);
    if (end == std::string_view::npos || end == at_) {
      return Malformed("expected a group's name and \">\" after \"(?<\"", at);
    }
    at_ = end + 1;
  } else if (Sees("?") && !Take("?:")) {
    return Malformed("expected \"(?:\", \"(?<name>\" or a group, found " +
                         Quoted(text_.substr(at, 3)) + " (flags are not part of a pattern)",
                     at);
  }
  ADJUDGE_ASSIGN_OR_RETURN(const Node inner, Disjunction(depth + 1));
  if (!Take(")")) return Malformed("expected \")\" for the group that begins here", at);
  return inner;
}

Result<Node> RegexParser::Quantified(Node atom, std::size_t atom_at) {
  if (done()) return atom;
  std::uint32_t least = 0;
  std::uint32_t most = kUnbounded;
  if (Take("*")) {
  } else if (Take("+")) {
    least = 1;
  } else if (Take("?")) {
    most = 1;
  } else if (Sees("{")) {
    ADJUDGE_ASSIGN_OR_RETURN(const auto braces, Braces());
    if (!braces) return atom;
    std::tie(least, most) = *braces;
  } else {
    return atom;
  }
  Take("?");  // as few as possible: the same language
  if (!done() && (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '?')) {
    return Malformed("nothing to repeat before " + Quoted(text_.substr(at_, 1)), at_);
  }
  const std::size_t brace_at = at_;
  ADJUDGE_ASSIGN_OR_RETURN(const auto again, Braces());
  if (again) return Malformed("nothing to repeat before \"{\"", brace_at);
  at_ = brace_at;
  if (builder_.n_nodes() > limits_.max_bytes * 2) {
    return Fail(ErrorCode::kLimit, "regex: too many parts", "offset " + std::to_string(atom_at));
  }
  return builder_.Repeat(atom, least, most);
}

// {m}, {m,} or {m,n} at the cursor, taken; nothing, and the cursor where it was, for other text.
Result<std::optional<std::pair<std::uint32_t, std::uint32_t>>> RegexParser::Braces() {
  const std::size_t at = at_;
  const auto nothing = [&] {
    at_ = at;
    return std::optional<std::pair<std::uint32_t, std::uint32_t>>();
  };
  const auto digit = [this] { return !done() && text_[at_] >= '0' && text_[at_] <= '9'; };
  if (!Take("{") || !digit()) return nothing();
  // Read as text first: {1,x} stands for itself.
  const std::size_t end = text_.find_first_not_of("0123456789,", at_);
  if (end == std::string_view::npos || text_[end] != '}') return nothing();
  if (text_.substr(at_, end - at_).find(',') != text_.substr(at_, end - at_).rfind(',')) {
    return nothing();
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::uint32_t least, Number());
  std::uint32_t most = least;
  if (Take(",")) {
    most = kUnbounded;
    if (digit()) {
      ADJUDGE_ASSIGN_OR_RETURN(most, Number());
    }
  }
  at_ = end + 1;
  if (most < least) {
    return Malformed("expected {least,most}, found " + Quoted(text_.substr(at, at_ - at)) +
                         " with most below least",
                     at);
  }
  return std::make_optional(std::pair{least, most});
}

Result<std::uint32_t> RegexParser::Number() {
  const std::size_t at = at_;
  std::uint64_t value = 0;
  while (!done() && text_[at_] >= '0' && text_[at_] <= '9') {
    value = value * 10 + static_cast<std::uint64_t>(text_[at_++] - '0');
    if (value > limits_.max_repeat) {
      return Fail(ErrorCode::kLimit,
                  "regex: a repeat above max_repeat, " + std::to_string(limits_.max_repeat),
                  "offset " + std::to_string(at));
    }
  }
  return static_cast<std::uint32_t>(value);
}

Result<CodePointSet> RegexParser::Class() {
  const std::size_t at = at_;
  ++at_;
  const bool negated = Take("^");
  CodePointSet set;
  while (!Sees("]")) {
    if (done()) return Malformed("expected \"]\" for the class that begins here", at);
    const std::size_t first_at = at_;
    bool first_single = false;
    ADJUDGE_ASSIGN_OR_RETURN(const CodePointSet first, ClassAtom(first_single));
    const bool range = Sees("-") && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
    if (!range) {
      set.Add(first);
      continue;
    }
    ++at_;
    bool last_single = false;
    ADJUDGE_ASSIGN_OR_RETURN(const CodePointSet last, ClassAtom(last_single));
    if (!first_single || !last_single) {  // [\w-.]: the three of them
      set.Add(first);
      set.Add(last);
      set.Add('-');
      continue;
    }
    const char32_t low = first.ranges()[0].first;
    const char32_t high = last.ranges()[0].first;
    if (high < low) {
      return Malformed("expected a range from low to high, found " +
                           Quoted(text_.substr(first_at, at_ - first_at)),
                       first_at);
    }
    set.Add(low, high);
  }
  ++at_;
  return negated ? set.Complement() : set;
}

Result<CodePointSet> RegexParser::ClassAtom(bool& single) {
  if (Take("\\")) return Escape(true, single);
  if (done()) return Malformed("expected \"]\", found the end", at_);
  single = true;
  const char32_t code = TakeCodePoint();
  return CodePointSet(code, code);
}

std::optional<char32_t> RegexParser::Hex(std::size_t digits) {
  char32_t value = 0;
  if (text_.size() - at_ < digits) return std::nullopt;
  for (std::size_t i = 0; i < digits; ++i) {
    const char c = text_[at_ + i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<char32_t>(digit);
  }
  at_ += digits;
  return value;
}

// After \u.
Result<char32_t> RegexParser::UnicodeEscape(std::size_t at) {
  const auto bad = [&] {
    return Malformed("expected four hex digits or {code point} after \"\\u\"", at);
  };
  if (Take("{")) {
    const std::size_t end = text_.find('}', at_);
    if (end == std::string_view::npos || end == at_ || end - at_ > 64) return bad();
    char32_t code = 0;
    while (at_ < end) {
      const auto digit = Hex(1);
      if (!digit) return bad();
      code = code * 16 + *digit;
      if (code > kLastCodePoint) {
        return Malformed("expected a code point up to 10FFFF after \"\\u{\"", at);
      }
    }
    ++at_;
    return code;
  }
  const auto first = Hex(4);
  if (!first) return bad();
  if (*first < 0xD800 || *first > 0xDBFF) return *first;
  const std::size_t between = at_;
  if (Take("\\u")) {
    const auto second = Hex(4);
    if (second && *second >= 0xDC00 && *second <= 0xDFFF) {
      return 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00);
    }
  }
  at_ = between;
  return *first;
}

Result<CodePointSet> RegexParser::PropertyEscape(bool negated, std::size_t at) {
  const std::size_t end = text_.find('}', at_);
  if (!Take("{") || end == std::string_view::npos) {
    return Malformed("expected {property} after \"\\p\"", at);
  }
  const std::string_view name = text_.substr(at_, end - at_);
  at_ = end + 1;
  const auto set = UnicodeProperty(name);
  if (!set) {
    return Unsupported("the property " + Quoted(name) +
                           " is not known (general categories, Any, ASCII, Assigned, White_Space)",
                       at);
  }
  return negated ? set->Complement() : *set;
}

Result<CodePointSet> RegexParser::Escape(bool in_class, bool& single) {
  const std::size_t at = at_ - 1;
  if (done()) return Malformed("expected a character after \"\\\", found the end", at);
  const char32_t code = TakeCodePoint();
  single = false;
  CodePointSet digits('0', '9');
  CodePointSet words('A', 'Z');
  words.Add('a', 'z');
  words.Add(digits);
  words.Add('_');
  switch (code) {
    case 'd':
      return digits;
    case 'D':
      return digits.Complement();
    case 'w':
      return words;
    case 'W':
      return words.Complement();
    case 's':
      return RegexSpaces();
    case 'S':
      return RegexSpaces().Complement();
    case 'p':
    case 'P':
      return PropertyEscape(code == 'P', at);
    default:
      break;
  }
  single = true;
  const auto one = [](char32_t c) { return CodePointSet(c, c); };
  switch (code) {
    case 't':
      return one('\t');
    case 'n':
      return one('\n');
    case 'v':
      return one('\v');
    case 'f':
      return one('\f');
    case 'r':
      return one('\r');
    case 'b':
      if (in_class) return one('\b');
      return Unsupported("the word boundary \\b is not supported", at);
    case 'B':
      if (in_class) break;
      return Unsupported("the word boundary \\B is not supported", at);
    case 'k':
      return Unsupported("the backreference \\k is not supported", at);
    case 'c':
      if (!done() && ((text_[at_] | 0x20) >= 'a' && (text_[at_] | 0x20) <= 'z')) {
        return one(static_cast<char32_t>(text_[at_++] & 31));
      }
      return Malformed("expected a letter after \"\\c\"", at);
    case 'x': {
      const auto value = Hex(2);
      if (!value) return Malformed("expected two hex digits after \"\\x\"", at);
      return one(*value);
    }
    case 'u': {
      ADJUDGE_ASSIGN_OR_RETURN(const char32_t value, UnicodeEscape(at));
      if (value >= 0xD800 && value <= 0xDFFF) {
        return Unsupported("a lone surrogate is no character of a text", at);
      }
      return one(value);
    }
    default:
      break;
  }
  if (code == '0' && (done() || text_[at_] < '0' || text_[at_] > '9')) return one(0);
  if (code >= '0' && code <= '9') {
    return Unsupported(
        "the backreference or octal escape " + Quoted(text_.substr(at, 2)) + " is not supported",
        at);
  }
  const bool letter = (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
  if (letter || code >= 0x80 || code < 0x20) {
    return Malformed("no escape " + Quoted(text_.substr(at, at_ - at)) + " is known", at);
  }
  return one(code);
}

}  // namespace

Result<Grammar> ParseRegex(std::string_view text, const RegexLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Fail(ErrorCode::kLimit, "regex: " + std::to_string(text.size()) +
                                       " bytes, but max_bytes is " +
                                       std::to_string(limits.max_bytes));
  }
  if (const auto bad = FirstInvalidUtf8(text)) {
    return Fail(ErrorCode::kMalformed, "regex: not UTF-8", "offset " + std::to_string(*bad));
  }
  return RegexParser(text, limits).Parse();
}

}  // namespace adjudge
