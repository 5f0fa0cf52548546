#include "engine/template/expression_parser.h"

#include <optional>

#include "engine/template/filters.h"
#include "engine/template/tests.h"

namespace adjudge::jinja {
namespace {

// Calls Leave() at the end of the scope.
class Level {
 public:
  explicit Level(ExpressionParser& parser) : parser_(parser) {}
  ~Level() { parser_.Leave(); }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  ExpressionParser& parser_;
};

ExprPtr Constant(Value value, int line) {
  ExprPtr expr = MakeExpr(Expr::Kind::kConst, line);
  expr->constant = std::move(value);
  return expr;
}

// `expr` as a node that postfixes can be added to.
void MakePostfixed(ExprPtr& expr) {
  if (expr->kind == Expr::Kind::kPostfix) return;
  ExprPtr outer = MakeExpr(Expr::Kind::kPostfix, expr->line);
  outer->operands.push_back(std::move(expr));
  expr = std::move(outer);
}

}  // namespace

ExprPtr MakeExpr(Expr::Kind kind, int line) {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->line = line;
  return expr;
}

Status ExpressionParser::Enter() {
  if (depth_ == max_depth_) return TooDeeplyNested();
  ++depth_;
  return {};
}

tl::unexpected<Error> ExpressionParser::TooDeeplyNested() const {
  return Fail(ErrorCode::kLimit,
              "blocks and expressions nested deeper than max_depth = " + std::to_string(max_depth_),
              LinePlace(tokens_.line()));
}

NameId ExpressionParser::Intern(const std::string& name) {
  const auto [found, fresh] = ids_.try_emplace(name, static_cast<NameId>(names_.size()));
  if (fresh) names_.push_back(name);
  return found->second;
}

Result<ExprPtr> ExpressionParser::ParseTuple(const TupleOptions& options) {
  ExprPtr tuple = MakeExpr(Expr::Kind::kTuple, tokens_.line());
  bool is_tuple = false;
  while (true) {
    if (!tuple->operands.empty()) ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator(","));
    if (tokens_.Is(Token::Kind::kVariableEnd) || tokens_.Is(Token::Kind::kBlockEnd) ||
        tokens_.IsOperator(")") ||
        (!options.end_keyword.empty() && tokens_.IsName(options.end_keyword))) {
      break;
    }
    ADJUDGE_ASSIGN_OR_RETURN(ExprPtr item, ParseExpression(options.conditional));
    tuple->operands.push_back(std::move(item));
    if (!tokens_.IsOperator(",")) break;
    is_tuple = true;
  }
  if (is_tuple) return tuple;
  if (!tuple->operands.empty()) return std::move(tuple->operands[0]);
  if (!options.parenthesized) return tokens_.Unexpected("an expression");
  return tuple;
}

Result<ExprPtr> ExpressionParser::ParseExpression(bool conditional) {
  return conditional ? ParseConditional() : ParseOr();
}

Result<ExprPtr> ExpressionParser::ParseConditional() {
  int line = tokens_.line();
  ADJUDGE_ASSIGN_OR_RETURN(ExprPtr expr, ParseOr());
  // "a if b if c" nests to the left.
  int nested = depth_;
  while (tokens_.SkipName("if")) {
    if (++nested > max_depth_) return TooDeeplyNested();
    ExprPtr outer = MakeExpr(Expr::Kind::kConditional, line);
    ADJUDGE_ASSIGN_OR_RETURN(ExprPtr test, ParseOr());
    outer->operands.push_back(std::move(test));
    outer->operands.push_back(std::move(expr));
    if (tokens_.SkipName("else")) {
      ADJUDGE_RETURN_IF_ERROR(Enter());
      const Level level(*this);
      ADJUDGE_ASSIGN_OR_RETURN(ExprPtr otherwise, ParseConditional());
      outer->operands.push_back(std::move(otherwise));
    }
    expr = std::move(outer);
    line = tokens_.line();
  }
  return expr;
}

Result<ExprPtr> ExpressionParser::ParseWordChain(
    std::string_view word, Expr::Kind kind, Result<ExprPtr> (ExpressionParser::*parse_operand)()) {
  ADJUDGE_ASSIGN_OR_RETURN(ExprPtr expr, (this->*parse_operand)());
  if (!tokens_.IsName(word)) return expr;
  ExprPtr chain = MakeExpr(kind, tokens_.line());
  chain->operands.push_back(std::move(expr));
  while (tokens_.SkipName(word)) {
    ADJUDGE_ASSIGN_OR_RETURN(ExprPtr operand, (this->*parse_operand)());
    chain->operands.push_back(std::move(operand));
  }
  return chain;
}

