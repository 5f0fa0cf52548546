// Expressions.
#include "engine/template/filters.h"
#include "engine/template/globals.h"
#include "engine/template/interpreter.h"
#include "engine/template/lexer.h"
#include "engine/template/methods.h"
#include "engine/template/operators.h"
#include "engine/template/print.h"
#include "engine/template/tests.h"

namespace adjudge::jinja {
namespace {

std::string Describe(const Postfix& postfix) {
  switch (postfix.kind) {
    case Postfix::Kind::kAttribute:
      return "." + postfix.name;
    case Postfix::Kind::kItem:
      return "[...]";
    case Postfix::Kind::kSlice:
      return "a slice";
    case Postfix::Kind::kCall:
      return "a call";
    case Postfix::Kind::kFilter:
      return "the filter '" + postfix.name + "'";
    case Postfix::Kind::kTest:
      return "the test '" + postfix.name + "'";
  }
  return "an expression";
}

tl::unexpected<Error> LocatedAt(Error error, int line, const std::string& construct) {
  return tl::unexpected<Error>(Locate(std::move(error), line, construct));
}

}  // namespace

Error Locate(Error error, int line, const std::string& construct) {
  if (!error.place.empty()) return error;
  error.place = LinePlace(line);
  error.message += " (in " + construct + ")";
  return error;
}

Status Interpreter::Enter() {
  // Blocks, expressions and macro calls together; the parser bounds the first two already.
  constexpr int kFactor = 10;
  if (depth_ >= kFactor * budget_.max_depth()) {
    return tl::unexpected<Error>(TooDeep(budget_, "the template's macros and blocks"));
  }
  ++depth_;
  return {};
}

Result<Value> Interpreter::Eval(const Expr& expr) {
  ADJUDGE_RETURN_IF_ERROR(budget_.Spend(1));
  if (expr.kind == Expr::Kind::kConst) return expr.constant;
  if (expr.kind == Expr::Kind::kName) return EvalName(expr);
  ADJUDGE_RETURN_IF_ERROR(Enter());
  Result<Value> value = EvalDeep(expr);
  --depth_;
  return value;
}

Result<Value> Interpreter::EvalDeep(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::kList:
    case Expr::Kind::kTuple: {
      ADJUDGE_ASSIGN_OR_RETURN(std::vector<Value> items, EvalAll(expr.operands));
      return MakeList(std::move(items), budget_,
                      expr.kind == Expr::Kind::kList ? Kind::kList : Kind::kTuple);
    }
    case Expr::Kind::kDict:
      return EvalDict(expr);
    case Expr::Kind::kNegate:
    case Expr::Kind::kPlus: {
      ADJUDGE_ASSIGN_OR_RETURN(const Value operand, Eval(*expr.operands[0]));
      Result<Value> value = expr.kind == Expr::Kind::kNegate ? Negate(operand) : Plus(operand);
      if (!value) return LocatedAt(std::move(value).error(), expr.line, "a sign");
      return value;
    }
    case Expr::Kind::kNot: {
      ADJUDGE_ASSIGN_OR_RETURN(const Value operand, Eval(*expr.operands[0]));
      return Value::Bool(!Truth(operand));
    }
    case Expr::Kind::kAnd:
    case Expr::Kind::kOr:
      return EvalLogic(expr);
    case Expr::Kind::kConcat:
      return EvalConcat(expr);
    case Expr::Kind::kArithmetic:
      return EvalArithmetic(expr);
    case Expr::Kind::kCompare:
      return EvalCompare(expr);
    case Expr::Kind::kConditional:
      return EvalConditional(expr);
    default:
      return EvalPostfix(expr);
  }
}

Value Interpreter::EvalName(const Expr& expr) const {
  for (const Scope* scope = scope_.get(); scope != nullptr; scope = scope->parent.get()) {
    if (const Value* value = scope->Find(expr.name)) return *value;
  }
  const Value& variable = variables_[static_cast<std::size_t>(expr.name)];
  if (!variable.is_missing()) return variable;
  return MakeUndefined(QuotedRepr(source_.names[static_cast<std::size_t>(expr.name)]) +
                       " is undefined");
}

