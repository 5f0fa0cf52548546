// Python's operators on values.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/template/budget.h"
#include "engine/template/value.h"

namespace adjudge::jinja {

enum class Operator : unsigned char {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kNotIn,
};

// As it is written in a template: "+", "not in".
std::string_view Spelling(Operator op);

// kAdd to kPower. Integers have 64 bits; a result past them is an error.
Result<Value> Arithmetic(Operator op, const Value& left, const Value& right, Budget& budget);
Result<Value> Negate(const Value& value);
Result<Value> Plus(const Value& value);
// left ** right of numbers.
Result<Value> PowerNumbers(const Value& left, const Value& right, bool trusted);

// kEqual to kNotIn.
Result<bool> Compare(Operator op, const Value& left, const Value& right, Budget& budget);
Result<bool> Equals(const Value& left, const Value& right, Budget& budget);
Result<bool> Contains(const Value& container, const Value& item, Budget& budget);

// The positions of `keys` in ascending (or descending) order; equal keys keep their order.
Result<std::vector<std::size_t>> SortedOrder(const std::vector<Value>& keys, bool reverse,
                                             Budget& budget);

// value[start:stop:step]; missing where left out.
Result<Value> Slice(const Value& value, const Value& start, const Value& stop, const Value& step,
                    Budget& budget);
// value[key], or value.key where there is no such item; undefined where there is neither.
Result<Value> GetItem(const Value& value, const Value& key, Budget& budget);
// value.name, or value["name"] where there is no such attribute.
Result<Value> GetAttribute(const Value& value, std::string_view name, Budget& budget);

}  // namespace adjudge::jinja
