#include "engine/template/lexer.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/template/print.h"
#include "engine/template/unicode.h"

namespace adjudge::jinja {
namespace {

bool IsDigitChar(char c) { return c >= '0' && c <= '9'; }
bool IsWordChar(char c) {
  return IsDigitChar(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Line ends become \n, and one at the very end goes.
std::string NormalizeNewlines(std::string_view source, bool drop_last) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out.push_back(source[i]);
      continue;
    }
    out.push_back('\n');
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (drop_last && out.ends_with('\n')) out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)), text_(source_) {}

  Result<std::vector<Token>> Run() {
    while (at_ < text_.size()) {
      ADJUDGE_RETURN_IF_ERROR(Root());
    }
    Add(Token::Kind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  tl::unexpected<Error> Bad(std::string message) const {
    return Fail(ErrorCode::kMalformed, "TemplateSyntaxError: " + std::move(message),
                LinePlace(line_));
  }

  void Add(Token::Kind kind, std::string text) {
    Token token;
    token.kind = kind;
    token.line = line_;
    token.text = std::move(text);
    tokens_.push_back(std::move(token));
  }

  // Moves to `end`, counting lines.
  void MoveTo(std::size_t end) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  bool StartsWith(std::size_t at, std::string_view what) const {
    return text_.substr(std::min(at, text_.size())).starts_with(what);
  }

  std::size_t SkipSpace(std::size_t at) const {
    while (at < text_.size()) {
      const CodePoint point = DecodeAt(text_, at);
      if (!IsSpace(point.value)) break;
      at += point.bytes;
    }
    return at;
  }

  std::size_t StripRight(std::size_t begin, std::size_t end) const {
    while (end > begin) {
      const std::size_t start = PreviousStart(text_, end);
      if (!IsSpace(DecodeAt(text_, start).value)) break;
      end = start;
    }
    return end;
  }

  // The text before a tag that begins at `tag`, up to where whitespace control lets it stand.
  void AddData(std::size_t tag, char sign, bool variable) {
    std::size_t end = tag;
    if (sign == '-') {
      end = StripRight(at_, tag);
    } else if (sign != '+' && !variable) {
      const std::size_t newline = text_.substr(at_, tag - at_).rfind('\n');
      const bool has_newline = newline != std::string_view::npos;
      const std::size_t line_begin = has_newline ? at_ + newline + 1 : at_;
      if ((has_newline || line_starting_) && SkipSpace(line_begin) >= tag) end = line_begin;
    }
    if (end > at_) Add(Token::Kind::kData, std::string(text_.substr(at_, end - at_)));
    MoveTo(tag);
  }

  // The end of a "%}" with its sign, at `at`; npos where there is none. `trim` is trim_blocks.
  std::size_t TagEnd(std::size_t at, std::string_view close, bool trim) const {
    if (StartsWith(at, "-") && StartsWith(at + 1, close)) return SkipSpace(at + 1 + close.size());
    if (trim && StartsWith(at, "+") && StartsWith(at + 1, close)) return at + 1 + close.size();
    if (!StartsWith(at, close)) return std::string_view::npos;
    at += close.size();
    return trim && StartsWith(at, "\n") ? at + 1 : at;
  }

  char SignAt(std::size_t at) const {
    return at < text_.size() && (text_[at] == '-' || text_[at] == '+') ? text_[at] : '\0';
  }

  // "{% NAME %}" at `at`: its end, or npos.
  std::size_t NamedTag(std::size_t at, std::string_view name, bool trim) const {
    if (!StartsWith(at, "{%")) return std::string_view::npos;
    at += 2;
    if (SignAt(at) != '\0') ++at;
    at = SkipSpace(at);
    if (!StartsWith(at, name)) return std::string_view::npos;
    return TagEnd(SkipSpace(at + name.size()), "%}", trim);
  }

  void EndOf(std::size_t end) {
    line_starting_ = end > at_ && text_[end - 1] == '\n';
    MoveTo(end);
  }

  Status Root() {
    std::size_t tag = at_;
    while (true) {
      tag = text_.find('{', tag);
      if (tag == text_.npos) {
        Add(Token::Kind::kData, std::string(text_.substr(at_)));
        MoveTo(text_.size());
        return {};
      }
      if (tag + 1 < text_.size() && std::string_view("{%#").find(text_[tag + 1]) != text_.npos) {
        break;
      }
      ++tag;
    }
    const char kind = text_[tag + 1];
    const char sign = SignAt(tag + 2);
    AddData(tag, sign, kind == '{');
    const std::size_t raw = kind == '%' ? NamedTag(tag, "raw", false) : text_.npos;
    if (raw != text_.npos) return Raw(raw);
    if (kind == '{') Add(Token::Kind::kVariableBegin, "");
    if (kind == '%') Add(Token::Kind::kBlockBegin, "");
    EndOf(tag + 2 + (sign == '\0' ? 0 : 1));
    if (kind == '#') return Comment();
    return Code(kind == '{');
  }

  Status Comment() {
    const std::size_t close = text_.find("#}", at_);
    if (close == text_.npos) return Bad("Missing end of comment tag");
    const bool sign = close > at_ && SignAt(close - 1) != '\0';
    EndOf(TagEnd(sign ? close - 1 : close, "#}", true));
    return {};
  }

  Status Raw(std::size_t begin) {
    EndOf(begin);
    for (std::size_t tag = at_; (tag = text_.find("{%", tag)) != text_.npos; ++tag) {
      const std::size_t end = NamedTag(tag, "endraw", true);
      if (end == text_.npos) continue;
      AddData(tag, SignAt(tag + 2), false);
      EndOf(end);
      return {};
    }
    return Bad("Missing end of raw directive");
  }

  // Tokens up to the end of the tag.
  Status Code(bool variable) {
    std::string open;  // the closers that are due
    while (at_ < text_.size()) {
      if (open.empty()) {
        const std::size_t end = TagEnd(at_, variable ? "}}" : "%}", !variable);
        if (end != text_.npos) {
          Add(variable ? Token::Kind::kVariableEnd : Token::Kind::kBlockEnd, "");
          EndOf(end);
          return {};
        }
      }
      const std::size_t after_space = SkipSpace(at_);
      if (after_space > at_) {
        MoveTo(after_space);
        continue;
      }
      ADJUDGE_RETURN_IF_ERROR(CodeToken(open));
    }
    return {};
  }

  Status CodeToken(std::string& open) {
    const char c = text_[at_];
    if (IsDigitChar(c)) return Number();
    if (IsWordChar(c)) return Name();
    if (c == '\'' || c == '"') return String(c);
    return OperatorToken(open);
  }

  Status Name() {
    std::size_t end = at_;
    while (end < text_.size() && IsWordChar(text_[end])) ++end;
    const std::string_view name = text_.substr(at_, end - at_);
    if (!IsAscii(name)) {
      return Fail(ErrorCode::kUnsupported,
                  "not supported: a name that is not ASCII: " + std::string(name.substr(0, 40)),
                  LinePlace(line_));
    }
    Add(Token::Kind::kName, std::string(name));
    MoveTo(end);
    return {};
  }

  Status String(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size())
      return Bad(std::string("unexpected char ") + (quote == '\'' ? "\"'\"" : "'\"'"));
    Result<std::string> value = UnescapeString(text_.substr(at_ + 1, end - at_ - 1));
    if (!value) {
      Error error = std::move(value).error();
      error.place = LinePlace(line_);
      return tl::unexpected<Error>(std::move(error));
    }
    Add(Token::Kind::kString, *std::move(value));
    MoveTo(end + 1);
    return {};
  }

  // digits with single underscores between them, from `at`: the end (`at` where there are none).
  std::size_t DigitRun(std::size_t at, unsigned base = 10) const {
    const auto is_digit = [&](std::size_t i) {
      if (i >= text_.size()) return false;
      const char c = static_cast<char>(text_[i] | 0x20);
      if (base == 16 && c >= 'a' && c <= 'f') return true;
      return IsDigitChar(text_[i]) && static_cast<unsigned>(text_[i] - '0') < base;
    };
    while (is_digit(at) || (at < text_.size() && text_[at] == '_' && is_digit(at + 1))) ++at;
    return at;
  }

  Status Number() {
    const std::size_t whole = IsDigitChar(text_[at_]) ? DigitRun(at_) : at_;
    std::size_t end = whole;
    if (StartsWith(end, ".") && DigitRun(end + 1) > end + 1 && text_[end + 1] != '_') {
      end = DigitRun(end + 1);
    }
    if (end < text_.size() && (text_[end] | 0x20) == 'e') {
      std::size_t exponent = end + 1;
      if (SignAt(exponent) != '\0') ++exponent;
      if (exponent < text_.size() && IsDigitChar(text_[exponent])) end = DigitRun(exponent);
    }
    const bool after_dot = at_ > 0 && text_[at_ - 1] == '.';
    return end > whole && !after_dot ? Float(end) : Integer(whole);
  }

  static std::string WithoutUnderscores(std::string_view digits) {
    std::string out(digits);
    std::erase(out, '_');
    return out;
  }

  Status Float(std::size_t end) {
    const std::string digits = WithoutUnderscores(text_.substr(at_, end - at_));
    double value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (read.ec == std::errc::result_out_of_range) {
      return Fail(ErrorCode::kUnsupported, "not supported: the number " + digits.substr(0, 40),
                  LinePlace(line_));
    }
    Add(Token::Kind::kFloat, digits);
    tokens_.back().real = value;
    MoveTo(end);
    return {};
  }

  Status Integer(std::size_t decimal_end) {
    int base = 10;
    std::size_t begin = at_;
    std::size_t end = decimal_end;
    if (text_[at_] == '0') {
      const char mark = at_ + 1 < text_.size() ? static_cast<char>(text_[at_ + 1] | 0x20) : '\0';
      const int marked = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
      if (marked != 0 && DigitRun(at_ + 2, static_cast<unsigned>(marked)) > at_ + 2) {
        base = marked;
        begin = at_ + 2;
        end = DigitRun(begin, static_cast<unsigned>(marked));
      } else {  // only zeros: 012 is 0 followed by 12
        end = DigitRun(at_, 1);
      }
    }
    const std::string digits = WithoutUnderscores(text_.substr(begin, end - begin));
    std::int64_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (read.ec != std::errc()) {
      return Fail(ErrorCode::kUnsupported,
                  "not supported: an integer that does not fit in 64 bits: " + digits.substr(0, 40),
                  LinePlace(line_));
    }
    Add(Token::Kind::kInteger, digits);
    tokens_.back().integer = value;
    MoveTo(end);
    return {};
  }

  Status OperatorToken(std::string& open) {
    static constexpr std::string_view kOperators[] = {
        "**", "//", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
        "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    for (const std::string_view op : kOperators) {
      if (!StartsWith(at_, op)) continue;
      if (op == "(") open.push_back(')');
      if (op == "[") open.push_back(']');
      if (op == "{") open.push_back('}');
      if (op == ")" || op == "]" || op == "}") {
        if (open.empty()) return Bad("unexpected '" + std::string(op) + "'");
        const char expected = open.back();
        open.pop_back();
        if (op[0] != expected) {
          return Bad("unexpected '" + std::string(op) + "', expected '" + expected + "'");
        }
      }
      Add(Token::Kind::kOperator, std::string(op));
      MoveTo(at_ + op.size());
      return {};
    }
    return Bad("unexpected char " + QuotedRepr(text_.substr(at_, DecodeAt(text_, at_).bytes)) +
               " at " + std::to_string(CountCodePoints(text_.substr(0, at_))));
  }

  std::string source_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::vector<Token> tokens_;
};

// "\x41" and its kin: appends the character; false where too few digits follow.
bool AppendCoded(std::string_view digits, std::size_t wanted, std::int32_t& value) {
  if (digits.size() < wanted) return false;
  const auto read = std::from_chars(digits.data(), digits.data() + wanted, value, 16);
  return read.ec == std::errc() && read.ptr == digits.data() + wanted;
}

tl::unexpected<Error> BadEscape(const std::string& what) {
  return Fail(ErrorCode::kMalformed, "TemplateSyntaxError: " + what);
}

// One escape at text[at] == '\\'; moves past it.
Status AppendEscape(std::string_view text, std::size_t& at, std::string& out) {
  static constexpr std::pair<char, std::string_view> kSimple[] = {
      {'\n', ""},  {'\\', "\\"}, {'\'', "'"}, {'"', "\""}, {'a', "\a"}, {'b', "\b"},
      {'f', "\f"}, {'n', "\n"},  {'r', "\r"}, {'t', "\t"}, {'v', "\v"}};
  const char c = text[at + 1];
  for (const auto& [key, value] : kSimple) {
    if (key != c) continue;
    out += value;
    at += 2;
    return {};
  }
  std::int32_t value = 0;
  if (c == 'x' || c == 'u' || c == 'U') {
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
    if (!AppendCoded(text.substr(at + 2), digits, value)) {
      return BadEscape(std::string("truncated \\") + c + " escape");
    }
    if (value < 0 || value > 0x10FFFF) return BadEscape("illegal Unicode character");
    if (value >= 0xD800 && value < 0xE000) return Refuse("a lone surrogate in a string");
    AppendUtf8(out, value);
    at += 2 + digits;
  } else if (c >= '0' && c <= '7') {
    std::size_t end = at + 1;
    for (; end < text.size() && end < at + 4 && text[end] >= '0' && text[end] <= '7'; ++end) {
      value = value * 8 + (text[end] - '0');
    }
    AppendUtf8(out, value);
    at = end;
  } else if (c == 'N') {
    return Refuse("\\N{...} in a string");
  } else {
    out += '\\';
    ++at;
    if (static_cast<unsigned char>(c) < 0x80) return {};
    // Jinja decodes "\é" in two steps, so that its code comes out instead.
    const CodePoint point = DecodeAt(text, at);
    static constexpr char kHex[] = "0123456789abcdef";
    const int digits = point.value < 0x100 ? 2 : point.value < 0x10000 ? 4 : 8;
    out += digits == 2 ? 'x' : digits == 4 ? 'u' : 'U';
    for (int i = digits - 1; i >= 0; --i) out += kHex[(point.value >> (4 * i)) & 15];
    at += point.bytes;
  }
  return {};
}

}  // namespace

std::string LinePlace(int line) { return "line " + std::to_string(line); }

Result<std::string> UnescapeString(std::string_view inside) {
  std::string out;
  out.reserve(inside.size());
  for (std::size_t i = 0; i < inside.size();) {
    if (inside[i] != '\\' || i + 1 == inside.size()) {
      out.push_back(inside[i++]);
    } else {
      ADJUDGE_RETURN_IF_ERROR(AppendEscape(inside, i, out));
    }
  }
  return out;
}

Result<std::vector<Token>> Tokenize(std::string_view source) {
  return Lexer(NormalizeNewlines(source, true)).Run();
}

}  // namespace adjudge::jinja