Result<ExprPtr> ExpressionParser::ParseOr() {
  return ParseWordChain("or", Expr::Kind::kOr, &ExpressionParser::ParseAnd);
}

Result<ExprPtr> ExpressionParser::ParseAnd() {
  return ParseWordChain("and", Expr::Kind::kAnd, &ExpressionParser::ParseNot);
}

Result<ExprPtr> ExpressionParser::ParseNot() {
  if (!tokens_.IsName("not")) return ParseCompare();
  ADJUDGE_RETURN_IF_ERROR(Enter());
  const Level level(*this);
  ExprPtr expr = MakeExpr(Expr::Kind::kNot, tokens_.Next().line);
  ADJUDGE_ASSIGN_OR_RETURN(ExprPtr operand, ParseNot());
  expr->operands.push_back(std::move(operand));
  return expr;
}

namespace {

std::optional<Operator> FindOperator(const TokenStream& tokens,
                                     std::initializer_list<Operator> ops) {
  if (!tokens.Is(Token::Kind::kOperator)) return std::nullopt;
  for (const Operator op : ops) {
    if (Spelling(op) == tokens.current().text) return op;
  }
  return std::nullopt;
}

std::optional<Operator> TakeComparison(TokenStream& tokens) {
  std::optional<Operator> op =
      FindOperator(tokens, {Operator::kEqual, Operator::kNotEqual, Operator::kLess,
                            Operator::kLessEqual, Operator::kGreater, Operator::kGreaterEqual});
  if (!op && tokens.IsName("in")) op = Operator::kIn;
  if (!op && tokens.IsName("not") && tokens.ahead().kind == Token::Kind::kName &&
      tokens.ahead().text == "in") {
    tokens.Next();
    op = Operator::kNotIn;
  }
  if (op) tokens.Next();
  return op;
}

}  // namespace

Result<ExprPtr> ExpressionParser::ParseCompare() {
  const int line = tokens_.line();
  ADJUDGE_ASSIGN_OR_RETURN(ExprPtr expr, ParseSum());
  ExprPtr chain;
  while (const std::optional<Operator> op = TakeComparison(tokens_)) {
    if (!chain) {
      chain = MakeExpr(Expr::Kind::kCompare, line);
      chain->operands.push_back(std::move(expr));
    }
    chain->operators.push_back(*op);
    ADJUDGE_ASSIGN_OR_RETURN(ExprPtr operand, ParseSum());
    chain->operands.push_back(std::move(operand));
  }
  return chain ? std::move(chain) : std::move(expr);
}

namespace {

// operand (op operand)*, from the left.
template <typename ParseOperand>
Result<ExprPtr> ParseChain(TokenStream& tokens, std::initializer_list<Operator> ops,
                           ParseOperand parse_operand) {
  const int line = tokens.line();
  ADJUDGE_ASSIGN_OR_RETURN(ExprPtr expr, parse_operand());
  ExprPtr chain;
  while (const std::optional<Operator> op = FindOperator(tokens, ops)) {
    tokens.Next();
    if (!chain) {
      chain = MakeExpr(Expr::Kind::kArithmetic, line);
      chain->operands.push_back(std::move(expr));
    }
    chain->operators.push_back(*op);
    ADJUDGE_ASSIGN_OR_RETURN(ExprPtr operand, parse_operand());
    chain->operands.push_back(std::move(operand));
  }
  return chain ? std::move(chain) : std::move(expr);
}

}  // namespace

Result<ExprPtr> ExpressionParser::ParseSum() {
  return ParseChain(tokens_, {Operator::kAdd, Operator::kSubtract}, [&] { return ParseConcat(); });
}

Result<ExprPtr> ExpressionParser::ParseConcat() {
  ADJUDGE_ASSIGN_OR_RETURN(ExprPtr expr, ParseProduct());
  if (!tokens_.IsOperator("~")) return expr;
  ExprPtr chain = MakeExpr(Expr::Kind::kConcat, tokens_.line());
  chain->operands.push_back(std::move(expr));
  while (tokens_.SkipOperator("~")) {
    ADJUDGE_ASSIGN_OR_RETURN(ExprPtr operand, ParseProduct());
    chain->operands.push_back(std::move(operand));
  }
  return chain;
}

