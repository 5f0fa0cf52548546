// Statements.
#include <utility>

#include "engine/template/filters.h"
#include "engine/template/globals.h"
#include "engine/template/interpreter.h"
#include "engine/template/lexer.h"
#include "engine/template/loop.h"
#include "engine/template/print.h"

namespace adjudge::jinja {

void Scope::Set(NameId name, Value value) {
  for (auto& [key, old] : names) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  names.emplace_back(name, std::move(value));
}

const Value* Scope::Find(NameId name) const {
  for (const auto& [key, value] : names) {
    if (key == name) return &value;
  }
  return nullptr;
}

Interpreter::Interpreter(const Template& source, std::vector<Value> variables,
                         std::int64_t now_unix_seconds, Budget& budget)
    : source_(source), variables_(std::move(variables)), now_(now_unix_seconds), budget_(budget) {
  for (std::size_t i = 0; i < source.names.size(); ++i) {
    const std::string& name = source.names[i];
    const auto id = static_cast<NameId>(i);
    if (name == "loop") loop_ = id;
    if (name == "caller") caller_ = id;
    if (name == "varargs") varargs_ = id;
    if (name == "kwargs") kwargs_ = id;
    if (!variables_[i].is_missing()) continue;
    if (std::optional<Value> global = FindGlobal(name)) variables_[i] = *std::move(global);
  }
}

Result<TextPtr> Interpreter::Run() {
  scope_ = std::make_shared<Scope>();
  TextBuilder out(budget_);
  out_ = &out;
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const Flow flow, ExecBody(source_.body));
  Result<TextPtr> text = out.Finish();
  if (!text) return tl::unexpected<Error>(Locate(std::move(text).error(), 1, "the output"));
  return text;
}

Result<Interpreter::Flow> Interpreter::ExecBody(const Body& body) {
  for (const std::unique_ptr<Statement>& statement : body) {
    Result<Flow> flow = Exec(*statement);
    if (!flow) {
      return tl::unexpected<Error>(
          Locate(std::move(flow).error(), statement->line,
                 statement->kind == Statement::Kind::kOutput ? "{{ ... }}" : "{% ... %}"));
    }
    if (*flow != Flow::kNormal) return flow;
  }
  return Flow::kNormal;
}

Result<Interpreter::Flow> Interpreter::Exec(const Statement& statement) {
  ADJUDGE_RETURN_IF_ERROR(budget_.Spend(1));
  if (out_->overflow()) return tl::unexpected<Error>(TextTooLong(budget_));
  switch (statement.kind) {
    case Statement::Kind::kData:
      out_->Append(*statement.data);
      return Flow::kNormal;
    case Statement::Kind::kOutput: {
      ADJUDGE_ASSIGN_OR_RETURN(const Value value, Eval(*statement.expr));
      ADJUDGE_RETURN_IF_ERROR(AppendText(value, *out_, budget_));
      return Flow::kNormal;
    }
    case Statement::Kind::kSet:
      return ExecSet(statement);
    case Statement::Kind::kMacro:
      return ExecMacro(statement);
    case Statement::Kind::kBreak:
      return Flow::kBreak;
    case Statement::Kind::kContinue:
      return Flow::kContinue;
    default:
      break;
  }
  ADJUDGE_RETURN_IF_ERROR(Enter());
  Result<Flow> flow = Flow::kNormal;
  switch (statement.kind) {
    case Statement::Kind::kIf:
      flow = ExecIf(statement);
      break;
    case Statement::Kind::kFor:
      flow = ExecFor(statement);
      break;
    case Statement::Kind::kSetBlock:
      flow = ExecSetBlock(statement);
      break;
    case Statement::Kind::kWith:
      flow = ExecWith(statement);
      break;
    case Statement::Kind::kCallBlock:
      flow = ExecCallBlock(statement);
      break;
    case Statement::Kind::kFilterBlock:
      flow = ExecFilterBlock(statement);
      break;
    default:
      flow = ExecScope(statement.body);
      break;
  }
  --depth_;
  return flow;
}

Result<Interpreter::Flow> Interpreter::ExecIf(const Statement& statement) {
  for (const Branch& branch : statement.branches) {
    if (branch.test) {
      ADJUDGE_ASSIGN_OR_RETURN(const Value test, Eval(*branch.test));
      if (!Truth(test)) continue;
    }
    return ExecBody(branch.body);
  }
  return Flow::kNormal;
}

