#include "engine/template/parser.h"

#include <algorithm>
#include <initializer_list>

#include "engine/template/expression_parser.h"
#include "engine/template/lexer.h"
#include "engine/template/token_stream.h"

namespace adjudge::jinja {
namespace {

using StatementPtr = std::unique_ptr<Statement>;

class Parser {
 public:
  Parser(std::vector<Token> tokens, int max_depth)
      : tokens_(std::move(tokens)), expressions_(tokens_, max_depth) {}

  Result<Template> Run() {
    Template out;
    ADJUDGE_ASSIGN_OR_RETURN(out.body, ParseBody({}));
    out.names = expressions_.TakeNames();
    return out;
  }

 private:
  // Text and tags up to a tag that begins with one of `ends` (which stays current), or to the end
  // of the template where there are none.
  Result<Body> ParseBody(std::initializer_list<std::string_view> ends) {
    Body body;
    while (!tokens_.Is(Token::Kind::kEnd)) {
      const int line = tokens_.line();
      if (tokens_.Is(Token::Kind::kData)) {
        StatementPtr data = Make(Statement::Kind::kData, line);
        data->data = MakeText(tokens_.Next().text, true);
        body.push_back(std::move(data));
      } else if (tokens_.Is(Token::Kind::kVariableBegin)) {
        tokens_.Next();
        StatementPtr output = Make(Statement::Kind::kOutput, line);
        ADJUDGE_ASSIGN_OR_RETURN(output->expr, expressions_.ParseTuple());
        ADJUDGE_RETURN_IF_ERROR(
            tokens_.Expect(Token::Kind::kVariableEnd, "end of print statement"));
        body.push_back(std::move(output));
      } else {
        tokens_.Next();
        for (const std::string_view end : ends) {
          if (tokens_.IsName(end)) return body;
        }
        ADJUDGE_ASSIGN_OR_RETURN(StatementPtr statement, ParseStatement(ends));
        if (statement) body.push_back(std::move(statement));
        ADJUDGE_RETURN_IF_ERROR(tokens_.Expect(Token::Kind::kBlockEnd, "end of statement block"));
      }
    }
    if (ends.size() == 0) return body;
    return tokens_.Bad("Unexpected end of template. Jinja was looking for the following tags: " +
                       Join(ends) + ".");
  }

  // The rest of an opening tag, and its body up to one of `ends`, which stays current.
  Result<Body> ParseBlock(std::initializer_list<std::string_view> ends) {
    tokens_.SkipOperator(":");
    ADJUDGE_RETURN_IF_ERROR(tokens_.Expect(Token::Kind::kBlockEnd, "end of statement block"));
    ADJUDGE_RETURN_IF_ERROR(expressions_.Enter());
    Result<Body> body = ParseBody(ends);
    expressions_.Leave();
    return body;
  }

  // ... with only one end, which is taken.
  Result<Body> ParseWholeBlock(std::string_view end) {
    ADJUDGE_ASSIGN_OR_RETURN(Body body, ParseBlock({end}));
    tokens_.Next();
    return body;
  }

  // ... in which a loop outside cannot be left.
  Result<Body> ParseFunctionBlock(std::string_view end) {
    const int loops = std::exchange(open_loops_, 0);
    Result<Body> body = ParseWholeBlock(end);
    open_loops_ = loops;
    return body;
  }

  static std::string Join(std::initializer_list<std::string_view> names) {
    std::string out;
    for (const std::string_view name : names) {
      out += (out.empty() ? "'" : " or '") + std::string(name) + "'";
    }
    return out;
  }

  static StatementPtr Make(Statement::Kind kind, int line) {
    auto statement = std::make_unique<Statement>();
    statement->kind = kind;
    statement->line = line;
    return statement;
  }