Result<ExprPtr> ExpressionParser::ParseProduct() {
  return ParseChain(
      tokens_, {Operator::kMultiply, Operator::kDivide, Operator::kFloorDivide, Operator::kModulo},
      [&] { return ParsePower(); });
}

Result<ExprPtr> ExpressionParser::ParsePower() {
  return ParseChain(tokens_, {Operator::kPower}, [&] { return ParseUnary(); });
}

Result<ExprPtr> ExpressionParser::ParseUnary(bool filters) {
  ADJUDGE_RETURN_IF_ERROR(Enter());
  const Level level(*this);
  ExprPtr expr;
  if (tokens_.IsOperator("-") || tokens_.IsOperator("+")) {
    const Token sign = tokens_.Next();
    expr = MakeExpr(sign.text == "-" ? Expr::Kind::kNegate : Expr::Kind::kPlus, sign.line);
    ADJUDGE_ASSIGN_OR_RETURN(ExprPtr operand, ParseUnary(false));
    expr->operands.push_back(std::move(operand));
  } else {
    ADJUDGE_ASSIGN_OR_RETURN(expr, ParsePrimary());
  }
  ADJUDGE_RETURN_IF_ERROR(ParsePostfixes(expr));
  if (filters) ADJUDGE_RETURN_IF_ERROR(ParseFiltersAndTests(expr));
  return expr;
}

Result<ExprPtr> ExpressionParser::ParsePrimary() {
  const int line = tokens_.line();
  switch (tokens_.current().kind) {
    case Token::Kind::kName:
      return ParseName();
    case Token::Kind::kString: {
      std::string value = tokens_.Next().text;
      while (tokens_.Is(Token::Kind::kString)) value += tokens_.Next().text;
      return Constant(Value::String(value), line);
    }
    case Token::Kind::kInteger:
      return Constant(Value::Int(tokens_.Next().integer, true), line);
    case Token::Kind::kFloat:
      return Constant(Value::Float(tokens_.Next().real, true), line);
    default:
      break;
  }
  if (tokens_.SkipOperator("(")) {
    TupleOptions options;
    options.parenthesized = true;
    ADJUDGE_ASSIGN_OR_RETURN(ExprPtr expr, ParseTuple(options));
    ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator(")"));
    return expr;
  }
  if (tokens_.IsOperator("[")) return ParseList();
  if (tokens_.IsOperator("{")) return ParseDict();
  return tokens_.Bad("unexpected " + tokens_.Describe());
}

Result<ExprPtr> ExpressionParser::ParseName() {
  const Token token = tokens_.Next();
  const std::string& name = token.text;
  if (name == "true" || name == "True") return Constant(Value::Bool(true), token.line);
  if (name == "false" || name == "False") return Constant(Value::Bool(false), token.line);
  if (name == "none" || name == "None") return Constant(Value::None(), token.line);
  for (SpecialNames& special : open_macros_) {
    special.caller = special.caller || name == "caller";
    special.varargs = special.varargs || name == "varargs";
    special.kwargs = special.kwargs || name == "kwargs";
  }
  ExprPtr expr = MakeExpr(Expr::Kind::kName, token.line);
  expr->name = Intern(name);
  return expr;
}

Result<ExprPtr> ExpressionParser::ParseList() {
  ExprPtr list = MakeExpr(Expr::Kind::kList, tokens_.Next().line);
  while (!tokens_.IsOperator("]")) {
    if (!list->operands.empty()) ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator(","));
    if (tokens_.IsOperator("]")) break;
    ADJUDGE_ASSIGN_OR_RETURN(ExprPtr item, ParseExpression());
    list->operands.push_back(std::move(item));
  }
  tokens_.Next();
  return list;
}

Result<ExprPtr> ExpressionParser::ParseDict() {
  ExprPtr dict = MakeExpr(Expr::Kind::kDict, tokens_.Next().line);
  while (!tokens_.IsOperator("}")) {
    if (!dict->operands.empty()) ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator(","));
    if (tokens_.IsOperator("}")) break;
    ADJUDGE_ASSIGN_OR_RETURN(ExprPtr key, ParseExpression());
    ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator(":"));
    ADJUDGE_ASSIGN_OR_RETURN(ExprPtr value, ParseExpression());
    dict->operands.push_back(std::move(key));
    dict->operands.push_back(std::move(value));
  }
  tokens_.Next();
  return dict;
}

