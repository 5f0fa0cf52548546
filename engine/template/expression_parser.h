// Expressions: tokens -> Expr.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/result.h"
#include "engine/template/ast.h"
#include "engine/template/token_stream.h"

namespace adjudge::jinja {

// Recursive descent, with the precedences of Jinja (which are not all Python's).
class ExpressionParser {
 public:
  ExpressionParser(TokenStream& tokens, int max_depth) : tokens_(tokens), max_depth_(max_depth) {}

  struct TupleOptions {
    bool conditional = true;       // a ternary may stand in it
    bool parenthesized = false;    // () is a tuple
    std::string_view end_keyword;  // a name that ends it
  };
  // One expression, or several joined by commas as a tuple.
  Result<ExprPtr> ParseTuple(const TupleOptions& options);
  Result<ExprPtr> ParseTuple() { return ParseTuple(TupleOptions{}); }
  Result<ExprPtr> ParseExpression(bool conditional = true);
  // |filter|filter... ; `bare`: the first bar is left out.
  Result<std::vector<Postfix>> ParseFilters(bool bare);

  NameId Intern(const std::string& name);
  std::vector<std::string> TakeNames() { return std::move(names_); }

  // Names read inside of the macros now being parsed: caller, varargs, kwargs.
  struct SpecialNames {
    bool caller = false;
    bool varargs = false;
    bool kwargs = false;
  };
  std::vector<SpecialNames>& open_macros() { return open_macros_; }

  // One level of nesting, of statements too; Leave() only where Enter() had no error.
  Status Enter();
  void Leave() { --depth_; }

 private:
  tl::unexpected<Error> TooDeeplyNested() const;
  Result<ExprPtr> ParseConditional();
  // operand (word operand)*, one flat list of operands.
  Result<ExprPtr> ParseWordChain(std::string_view word, Expr::Kind kind,
                                 Result<ExprPtr> (ExpressionParser::*parse_operand)());
  Result<ExprPtr> ParseOr();
  Result<ExprPtr> ParseAnd();
  Result<ExprPtr> ParseNot();
  Result<ExprPtr> ParseCompare();
  Result<ExprPtr> ParseSum();
  Result<ExprPtr> ParseConcat();
  Result<ExprPtr> ParseProduct();
  Result<ExprPtr> ParsePower();
  Result<ExprPtr> ParseUnary(bool filters = true);
  Result<ExprPtr> ParsePrimary();
  Result<ExprPtr> ParseName();
  Result<ExprPtr> ParseList();
  Result<ExprPtr> ParseDict();
  Status ParsePostfixes(ExprPtr& expr);
  Status ParseFiltersAndTests(ExprPtr& expr);
  Result<Postfix> ParseSubscript();
  Status ParseSubscriptItem(Postfix& postfix);
  Result<CallArguments> ParseArguments();
  Status ParseArgument(CallArguments& arguments);
  Result<Postfix> ParseFilter();
  Result<Postfix> ParseTest();
  Result<std::string> ParseDottedName();

  TokenStream& tokens_;
  int max_depth_;
  int depth_ = 0;
  std::unordered_map<std::string, NameId> ids_;
  std::vector<std::string> names_;
  std::vector<SpecialNames> open_macros_;
};

ExprPtr MakeExpr(Expr::Kind kind, int line);

}  // namespace adjudge::jinja
