#include "engine/template/macro.h"

#include "engine/template/print.h"

namespace adjudge::jinja {

const Macro& Value::macro() const { return As<Macro>(); }

std::string Macro::repr() const {
  const bool anonymous = statement->kind == Statement::Kind::kCallBlock;
  return "<Macro " + (anonymous ? std::string("anonymous") : QuotedRepr(signature().name)) + ">";
}

std::optional<Value> Macro::Attribute(std::string_view name) const {
  const Signature& own = signature();
  if (name == "name") return Value::String(own.name);
  if (name == "catch_kwargs") return Value::Bool(own.uses_kwargs);
  if (name == "catch_varargs") return Value::Bool(own.uses_varargs);
  if (name == "caller") return Value::Bool(own.uses_caller);
  if (name == "arguments") {
    auto names = std::make_shared<Sequence>();
    for (const Parameter& parameter : own.parameters) {
      names->items.push_back(Value::String(parameter.spelling));
    }
    return Value::Of(Kind::kTuple, std::move(names));
  }
  return std::nullopt;
}

}  // namespace adjudge::jinja