Result<bool> Interpreter::Keeps(const Statement& statement, const Value& item,
                                const std::shared_ptr<Scope>& scope) {
  auto inner = std::make_shared<Scope>();
  inner->parent = scope;
  const std::shared_ptr<Scope> outer = std::exchange(scope_, std::move(inner));
  Result<Value> test = Value();
  Status assigned = Assign(statement.target, item);
  if (assigned) {
    test = Eval(*statement.filter);
  } else {
    test = tl::unexpected<Error>(std::move(assigned).error());
  }
  scope_ = outer;
  if (!test) return tl::unexpected<Error>(std::move(test).error());
  return Truth(*test);
}

Result<Value> Interpreter::MakeLoop(const Statement& statement) {
  ADJUDGE_ASSIGN_OR_RETURN(const Value iterable, Eval(*statement.expr));
  auto loop = std::make_shared<Loop>();
  ADJUDGE_ASSIGN_OR_RETURN(loop->source, Iterate(iterable, budget_));
  if (statement.filter) {
    loop->keep = [this, &statement, scope = scope_](const Value& item) {
      return Keeps(statement, item, scope);
    };
  } else if (!iterable.is(Kind::kGenerator)) {
    ADJUDGE_ASSIGN_OR_RETURN(loop->length, Length(iterable, budget_));
  }
  return Value::Of(Kind::kLoop, std::move(loop));
}

Result<Interpreter::Flow> Interpreter::ExecFor(const Statement& statement) {
  ADJUDGE_ASSIGN_OR_RETURN(const Value loop_value, MakeLoop(statement));
  Loop& loop = loop_value.Shared<Loop>();
  const std::shared_ptr<Scope> outer = scope_;
  bool any = false;
  Result<Flow> flow = Flow::kNormal;
  while (flow && *flow != Flow::kBreak) {
    ADJUDGE_ASSIGN_OR_RETURN(const std::optional<Value> item, loop.Advance(budget_));
    if (!item) break;
    scope_ = std::make_shared<Scope>();
    scope_->parent = outer;
    if (loop_ >= 0) scope_->Set(loop_, loop_value);
    Status assigned = Assign(statement.target, *item);
    if (assigned) {
      flow = ExecBody(statement.body);
    } else {
      flow = tl::unexpected<Error>(std::move(assigned).error());
    }
    scope_ = outer;
    // As in Jinja, a turn that was broken off does not count for the `else`.
    any = any || (flow && *flow == Flow::kNormal);
  }
  if (!flow) return flow;
  if (!any) return ExecScope(statement.otherwise);
  return Flow::kNormal;
}

Result<Interpreter::Flow> Interpreter::ExecSet(const Statement& statement) {
  ADJUDGE_ASSIGN_OR_RETURN(const Value value, Eval(*statement.expr));
  ADJUDGE_RETURN_IF_ERROR(Assign(statement.target, value));
  return Flow::kNormal;
}

Status Interpreter::Assign(const Target& target, const Value& value) {
  if (target.kind == Target::Kind::kName) {
    scope_->Set(target.name, value);
    return {};
  }
  if (target.kind == Target::Kind::kAttribute) return AssignAttribute(target, value);
  if (!IsIterable(value)) {
    return Raise("TypeError",
                 "cannot unpack non-iterable " + std::string(TypeName(value)) + " object");
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> items, Items(value, budget_));
  const std::string expected = std::to_string(target.parts.size());
  if (items.size() > target.parts.size()) {
    return Raise("ValueError", "too many values to unpack (expected " + expected + ")");
  }
  if (items.size() < target.parts.size()) {
    return Raise("ValueError", "not enough values to unpack (expected " + expected + ", got " +
                                   std::to_string(items.size()) + ")");
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    ADJUDGE_RETURN_IF_ERROR(Assign(target.parts[i], items[i]));
  }
  return {};
}

Status Interpreter::AssignAttribute(const Target& target, const Value& value) {
  Expr name;
  name.name = target.name;
  const Value space = EvalName(name);
  if (!space.is(Kind::kNamespace)) {
    return Raise("TemplateRuntimeError", "cannot assign attribute on non-namespace object");
  }
  // A namespace that held itself would never be freed, nor printed.
  if (HoldsShared(value)) {
    return Refuse("a " + std::string(TypeName(value)) + " with state inside a namespace");
  }
  auto& attributes = space.Shared<Namespace>().attributes;
  for (auto& [key, old] : attributes) {
    if (key == target.attribute) {
      old = value;
      return {};
    }
  }
  attributes.emplace_back(target.attribute, value);
  return {};
}