  Result<StatementPtr> ParseStatement(std::initializer_list<std::string_view> ends) {
    if (!tokens_.Is(Token::Kind::kName)) return tokens_.Bad("tag name expected");
    const Token tag = tokens_.current();
    using Parse = Result<StatementPtr> (Parser::*)();
    static constexpr std::pair<std::string_view, Parse> kTags[] = {
        {"for", &Parser::ParseFor},           {"if", &Parser::ParseIf},
        {"set", &Parser::ParseSet},           {"macro", &Parser::ParseMacro},
        {"call", &Parser::ParseCallBlock},    {"filter", &Parser::ParseFilterBlock},
        {"with", &Parser::ParseWith},         {"generation", &Parser::ParseGeneration},
        {"break", &Parser::ParseLoopControl}, {"continue", &Parser::ParseLoopControl},
        {"print", &Parser::ParsePrint},
    };
    for (const auto& [name, parse] : kTags) {
      if (tag.text == name) return (this->*parse)();
    }
    for (const std::string_view name :
         {"include", "import", "from", "extends", "block", "autoescape"}) {
      if (tag.text == name) {
        return Fail(ErrorCode::kUnsupported, "not supported: the tag '" + tag.text + "'",
                    LinePlace(tag.line));
      }
    }
    std::string message = "Encountered unknown tag '" + tag.text + "'.";
    if (ends.size() > 0) {
      message += " Jinja was looking for the following tags: " + Join(ends) + ".";
    }
    return tokens_.Bad(std::move(message));
  }

  Result<StatementPtr> ParseFor() {
    StatementPtr loop = Make(Statement::Kind::kFor, tokens_.Next().line);
    ADJUDGE_ASSIGN_OR_RETURN(loop->target, ParseTarget(false, "in"));
    if (HasName(loop->target, expressions_.Intern("loop"))) {
      return tokens_.Bad("Can't assign to special loop variable in for-loop target");
    }
    ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectKeyword("in"));
    ExpressionParser::TupleOptions options;
    options.conditional = false;
    options.end_keyword = "recursive";
    ADJUDGE_ASSIGN_OR_RETURN(loop->expr, expressions_.ParseTuple(options));
    if (tokens_.SkipName("if")) {
      ADJUDGE_ASSIGN_OR_RETURN(loop->filter, expressions_.ParseExpression());
    }
    if (tokens_.IsName("recursive")) {
      return Fail(ErrorCode::kUnsupported, "not supported: a recursive for loop",
                  LinePlace(loop->line));
    }
    ++open_loops_;
    Result<Body> body = ParseBlock({"endfor", "else"});
    --open_loops_;
    if (!body) return tl::unexpected<Error>(std::move(body).error());
    loop->body = *std::move(body);
    if (tokens_.Next().text == "else") {
      ADJUDGE_ASSIGN_OR_RETURN(loop->otherwise, ParseWholeBlock("endfor"));
    }
    return loop;
  }

  Result<StatementPtr> ParseIf() {
    StatementPtr out = Make(Statement::Kind::kIf, tokens_.line());
    std::string tag = tokens_.Next().text;
    while (tag == "if" || tag == "elif") {
      ExpressionParser::TupleOptions options;
      options.conditional = false;
      Branch branch;
      ADJUDGE_ASSIGN_OR_RETURN(branch.test, expressions_.ParseTuple(options));
      ADJUDGE_ASSIGN_OR_RETURN(branch.body, ParseBlock({"elif", "else", "endif"}));
      out->branches.push_back(std::move(branch));
      tag = tokens_.Next().text;
    }
    if (tag == "else") {
      Branch branch;
      ADJUDGE_ASSIGN_OR_RETURN(branch.body, ParseWholeBlock("endif"));
      out->branches.push_back(std::move(branch));
    }
    return out;
  }

  Result<StatementPtr> ParseSet() {
    StatementPtr set = Make(Statement::Kind::kSet, tokens_.Next().line);
    ADJUDGE_ASSIGN_OR_RETURN(set->target, ParseTarget(true, ""));
    if (tokens_.SkipOperator("=")) {
      ADJUDGE_ASSIGN_OR_RETURN(set->expr, expressions_.ParseTuple());
      return set;
    }
    set->kind = Statement::Kind::kSetBlock;
    ADJUDGE_ASSIGN_OR_RETURN(set->filters, expressions_.ParseFilters(false));
    ADJUDGE_ASSIGN_OR_RETURN(set->body, ParseWholeBlock("endset"));
    return set;
  }

