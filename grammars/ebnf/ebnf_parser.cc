// The grammar of grammars, in Boost.Spirit X3. The only file that includes it.
#include <boost/spirit/home/x3.hpp>
#include <exception>
#include <string>

#include "engine/base/utf8.h"
#include "grammars/ebnf.h"
#include "grammars/ebnf/ebnf_actions.h"

namespace adjudge {
namespace {

namespace x3 = boost::spirit::x3;
using Iterator = const char*;

struct ActionsTag {};

EbnfActions& Actions(const auto& context) { return x3::get<ActionsTag>(context).get(); }

std::string_view Piece(const auto& context) {
  const auto& range = x3::_attr(context);
  return {range.begin(), static_cast<std::size_t>(range.end() - range.begin())};
}

// Actions as parsers: Do(f) calls f(actions) and reads nothing; On(f) gives it the piece.
template <typename F>
auto Do(F f) {
  return x3::eps[([f](auto& context) { f(Actions(context)); })];
}
template <typename Parser, typename F>
auto On(Parser parser, F f) {
  return x3::raw[parser][(
      [f](auto& context) { x3::_pass(context) = f(Actions(context), Piece(context)); })];
}

// Spirit's own classes may not be asked of bytes beyond ASCII.
const auto kAlpha = x3::char_("a-zA-Z");
const auto kAlnum = x3::char_("a-zA-Z0-9");
const auto kDigit = x3::char_("0-9");
const auto kHexDigit = x3::char_("0-9a-fA-F");

const auto hex_char = x3::lexeme[x3::lit("#x") >> +kHexDigit >> !(kAlnum | '_')];
const auto comment = ('#' >> *(x3::char_ - x3::eol)) - hex_char;
const auto skipper = x3::ascii::space | comment | ("/*" >> *(x3::char_ - "*/") >> "*/") |
                     ("(*" >> *(x3::char_ - "*)") >> "*)");

const auto name = x3::lexeme[(kAlpha | x3::char_('_')) >> *(kAlnum | x3::char_("_-"))];
const auto definer = x3::lit("::=") | ":=" | '=';
const auto quoted = x3::lexeme['"' >> *(('\\' >> (x3::char_ - x3::eol)) |
                                        (x3::char_ - x3::char_("\"\\\n"))) > '"'] |
                    x3::lexeme['\'' >> *(('\\' >> (x3::char_ - x3::eol)) |
                                         (x3::char_ - x3::char_("'\\\n"))) > '\''];
const auto bracketed =
    x3::lexeme['[' >> *(('\\' >> (x3::char_ - x3::eol)) | (x3::char_ - x3::char_("]\\\n"))) > ']'];
const auto token = x3::lexeme[-x3::lit('!') >> '<' >>
                              (('[' > +kDigit > ']') | +(x3::char_ - x3::char_(">\n"))) > '>'];
const auto number = x3::lexeme[+kDigit];
const auto braces = '{' >> ((number >> -(',' >> -number)) | (',' >> number)) > '}';

const x3::rule<class Choice> choice = "an element, \"|\" or the end of the rule";

const auto primary =
    On(quoted, [](EbnfActions& a, std::string_view p) { return a.Literal(p); }) |
    On(bracketed, [](EbnfActions& a, std::string_view p) { return a.Class(p); }) |
    On(hex_char, [](EbnfActions& a, std::string_view p) { return a.HexChar(p); }) |
    On(token, [](EbnfActions& a, std::string_view p) { return a.Token(p); }) |
    On(name >> !definer,
       [](EbnfActions& a, std::string_view p) {
         // The piece reaches to the definer that is not there; names hold no
         // spaces.
         a.Reference(p.substr(0, p.find_first_of(" \t\r\n#/(")));
         return true;
       }) |
    (x3::lit('.') >> Do([](EbnfActions& a) { a.AnyChar(); })) | ('(' > choice > ')') |
    (('{' >> !(kDigit | ',')) > choice > '}' > Do([](EbnfActions& a) { a.Repeat(0, kUnbounded); }));

const auto suffix = ('*' >> Do([](EbnfActions& a) { a.Repeat(0, kUnbounded); })) |
                    ('+' >> Do([](EbnfActions& a) { a.Repeat(1, kUnbounded); })) |
                    ('?' >> Do([](EbnfActions& a) { a.Repeat(0, 1); })) |
                    On(&(x3::lit('{') >> (kDigit | ',')) >> braces,
                       [](EbnfActions& a, std::string_view p) { return a.Braces(p); });

const auto sequence = Do([](EbnfActions& a) { a.BeginSequence(); }) >>
                      *(primary >> *suffix >> -x3::lit(',')) >>
                      Do([](EbnfActions& a) { a.EndSequence(); });

const auto choice_def = Do([](EbnfActions& a) { a.BeginChoice(); }) >> (sequence % '|') >>
                        Do([](EbnfActions& a) { a.EndChoice(); });

BOOST_SPIRIT_DEFINE(choice)

const x3::rule<class Definition> defined_by = "\"::=\"";
const auto defined_by_def = definer;
BOOST_SPIRIT_DEFINE(defined_by)

const auto rule = On(name, [](EbnfActions& a, std::string_view p) { return a.BeginRule(p); }) >
                  defined_by > choice > -x3::lit(';') > Do([](EbnfActions& a) { a.EndRule(); });

const x3::rule<class End> end_of_text = "an element, a rule \"name ::= ...\" or the end";
const auto end_of_text_def = x3::eoi;
BOOST_SPIRIT_DEFINE(end_of_text)

// Depth of groups, before the parser recurses; what stands in quotes, classes and comments counts
// not. The place where it is too deep, or null.
const char* TooDeep(std::string_view text, int max_depth) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto pass = [&](char close) {
      for (++i; i < text.size() && text[i] != close && text[i] != '\n'; ++i) {
        if (text[i] == '\\') ++i;
      }
    };
    if (c == '"' || c == '\'') pass(c);
    if (c == '[') pass(']');
    if (c == '#') i = std::min(text.find('\n', i), text.size());
    if (c == '/' && text.substr(i).starts_with("/*"))
      i = std::min(text.find("*/", i + 2), text.size());
    if (c == '(' && text.substr(i).starts_with("(*")) {
      i = std::min(text.find("*)", i + 2), text.size());
      continue;
    }
    if (c == '(' || c == '{') {
      if (++depth > max_depth) return text.data() + i;
    }
    if ((c == ')' || c == '}') && depth > 0) --depth;
  }
  return nullptr;
}

