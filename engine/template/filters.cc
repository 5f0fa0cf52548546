#include "engine/template/filters.h"

#include <algorithm>

#include "engine/template/operators.h"
#include "engine/template/print.h"

namespace adjudge::jinja {
namespace {

const FilterEntry* Find(std::string_view name) {
  for (const auto find :
       {FindTextFilter, FindNumberFilter, FindSequenceFilter, FindSelectionFilter}) {
    if (const FilterEntry* entry = find(name)) return entry;
  }
  return nullptr;
}

// Filters that do to a Markup what they do to a str; the others would escape their arguments.
bool TakesMarkup(std::string_view name) {
  for (const std::string_view ok : {"safe", "e", "escape", "forceescape", "string", "tojson",
                                    "length", "count", "default", "d", "replace", "wordcount"}) {
    if (name == ok) return true;
  }
  return false;
}

}  // namespace

bool HasFilter(std::string_view name) { return Find(name) != nullptr; }

Result<Value> ApplyFilter(std::string_view name, const Value& value, const Arguments& arguments,
                          Budget& budget) {
  const FilterEntry* entry = Find(name);
  if (entry == nullptr) return Refuse("the filter '" + std::string(name.substr(0, 40)) + "'");
  if (value.is_text() && value.text().markup && !TakesMarkup(name)) {
    return Refuse("the filter '" + std::string(name) + "' on a text marked safe");
  }
  ADJUDGE_RETURN_IF_ERROR(budget.Spend(1));
  if (value.is_text()) ADJUDGE_RETURN_IF_ERROR(budget.SpendBytes(value.text().bytes.size()));
  return entry->function(value, arguments, budget);
}

Result<TextPtr> SoftText(const Value& value, Budget& budget) { return ToText(value, budget); }

Result<Value> PathOf(const Value& item, const Value& attribute, Budget& budget) {
  if (attribute.is_missing() || attribute.is(Kind::kNone)) return item;
  if (!attribute.is_text()) return GetItem(item, attribute, budget);
  Value current = item;
  const Text& path = attribute.text();
  for (std::size_t begin = 0; begin <= path.bytes.size();) {
    const std::size_t end = std::min(path.bytes.find('.', begin), path.bytes.size());
    const std::string_view part = path.view().substr(begin, end - begin);
    const bool digits =
        !part.empty() && part.size() <= 18 && part.find_first_not_of("0123456789") == part.npos;
    const Value key = digits ? Value::Int(std::stoll(std::string(part))) : Value::String(part);
    ADJUDGE_ASSIGN_OR_RETURN(current, GetItem(current, key, budget));
    begin = end + 1;
  }
  return current;
}

Value MakeGenerator(std::vector<Value> items, std::optional<Error> error, const char* type) {
  auto generator = std::make_shared<Generator>();
  for (const Value& item : items) {
    generator->Count(item);
  }
  generator->items = std::move(items);
  generator->error = std::move(error);
  generator->type = type;
  return Value::Of(Kind::kGenerator, std::move(generator));
}

}  // namespace adjudge::jinja
