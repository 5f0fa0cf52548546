// Macro: a macro of the template as a value.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/template/ast.h"
#include "engine/template/value.h"

namespace adjudge::jinja {

struct Scope;

struct Macro : Object {
  const Statement* statement = nullptr;  // a macro or a call block
  // Where it was made. Weak, because that scope mostly holds the macro itself.
  std::weak_ptr<Scope> scope;

  const Signature& signature() const { return statement->signature; }
  std::string repr() const;
  std::optional<Value> Attribute(std::string_view name) const;
};

}  // namespace adjudge::jinja
