#include "engine/template/arguments.h"

#include <algorithm>

namespace adjudge::jinja {

Result<std::vector<Value>> Bind(std::string_view callee, const Arguments& arguments,
                                std::initializer_list<std::string_view> parameters,
                                std::size_t required) {
  const std::string name(callee);
  if (arguments.positional.size() > parameters.size()) {
    return Raise("TypeError", name + " takes at most " + std::to_string(parameters.size()) +
                                  " arguments (" + std::to_string(arguments.positional.size()) +
                                  " given)");
  }
  std::vector<Value> bound = arguments.positional;
  bound.resize(parameters.size());
  for (const auto& [key, value] : arguments.named) {
    const auto* found = std::find(parameters.begin(), parameters.end(), key);
    if (found == parameters.end()) {
      return Raise("TypeError", name + " got an unexpected keyword argument '" + key + "'");
    }
    Value& slot = bound[static_cast<std::size_t>(found - parameters.begin())];
    if (!slot.is_missing()) {
      return Raise("TypeError", name + " got multiple values for argument '" + key + "'");
    }
    slot = value;
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (bound[i].is_missing()) {
      return Raise("TypeError", name + " missing required argument '" +
                                    std::string(parameters.begin()[i]) + "'");
    }
  }
  return bound;
}

Result<std::int64_t> IntArgument(std::string_view callee, const Value& value,
                                 std::int64_t otherwise) {
  if (value.is_missing() || value.is(Kind::kNone)) return otherwise;
  if (value.is_int()) return value.integer();
  if (value.is_undefined()) return UndefinedError(value);
  return Raise("TypeError", std::string(callee) + ": '" + std::string(TypeName(value)) +
                                "' object cannot be interpreted as an integer");
}

Result<TextPtr> TextArgument(std::string_view callee, const Value& value) {
  if (value.is_text()) return value.text_ptr();
  return Raise("TypeError",
               std::string(callee) + ": expected str, got " + std::string(TypeName(value)));
}

}  // namespace adjudge::jinja