Result<std::vector<Value>> Interpreter::EvalAll(const std::vector<ExprPtr>& exprs) {
  std::vector<Value> values;
  values.reserve(exprs.size());
  for (const ExprPtr& expr : exprs) {
    ADJUDGE_ASSIGN_OR_RETURN(Value value, Eval(*expr));
    values.push_back(std::move(value));
  }
  return values;
}

Result<Value> Interpreter::EvalDict(const Expr& expr) {
  auto dict = std::make_shared<Dict>();
  for (std::size_t i = 0; i < expr.operands.size(); i += 2) {
    ADJUDGE_ASSIGN_OR_RETURN(const Value key, Eval(*expr.operands[i]));
    ADJUDGE_ASSIGN_OR_RETURN(Value value, Eval(*expr.operands[i + 1]));
    Status set = dict->Set(key, std::move(value), budget_);
    if (!set) return LocatedAt(std::move(set).error(), expr.line, "a dict");
  }
  return Value::Of(Kind::kDict, std::move(dict));
}

Result<Value> Interpreter::EvalLogic(const Expr& expr) {
  const bool stops_at = expr.kind == Expr::Kind::kOr;
  Value value;
  for (const ExprPtr& operand : expr.operands) {
    ADJUDGE_ASSIGN_OR_RETURN(value, Eval(*operand));
    if (Truth(value) == stops_at) break;
  }
  return value;
}

Result<Value> Interpreter::EvalConcat(const Expr& expr) {
  TextBuilder text(budget_);
  for (const ExprPtr& operand : expr.operands) {
    ADJUDGE_ASSIGN_OR_RETURN(const Value value, Eval(*operand));
    Status appended = AppendText(value, text, budget_);
    if (!appended) return LocatedAt(std::move(appended).error(), expr.line, "operator ~");
  }
  Result<TextPtr> joined = text.Finish();
  if (!joined) return LocatedAt(std::move(joined).error(), expr.line, "operator ~");
  return Value::String(*std::move(joined));
}

Result<Value> Interpreter::EvalArithmetic(const Expr& expr) {
  ADJUDGE_ASSIGN_OR_RETURN(Value left, Eval(*expr.operands[0]));
  for (std::size_t i = 0; i < expr.operators.size(); ++i) {
    const Expr& operand = *expr.operands[i + 1];
    ADJUDGE_ASSIGN_OR_RETURN(const Value right, Eval(operand));
    Result<Value> value = Arithmetic(expr.operators[i], left, right, budget_);
    if (!value) {
      return LocatedAt(std::move(value).error(), operand.line,
                       "operator " + std::string(Spelling(expr.operators[i])));
    }
    left = *std::move(value);
  }
  return left;
}

Result<Value> Interpreter::EvalCompare(const Expr& expr) {
  ADJUDGE_ASSIGN_OR_RETURN(Value left, Eval(*expr.operands[0]));
  for (std::size_t i = 0; i < expr.operators.size(); ++i) {
    const Expr& operand = *expr.operands[i + 1];
    ADJUDGE_ASSIGN_OR_RETURN(Value right, Eval(operand));
    Result<bool> holds = Compare(expr.operators[i], left, right, budget_);
    if (!holds) {
      return LocatedAt(std::move(holds).error(), operand.line,
                       "operator " + std::string(Spelling(expr.operators[i])));
    }
    if (!*holds) return Value::Bool(false);
    left = std::move(right);
  }
  return Value::Bool(true);
}

Result<Value> Interpreter::EvalConditional(const Expr& expr) {
  ADJUDGE_ASSIGN_OR_RETURN(const Value test, Eval(*expr.operands[0]));
  if (Truth(test)) return Eval(*expr.operands[1]);
  if (expr.operands.size() > 2) return Eval(*expr.operands[2]);
  return MakeUndefined("the inline if-expression on " + LinePlace(expr.line) +
                       " evaluated to false and no else section was defined.");
}

Result<Value> Interpreter::EvalPostfix(const Expr& expr, const Value* caller) {
  ADJUDGE_ASSIGN_OR_RETURN(Value value, Eval(*expr.operands[0]));
  for (const Postfix& postfix : expr.postfixes) {
    // Only the last call of a call block hands its body over.
    const bool last = &postfix == &expr.postfixes.back();
    Result<Value> next = ApplyPostfix(value, postfix, last ? caller : nullptr);
    if (!next) return LocatedAt(std::move(next).error(), postfix.line, Describe(postfix));
    value = *std::move(next);
  }
  return value;
}