Result<Interpreter::Flow> Interpreter::Capture(const Body& body, TextPtr& text) {
  TextBuilder inner(budget_);
  TextBuilder* const outer = std::exchange(out_, &inner);
  Result<Flow> flow = ExecScope(body);
  out_ = outer;
  if (!flow) return flow;
  ADJUDGE_ASSIGN_OR_RETURN(text, inner.Finish());
  return flow;
}

Result<Interpreter::Flow> Interpreter::ExecScope(const Body& body) {
  auto inner = std::make_shared<Scope>();
  inner->parent = scope_;
  const std::shared_ptr<Scope> outer = std::exchange(scope_, std::move(inner));
  Result<Flow> flow = ExecBody(body);
  scope_ = outer;
  return flow;
}

Result<Interpreter::Flow> Interpreter::ExecSetBlock(const Statement& statement) {
  TextPtr text;
  ADJUDGE_ASSIGN_OR_RETURN(const Flow flow, Capture(statement.body, text));
  if (flow != Flow::kNormal) return flow;
  Value value = Value::String(std::move(text));
  for (const Postfix& filter : statement.filters) {
    ADJUDGE_ASSIGN_OR_RETURN(value, ApplyPostfix(value, filter, nullptr));
  }
  ADJUDGE_RETURN_IF_ERROR(Assign(statement.target, value));
  return Flow::kNormal;
}

Result<Interpreter::Flow> Interpreter::ExecWith(const Statement& statement) {
  auto inner = std::make_shared<Scope>();
  inner->parent = scope_;
  const std::shared_ptr<Scope> outer = scope_;
  for (const auto& [target, expr] : statement.assignments) {
    ADJUDGE_ASSIGN_OR_RETURN(const Value value, Eval(*expr));
    scope_ = inner;
    const Status assigned = Assign(target, value);
    scope_ = outer;
    ADJUDGE_RETURN_IF_ERROR(assigned);
  }
  scope_ = inner;
  Result<Flow> flow = ExecBody(statement.body);
  scope_ = outer;
  return flow;
}

Result<Value> Interpreter::MakeMacro(const Statement& statement) {
  auto macro = std::make_shared<Macro>();
  macro->statement = &statement;
  macro->scope = scope_;
  return Value::Of(Kind::kMacro, std::move(macro));
}

Result<Interpreter::Flow> Interpreter::ExecMacro(const Statement& statement) {
  ADJUDGE_ASSIGN_OR_RETURN(Value macro, MakeMacro(statement));
  scope_->Set(statement.name, std::move(macro));
  return Flow::kNormal;
}

namespace {

// Blocks join their pieces, which must be texts.
Status AppendBlock(const Value& value, TextBuilder& out) {
  if (!value.is_text()) {
    return Raise("TypeError", "sequence item: expected str instance, " +
                                  std::string(TypeName(value)) + " found");
  }
  out.Append(value.text());
  return {};
}

}  // namespace

Result<Interpreter::Flow> Interpreter::ExecCallBlock(const Statement& statement) {
  ADJUDGE_ASSIGN_OR_RETURN(const Value caller, MakeMacro(statement));
  ADJUDGE_ASSIGN_OR_RETURN(const Value value, EvalPostfix(*statement.expr, &caller));
  ADJUDGE_RETURN_IF_ERROR(AppendBlock(value, *out_));
  return Flow::kNormal;
}

Result<Interpreter::Flow> Interpreter::ExecFilterBlock(const Statement& statement) {
  TextPtr text;
  ADJUDGE_ASSIGN_OR_RETURN(const Flow flow, Capture(statement.body, text));
  if (flow != Flow::kNormal) return flow;
  Value value = Value::String(std::move(text));
  for (const Postfix& filter : statement.filters) {
    ADJUDGE_ASSIGN_OR_RETURN(value, ApplyPostfix(value, filter, nullptr));
  }
  ADJUDGE_RETURN_IF_ERROR(AppendBlock(value, *out_));
  return Flow::kNormal;
}

}  // namespace adjudge::jinja