std::string Found(std::string_view rest) {
  if (rest.empty()) return "the end";
  std::string piece(rest.substr(0, std::min<std::size_t>(rest.find_first_of("\r\n"), 24)));
  if (piece.empty()) return "the end of the line";
  while (FirstInvalidUtf8(piece)) piece.pop_back();
  return "\"" + piece + "\"";
}

}  // namespace

Result<Grammar> ParseGrammar(std::string_view text, const GrammarLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Fail(ErrorCode::kLimit, "grammar: " + std::to_string(text.size()) +
                                       " bytes, but max_bytes is " +
                                       std::to_string(limits.max_bytes));
  }
  EbnfActions actions(text, limits);
  if (const auto bad = FirstInvalidUtf8(text)) {
    return Fail(ErrorCode::kMalformed, "grammar: not UTF-8", actions.PlaceOf(text.data() + *bad));
  }
  if (const char* at = TooDeep(text, limits.max_depth)) {
    return Fail(ErrorCode::kLimit,
                "grammar: groups nest deeper than max_depth, " + std::to_string(limits.max_depth),
                actions.PlaceOf(at));
  }
  Iterator at = text.data();
  const Iterator end = text.data() + text.size();
  try {
    const auto start = x3::with<ActionsTag>(std::ref(actions))[*rule > end_of_text];
    const bool parsed = x3::phrase_parse(at, end, start, skipper);
    if (actions.error()) return tl::unexpected<Error>(*actions.error());
    if (!parsed || at != end) {
      return Fail(ErrorCode::kMalformed, "grammar: expected a rule, found " + Found({at, end}),
                  actions.PlaceOf(at));
    }
  } catch (const x3::expectation_failure<Iterator>& failure) {
    if (actions.error()) return tl::unexpected<Error>(*actions.error());
    Iterator where = failure.where();
    while (where != end && (*where == ' ' || *where == '\n' || *where == '\r' || *where == '\t')) {
      ++where;
    }
    return Fail(ErrorCode::kMalformed,
                "grammar: expected " + failure.which() + ", found " +
                    Found({where, static_cast<std::size_t>(end - where)}),
                actions.PlaceOf(where));
  }
  return actions.Finish();
}

}  // namespace adjudge