Result<Value> Interpreter::ApplyPostfix(const Value& value, const Postfix& postfix,
                                        const Value* caller) {
  ADJUDGE_RETURN_IF_ERROR(budget_.Spend(1));
  switch (postfix.kind) {
    case Postfix::Kind::kAttribute:
      return GetAttribute(value, postfix.name, budget_);
    case Postfix::Kind::kItem: {
      ADJUDGE_ASSIGN_OR_RETURN(const Value key, Eval(*postfix.item));
      return GetItem(value, key, budget_);
    }
    case Postfix::Kind::kSlice:
      return EvalSlice(value, postfix);
    default:
      break;
  }
  ADJUDGE_ASSIGN_OR_RETURN(Arguments arguments, EvalArguments(postfix.arguments));
  if (postfix.kind == Postfix::Kind::kFilter) {
    return ApplyFilter(postfix.name, value, arguments, budget_);
  }
  if (postfix.kind == Postfix::Kind::kTest) {
    ADJUDGE_ASSIGN_OR_RETURN(const bool holds, ApplyTest(postfix.name, value, arguments, budget_));
    return Value::Bool(holds != postfix.negated);
  }
  if (caller != nullptr) arguments.named.emplace_back("caller", *caller);
  return Call(value, arguments);
}

Result<Value> Interpreter::EvalSlice(const Value& value, const Postfix& postfix) {
  const auto part = [this](const ExprPtr& expr) -> Result<Value> {
    return expr ? Eval(*expr) : Result<Value>(Value());
  };
  ADJUDGE_ASSIGN_OR_RETURN(const Value start, part(postfix.start));
  ADJUDGE_ASSIGN_OR_RETURN(const Value stop, part(postfix.stop));
  ADJUDGE_ASSIGN_OR_RETURN(const Value step, part(postfix.step));
  return Slice(value, start, stop, step, budget_);
}

Result<Arguments> Interpreter::EvalArguments(const CallArguments& source) {
  Arguments arguments;
  ADJUDGE_ASSIGN_OR_RETURN(arguments.positional, EvalAll(source.positional));
  if (source.list) {
    ADJUDGE_ASSIGN_OR_RETURN(const Value list, Eval(*source.list));
    ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> items, Items(list, budget_));
    arguments.positional.insert(arguments.positional.end(), items.begin(), items.end());
  }
  for (const auto& [name, expr] : source.named) {
    ADJUDGE_ASSIGN_OR_RETURN(Value value, Eval(*expr));
    arguments.named.emplace_back(name, std::move(value));
  }
  if (!source.dict) return arguments;
  ADJUDGE_ASSIGN_OR_RETURN(const Value dict, Eval(*source.dict));
  if (!dict.is(Kind::kDict)) {
    return Raise("TypeError",
                 "argument after ** must be a mapping, not " + std::string(TypeName(dict)));
  }
  for (const auto& [key, value] : dict.dict().entries) {
    if (!key.is_text()) return Raise("TypeError", "keywords must be strings");
    for (const auto& named : arguments.named) {
      if (named.first == key.text().bytes) {
        return Raise("TypeError", "got multiple values for keyword argument '" + named.first + "'");
      }
    }
    arguments.named.emplace_back(key.text().bytes, value);
  }
  return arguments;
}

Result<Value> Interpreter::Call(const Value& callee, const Arguments& arguments) {
  switch (callee.kind()) {
    case Kind::kFunction:
      return CallGlobal(callee, arguments, now_, budget_);
    case Kind::kMethod:
      return CallMethod(callee.method(), arguments, budget_);
    case Kind::kMacro:
      return CallMacro(callee.macro(), arguments);
    case Kind::kJoiner:
      return CallJoiner(callee.Shared<Joiner>(), arguments);
    case Kind::kUndefined:
      return UndefinedError(callee);
    case Kind::kLoop:
      return Raise("TypeError",
                   "The loop must have the 'recursive' marker to be called recursively.");
    default:
      return Raise("TypeError", Quoted(TypeName(callee)) + " object is not callable");
  }
}

Result<Value> Interpreter::CallJoiner(Joiner& joiner, const Arguments& arguments) {
  if (!arguments.empty()) return Raise("TypeError", "a joiner takes no arguments");
  if (std::exchange(joiner.used, true)) return joiner.separator;
  return Value::String("");
}

