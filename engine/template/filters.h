// Jinja's filters.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/template/arguments.h"
#include "engine/template/budget.h"
#include "engine/template/value.h"

namespace adjudge::jinja {

using FilterFunction = Result<Value> (*)(const Value& value, const Arguments& arguments,
                                         Budget& budget);
struct FilterEntry {
  std::string_view name;
  FilterFunction function;
};

bool HasFilter(std::string_view name);
Result<Value> ApplyFilter(std::string_view name, const Value& value, const Arguments& arguments,
                          Budget& budget);

// The filters of each file, by name.
const FilterEntry* FindTextFilter(std::string_view name);
const FilterEntry* FindNumberFilter(std::string_view name);
const FilterEntry* FindSequenceFilter(std::string_view name);
const FilterEntry* FindSelectionFilter(std::string_view name);

// A text argument as str() gives it, with its trust. REQUIRES: not missing.
Result<TextPtr> SoftText(const Value& value, Budget& budget);
// `attribute` ("a.b.0", a number or missing) of an item.
Result<Value> PathOf(const Value& item, const Value& attribute, Budget& budget);
// A generator of the items; `error` is what comes after them.
Value MakeGenerator(std::vector<Value> items, std::optional<Error> error,
                    const char* type = "generator");

}  // namespace adjudge::jinja