  Result<StatementPtr> ParseWith() {
    StatementPtr with = Make(Statement::Kind::kWith, tokens_.Next().line);
    while (!tokens_.Is(Token::Kind::kBlockEnd)) {
      if (!with->assignments.empty()) ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator(","));
      ADJUDGE_ASSIGN_OR_RETURN(Target target, ParseTarget(false, ""));
      ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator("="));
      ADJUDGE_ASSIGN_OR_RETURN(ExprPtr value, expressions_.ParseExpression());
      with->assignments.emplace_back(std::move(target), std::move(value));
    }
    ADJUDGE_ASSIGN_OR_RETURN(with->body, ParseWholeBlock("endwith"));
    return with;
  }

  Result<StatementPtr> ParseMacro() {
    StatementPtr macro = Make(Statement::Kind::kMacro, tokens_.Next().line);
    ADJUDGE_ASSIGN_OR_RETURN(const Token name, tokens_.ExpectName());
    macro->signature.name = name.text;
    macro->name = expressions_.Intern(name.text);
    ADJUDGE_RETURN_IF_ERROR(ParseSignature(macro->signature));
    ADJUDGE_RETURN_IF_ERROR(ParseMacroBody(*macro, "endmacro"));
    return macro;
  }

  Result<StatementPtr> ParseCallBlock() {
    StatementPtr call = Make(Statement::Kind::kCallBlock, tokens_.Next().line);
    call->signature.name = "caller";
    if (tokens_.IsOperator("(")) ADJUDGE_RETURN_IF_ERROR(ParseSignature(call->signature));
    ADJUDGE_ASSIGN_OR_RETURN(call->expr, expressions_.ParseExpression());
    if (call->expr->kind != Expr::Kind::kPostfix ||
        call->expr->postfixes.back().kind != Postfix::Kind::kCall) {
      return tokens_.Bad("expected call", call->line);
    }
    ADJUDGE_RETURN_IF_ERROR(ParseMacroBody(*call, "endcall"));
    return call;
  }

  Status ParseMacroBody(Statement& macro, std::string_view end) {
    expressions_.open_macros().emplace_back();
    Result<Body> body = ParseFunctionBlock(end);
    const ExpressionParser::SpecialNames special = expressions_.open_macros().back();
    expressions_.open_macros().pop_back();
    if (!body) return tl::unexpected<Error>(std::move(body).error());
    macro.body = *std::move(body);
    Signature& signature = macro.signature;
    signature.uses_caller = special.caller;
    signature.uses_varargs = special.varargs;
    signature.uses_kwargs = special.kwargs;
    for (const Parameter& parameter : signature.parameters) {
      if (parameter.spelling == "varargs") signature.uses_varargs = false;
      if (parameter.spelling == "kwargs") signature.uses_kwargs = false;
    }
    return {};
  }

  Status ParseSignature(Signature& signature) {
    ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator("("));
    while (!tokens_.IsOperator(")")) {
      if (!signature.parameters.empty()) ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator(","));
      ADJUDGE_ASSIGN_OR_RETURN(const Token name, tokens_.ExpectName());
      Parameter parameter;
      parameter.spelling = name.text;
      ADJUDGE_RETURN_IF_ERROR(CheckAssignable(name));
      parameter.name = expressions_.Intern(name.text);
      for (const Parameter& other : signature.parameters) {
        if (other.name == parameter.name) return tokens_.Bad("duplicate argument " + name.text);
      }
      if (tokens_.SkipOperator("=")) {
        ADJUDGE_ASSIGN_OR_RETURN(parameter.otherwise, expressions_.ParseExpression());
      } else if (!signature.parameters.empty() && signature.parameters.back().otherwise) {
        return tokens_.Bad("non-default argument follows default argument");
      }
      if (name.text == "caller") {
        return Fail(ErrorCode::kUnsupported, "not supported: a macro parameter named caller",
                    LinePlace(name.line));
      }
      signature.parameters.push_back(std::move(parameter));
    }
    tokens_.Next();
    return {};
  }

  Result<StatementPtr> ParseFilterBlock() {
    StatementPtr block = Make(Statement::Kind::kFilterBlock, tokens_.Next().line);
    ADJUDGE_ASSIGN_OR_RETURN(block->filters, expressions_.ParseFilters(true));
    ADJUDGE_ASSIGN_OR_RETURN(block->body, ParseWholeBlock("endfilter"));
    return block;
  }

  Result<StatementPtr> ParseGeneration() {
    StatementPtr block = Make(Statement::Kind::kScope, tokens_.Next().line);
    ADJUDGE_ASSIGN_OR_RETURN(block->body, ParseFunctionBlock("endgeneration"));
    return block;
  }

  Result<StatementPtr> ParseLoopControl() {
    const Token tag = tokens_.Next();
    if (open_loops_ == 0) return tokens_.Bad(Quoted(tag.text) + " outside of a loop", tag.line);
    return Make(tag.text == "break" ? Statement::Kind::kBreak : Statement::Kind::kContinue,
                tag.line);
  }

  // {% print a, b %}
  Result<StatementPtr> ParsePrint() {
    StatementPtr block = Make(Statement::Kind::kIf, tokens_.Next().line);
    Branch always;
    while (!tokens_.Is(Token::Kind::kBlockEnd)) {
      if (!always.body.empty()) ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator(","));
      StatementPtr output = Make(Statement::Kind::kOutput, tokens_.line());
      ADJUDGE_ASSIGN_OR_RETURN(output->expr, expressions_.ParseExpression());
      always.body.push_back(std::move(output));
    }
    block->branches.push_back(std::move(always));
    return block;
  }

  Status CheckAssignable(const Token& name) const {
    for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
      if (name.text == constant) return tokens_.Bad("can't assign to '" + name.text + "'");
    }
    return {};
  }

  // a | a.b | (a, b)
  Result<Target> ParseTargetPart(bool attributes) {
    Target target;
    if (tokens_.SkipOperator("(")) {
      ADJUDGE_RETURN_IF_ERROR(expressions_.Enter());
      Result<Target> inside = ParseTarget(attributes, "", true);
      expressions_.Leave();
      if (!inside) return inside;
      ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator(")"));
      return inside;
    }
    ADJUDGE_ASSIGN_OR_RETURN(const Token name, tokens_.ExpectName());
    ADJUDGE_RETURN_IF_ERROR(CheckAssignable(name));
    target.name = expressions_.Intern(name.text);
    if (attributes && tokens_.SkipOperator(".")) {
      target.kind = Target::Kind::kAttribute;
      ADJUDGE_ASSIGN_OR_RETURN(const Token attribute, tokens_.ExpectName());
      target.attribute = attribute.text;
    }
    return target;
  }

  // One target, or several joined by commas.
  Result<Target> ParseTarget(bool attributes, std::string_view end, bool parenthesized = false) {
    Target tuple;
    tuple.kind = Target::Kind::kTuple;
    bool is_tuple = false;
    while (true) {
      if (!tuple.parts.empty()) ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator(","));
      if (tokens_.Is(Token::Kind::kBlockEnd) || tokens_.IsOperator(")") ||
          (!end.empty() && tokens_.IsName(end))) {
        break;
      }
      ADJUDGE_ASSIGN_OR_RETURN(Target part, ParseTargetPart(attributes));
      tuple.parts.push_back(std::move(part));
      if (!tokens_.IsOperator(",")) break;
      is_tuple = true;
    }
    if (is_tuple || (tuple.parts.empty() && parenthesized)) return tuple;
    if (tuple.parts.empty()) return tokens_.Unexpected("a name to assign to");
    return std::move(tuple.parts[0]);
  }

  static bool HasName(const Target& target, NameId name) {
    return target.name == name || std::any_of(target.parts.begin(), target.parts.end(),
                                              [&](const Target& t) { return HasName(t, name); });
  }

  TokenStream tokens_;
  ExpressionParser expressions_;
  int open_loops_ = 0;
};

}  // namespace

Result<Template> ParseTemplate(std::string_view source, const ChatLimits& limits) {
  ADJUDGE_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(source));
  return Parser(std::move(tokens), std::min(limits.max_depth, Budget::kMaxDepth)).Run();
}

}  // namespace adjudge::jinja