namespace {

// Takes the argument of that name out; missing where it was not given.
Value TakeNamed(Arguments& arguments, std::string_view name) {
  for (auto named = arguments.named.begin(); named != arguments.named.end(); ++named) {
    if (named->first != name) continue;
    Value value = std::move(named->second);
    arguments.named.erase(named);
    return value;
  }
  return Value();
}

// What is left over after the parameters and the caller took theirs.
Status CheckLeftOver(const Signature& signature, const Arguments& arguments) {
  if (!arguments.named.empty() && !signature.uses_kwargs) {
    for (const auto& [name, value] : arguments.named) {
      if (name == "caller") {
        return Raise("TypeError", "macro '" + signature.name +
                                      "' was invoked with two values for the special caller "
                                      "argument. This is most likely a bug.");
      }
    }
    return Raise("TypeError", "macro '" + signature.name + "' takes no keyword argument '" +
                                  arguments.named[0].first + "'");
  }
  if (arguments.positional.size() > signature.parameters.size() && !signature.uses_varargs) {
    return Raise("TypeError", "macro '" + signature.name + "' takes not more than " +
                                  std::to_string(signature.parameters.size()) + " argument(s)");
  }
  return {};
}

}  // namespace

Result<Value> Interpreter::CallMacro(const Macro& macro, Arguments arguments) {
  const Signature& signature = macro.signature();
  auto scope = std::make_shared<Scope>();
  scope->parent = macro.scope.lock();
  if (!scope->parent) {
    return Refuse("a call of macro '" + signature.name + "' after its block has ended");
  }
  std::vector<Value> given(signature.parameters.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Parameter& parameter = signature.parameters[i];
    given[i] = i < arguments.positional.size() ? arguments.positional[i]
                                               : TakeNamed(arguments, parameter.spelling);
    scope->Set(parameter.name,
               given[i].is_missing()
                   ? MakeUndefined("parameter '" + parameter.spelling + "' was not provided")
                   : given[i]);
  }
  if (signature.uses_caller && caller_ >= 0) {
    Value caller = TakeNamed(arguments, "caller");
    const bool none = caller.is_missing() || caller.is(Kind::kNone);
    scope->Set(caller_, none ? MakeUndefined("No caller defined") : std::move(caller));
  }
  ADJUDGE_RETURN_IF_ERROR(CheckLeftOver(signature, arguments));
  if (signature.uses_kwargs) {
    auto rest = std::make_shared<Dict>();
    for (const auto& [name, value] : arguments.named) {
      ADJUDGE_RETURN_IF_ERROR(rest->Set(Value::String(name), value, budget_));
    }
    scope->Set(kwargs_, Value::Of(Kind::kDict, std::move(rest)));
  }
  if (signature.uses_varargs) {
    std::vector<Value> rest;
    for (std::size_t i = given.size(); i < arguments.positional.size(); ++i) {
      rest.push_back(arguments.positional[i]);
    }
    ADJUDGE_ASSIGN_OR_RETURN(Value tuple, MakeList(std::move(rest), budget_, Kind::kTuple));
    scope->Set(varargs_, std::move(tuple));
  }
  if (macro_depth_ >= budget_.max_depth()) {
    return tl::unexpected<Error>(TooDeep(budget_, "macro calls"));
  }
  ++macro_depth_;
  const std::shared_ptr<Scope> outer = std::exchange(scope_, scope);
  TextPtr text;
  Result<Flow> flow = Flow::kNormal;
  for (std::size_t i = 0; i < given.size() && flow; ++i) {
    const Parameter& parameter = signature.parameters[i];
    if (!given[i].is_missing() || !parameter.otherwise) continue;
    Result<Value> value = Eval(*parameter.otherwise);
    if (!value) {
      flow = tl::unexpected<Error>(std::move(value).error());
    } else {
      scope->Set(parameter.name, *std::move(value));
    }
  }
  if (flow) flow = Capture(macro.statement->body, text);
  scope_ = outer;
  --macro_depth_;
  if (!flow) return tl::unexpected<Error>(std::move(flow).error());
  return Value::String(std::move(text));
}

}  // namespace adjudge::jinja