Status ExpressionParser::ParsePostfixes(ExprPtr& expr) {
  while (true) {
    Postfix postfix;
    if (tokens_.IsOperator(".") || tokens_.IsOperator("[")) {
      ADJUDGE_ASSIGN_OR_RETURN(postfix, ParseSubscript());
    } else if (tokens_.IsOperator("(")) {
      postfix.kind = Postfix::Kind::kCall;
      postfix.line = tokens_.line();
      ADJUDGE_ASSIGN_OR_RETURN(postfix.arguments, ParseArguments());
    } else {
      return {};
    }
    MakePostfixed(expr);
    expr->postfixes.push_back(std::move(postfix));
  }
}

Status ExpressionParser::ParseFiltersAndTests(ExprPtr& expr) {
  while (true) {
    Postfix postfix;
    if (tokens_.SkipOperator("|")) {
      ADJUDGE_ASSIGN_OR_RETURN(postfix, ParseFilter());
    } else if (tokens_.IsName("is")) {
      ADJUDGE_ASSIGN_OR_RETURN(postfix, ParseTest());
    } else if (tokens_.IsOperator("(")) {
      postfix.kind = Postfix::Kind::kCall;
      postfix.line = tokens_.line();
      ADJUDGE_ASSIGN_OR_RETURN(postfix.arguments, ParseArguments());
    } else {
      return {};
    }
    MakePostfixed(expr);
    expr->postfixes.push_back(std::move(postfix));
  }
}

Result<Postfix> ExpressionParser::ParseSubscript() {
  Postfix postfix;
  postfix.line = tokens_.line();
  if (tokens_.SkipOperator(".")) {
    if (tokens_.Is(Token::Kind::kName)) {
      postfix.kind = Postfix::Kind::kAttribute;
      postfix.name = tokens_.Next().text;
      return postfix;
    }
    if (!tokens_.Is(Token::Kind::kInteger)) return tokens_.Unexpected("a name or number");
    postfix.kind = Postfix::Kind::kItem;
    postfix.item = Constant(Value::Int(tokens_.Next().integer, true), postfix.line);
    return postfix;
  }
  tokens_.Next();
  postfix.kind = Postfix::Kind::kItem;
  ADJUDGE_RETURN_IF_ERROR(ParseSubscriptItem(postfix));
  if (tokens_.IsOperator(",") && postfix.kind == Postfix::Kind::kItem) {
    ExprPtr tuple = MakeExpr(Expr::Kind::kTuple, postfix.line);
    tuple->operands.push_back(std::move(postfix.item));
    while (tokens_.SkipOperator(",")) {
      ADJUDGE_ASSIGN_OR_RETURN(ExprPtr item, ParseExpression());
      tuple->operands.push_back(std::move(item));
    }
    postfix.item = std::move(tuple);
  }
  ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator("]"));
  return postfix;
}

// item, or start:stop:step with parts left out.
Status ExpressionParser::ParseSubscriptItem(Postfix& postfix) {
  if (tokens_.IsOperator("]")) {
    postfix.item = MakeExpr(Expr::Kind::kTuple, postfix.line);
    return {};
  }
  if (!tokens_.IsOperator(":")) {
    ADJUDGE_ASSIGN_OR_RETURN(postfix.item, ParseExpression());
    if (!tokens_.IsOperator(":")) return {};
    postfix.start = std::move(postfix.item);
  }
  postfix.kind = Postfix::Kind::kSlice;
  for (ExprPtr* part : {&postfix.stop, &postfix.step}) {
    if (!tokens_.SkipOperator(":")) break;
    if (!tokens_.IsOperator(":") && !tokens_.IsOperator("]") && !tokens_.IsOperator(",")) {
      ADJUDGE_ASSIGN_OR_RETURN(*part, ParseExpression());
    }
  }
  return {};
}

Result<CallArguments> ExpressionParser::ParseArguments() {
  tokens_.Next();
  CallArguments arguments;
  bool first = true;
  while (!tokens_.IsOperator(")")) {
    if (!first) {
      ADJUDGE_RETURN_IF_ERROR(tokens_.ExpectOperator(","));
      if (tokens_.IsOperator(")")) break;
    }
    first = false;
    ADJUDGE_RETURN_IF_ERROR(ParseArgument(arguments));
  }
  tokens_.Next();
  return arguments;
}

