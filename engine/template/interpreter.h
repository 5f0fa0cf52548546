// Interpreter: renders one template once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/template/arguments.h"
#include "engine/template/ast.h"
#include "engine/template/budget.h"
#include "engine/template/macro.h"
#include "engine/template/value.h"

namespace adjudge::jinja {

// The names set in one block. Looking up goes outwards; setting stays here.
struct Scope {
  std::shared_ptr<Scope> parent;
  std::vector<std::pair<NameId, Value>> names;

  void Set(NameId name, Value value);
  const Value* Find(NameId name) const;
};

class Interpreter {
 public:
  // `variables`: a value for each of the template's names, missing where there is none.
  Interpreter(const Template& source, std::vector<Value> variables, std::int64_t now_unix_seconds,
              Budget& budget);

  Result<TextPtr> Run();

 private:
  enum class Flow { kNormal, kBreak, kContinue };

  // Expressions.
  Result<Value> Eval(const Expr& expr);
  Result<Value> EvalDeep(const Expr& expr);
  Value EvalName(const Expr& expr) const;
  Result<std::vector<Value>> EvalAll(const std::vector<ExprPtr>& exprs);
  Result<Value> EvalDict(const Expr& expr);
  Result<Value> EvalLogic(const Expr& expr);
  Result<Value> EvalConcat(const Expr& expr);
  Result<Value> EvalArithmetic(const Expr& expr);
  Result<Value> EvalCompare(const Expr& expr);
  Result<Value> EvalConditional(const Expr& expr);
  Result<Value> EvalPostfix(const Expr& expr, const Value* caller = nullptr);
  Result<Value> ApplyPostfix(const Value& value, const Postfix& postfix, const Value* caller);
  Result<Value> EvalSlice(const Value& value, const Postfix& postfix);
  Result<Arguments> EvalArguments(const CallArguments& arguments);
  Result<Value> Call(const Value& callee, const Arguments& arguments);
  Result<Value> CallMacro(const Macro& macro, Arguments arguments);
  Result<Value> CallJoiner(Joiner& joiner, const Arguments& arguments);

  // Statements.
  Result<Flow> ExecBody(const Body& body);
  Result<Flow> Exec(const Statement& statement);
  Result<Flow> ExecIf(const Statement& statement);
  Result<Flow> ExecFor(const Statement& statement);
  Result<Flow> ExecSet(const Statement& statement);
  Result<Flow> ExecSetBlock(const Statement& statement);
  Result<Flow> ExecWith(const Statement& statement);
  Result<Flow> ExecMacro(const Statement& statement);
  Result<Flow> ExecCallBlock(const Statement& statement);
  Result<Flow> ExecFilterBlock(const Statement& statement);
  Result<Flow> ExecScope(const Body& body);
  Result<Value> MakeLoop(const Statement& statement);
  Result<bool> Keeps(const Statement& statement, const Value& item,
                     const std::shared_ptr<Scope>& scope);
  Status Assign(const Target& target, const Value& value);
  Status AssignAttribute(const Target& target, const Value& value);
  // Runs `body` in a scope of its own with its output caught in `text`.
  Result<Flow> Capture(const Body& body, TextPtr& text);
  Result<Value> MakeMacro(const Statement& statement);

  // One level of C++ recursion.
  Status Enter();

  const Template& source_;
  std::vector<Value> variables_;
  std::int64_t now_;
  Budget& budget_;
  std::shared_ptr<Scope> scope_;
  TextBuilder* out_ = nullptr;
  NameId loop_ = -1;
  NameId caller_ = -1;
  NameId varargs_ = -1;
  NameId kwargs_ = -1;
  int depth_ = 0;
  int macro_depth_ = 0;
};

// Gives an error without a place this one, and says in which construct it came up.
Error Locate(Error error, int line, const std::string& construct);

}  // namespace adjudge::jinja