Status ExpressionParser::ParseArgument(CallArguments& arguments) {
  const char* const kInvalid = "invalid syntax for function call expression";
  if (tokens_.SkipOperator("*")) {
    if (arguments.list || arguments.dict) return tokens_.Bad(kInvalid);
    ADJUDGE_ASSIGN_OR_RETURN(arguments.list, ParseExpression());
    return {};
  }
  if (tokens_.SkipOperator("**")) {
    if (arguments.dict) return tokens_.Bad(kInvalid);
    ADJUDGE_ASSIGN_OR_RETURN(arguments.dict, ParseExpression());
    return {};
  }
  const bool named = tokens_.Is(Token::Kind::kName) &&
                     tokens_.ahead().kind == Token::Kind::kOperator && tokens_.ahead().text == "=";
  if (!named) {
    if (arguments.list || arguments.dict || !arguments.named.empty()) return tokens_.Bad(kInvalid);
    ADJUDGE_ASSIGN_OR_RETURN(ExprPtr value, ParseExpression());
    arguments.positional.push_back(std::move(value));
    return {};
  }
  if (arguments.dict) return tokens_.Bad(kInvalid);
  std::string name = tokens_.Next().text;
  for (const auto& [other, value] : arguments.named) {
    if (other == name) return tokens_.Bad("keyword argument repeated: " + name);
  }
  tokens_.Next();
  ADJUDGE_ASSIGN_OR_RETURN(ExprPtr value, ParseExpression());
  arguments.named.emplace_back(std::move(name), std::move(value));
  return {};
}

Result<std::string> ExpressionParser::ParseDottedName() {
  ADJUDGE_ASSIGN_OR_RETURN(const Token token, tokens_.ExpectName());
  std::string name = token.text;
  while (tokens_.SkipOperator(".")) {
    ADJUDGE_ASSIGN_OR_RETURN(const Token part, tokens_.ExpectName());
    name += "." + part.text;
  }
  return name;
}

Result<Postfix> ExpressionParser::ParseFilter() {
  Postfix postfix;
  postfix.kind = Postfix::Kind::kFilter;
  postfix.line = tokens_.line();
  ADJUDGE_ASSIGN_OR_RETURN(postfix.name, ParseDottedName());
  if (!HasFilter(postfix.name)) {
    return Fail(ErrorCode::kUnsupported, "not supported: the filter '" + postfix.name + "'",
                LinePlace(postfix.line));
  }
  if (tokens_.IsOperator("(")) {
    ADJUDGE_ASSIGN_OR_RETURN(postfix.arguments, ParseArguments());
  }
  return postfix;
}

Result<std::vector<Postfix>> ExpressionParser::ParseFilters(bool bare) {
  std::vector<Postfix> filters;
  while (bare || tokens_.SkipOperator("|")) {
    bare = false;
    ADJUDGE_ASSIGN_OR_RETURN(Postfix filter, ParseFilter());
    filters.push_back(std::move(filter));
  }
  return filters;
}

Result<Postfix> ExpressionParser::ParseTest() {
  Postfix postfix;
  postfix.kind = Postfix::Kind::kTest;
  postfix.line = tokens_.Next().line;
  postfix.negated = tokens_.SkipName("not");
  ADJUDGE_ASSIGN_OR_RETURN(postfix.name, ParseDottedName());
  if (!HasTest(postfix.name)) {
    return Fail(ErrorCode::kUnsupported, "not supported: the test '" + postfix.name + "'",
                LinePlace(postfix.line));
  }
  if (tokens_.IsOperator("(")) {
    ADJUDGE_ASSIGN_OR_RETURN(postfix.arguments, ParseArguments());
    return postfix;
  }
  const Token::Kind kind = tokens_.current().kind;
  const bool operand = kind == Token::Kind::kName || kind == Token::Kind::kString ||
                       kind == Token::Kind::kInteger || kind == Token::Kind::kFloat ||
                       tokens_.IsOperator("[") || tokens_.IsOperator("{");
  if (!operand || tokens_.IsName("else") || tokens_.IsName("or") || tokens_.IsName("and")) {
    return postfix;
  }
  if (tokens_.IsName("is")) return tokens_.Bad("You cannot chain multiple tests with is");
  ADJUDGE_ASSIGN_OR_RETURN(ExprPtr operand_expr, ParsePrimary());
  ADJUDGE_RETURN_IF_ERROR(ParsePostfixes(operand_expr));
  postfix.arguments.positional.push_back(std::move(operand_expr));
  return postfix;
}

}  // namespace adjudge::jinja
