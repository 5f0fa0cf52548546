// Filters over sequences and mappings.
#include <algorithm>
#include <unordered_set>

#include "engine/template/filters.h"
#include "engine/template/operators.h"
#include "engine/template/print.h"
#include "engine/template/text_functions.h"

namespace adjudge::jinja {
namespace {

Result<Value> FilterFirst(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind("first", arguments, {}));
  if (value.is_sequence() && !value.sequence().items.empty()) return value.sequence().items[0];
  ADJUDGE_ASSIGN_OR_RETURN(const std::shared_ptr<Generator> items, Iterate(value, budget));
  ADJUDGE_ASSIGN_OR_RETURN(std::optional<Value> first, items->Next());
  return first ? *std::move(first) : MakeUndefined("No first item, sequence was empty.");
}

bool IsReversible(const Value& value) {
  return IsIterable(value) && !value.is(Kind::kGenerator) && !value.is(Kind::kLoop) &&
         !value.is(Kind::kCycler);
}

Result<Value> FilterLast(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind("last", arguments, {}));
  if (!IsReversible(value)) {
    return Raise("TypeError", Quoted(TypeName(value)) + " object is not reversible");
  }
  if (value.is_sequence() && !value.sequence().items.empty()) return value.sequence().items.back();
  ADJUDGE_ASSIGN_OR_RETURN(std::vector<Value> items, Items(value, budget));
  return items.empty() ? MakeUndefined("No last item, sequence was empty.")
                       : std::move(items.back());
}

Result<Value> FilterLength(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind("length", arguments, {}));
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t length, Length(value, budget));
  return Value::Int(length);
}

Result<Value> FilterList(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind("list", arguments, {}));
  ADJUDGE_ASSIGN_OR_RETURN(std::vector<Value> items, Items(value, budget));
  return MakeList(std::move(items), budget);
}

Result<Value> FilterDefault(const Value& value, const Arguments& arguments, Budget&) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound,
                           Bind("default", arguments, {"default_value", "boolean"}));
  if (!value.is_undefined() && !(Truth(bound[1]) && !Truth(value))) return value;
  return bound[0].is_missing() ? Value::String("") : bound[0];
}

Result<Value> FilterJoin(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind("join", arguments, {"d", "attribute"}));
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> items, Items(value, budget));
  TextPtr separator = MakeText("", true);
  if (!bound[0].is_missing()) {
    ADJUDGE_ASSIGN_OR_RETURN(separator, SoftText(bound[0], budget));
  }
  TextBuilder out(budget);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.Append(*separator);
    ADJUDGE_ASSIGN_OR_RETURN(const Value item, PathOf(items[i], bound[1], budget));
    ADJUDGE_RETURN_IF_ERROR(AppendText(item, out, budget));
  }
  ADJUDGE_ASSIGN_OR_RETURN(TextPtr text, out.Finish());
  return Value::String(std::move(text));
}

Result<Value> FilterReverse(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind("reverse", arguments, {}));
  if (value.is_text()) {
    return Slice(value, Value::None(), Value::None(), Value::Int(-1), budget);
  }
  if (!IsIterable(value)) return Raise("FilterArgumentError", "argument must be iterable");
  ADJUDGE_ASSIGN_OR_RETURN(std::vector<Value> items, Items(value, budget));
  std::reverse(items.begin(), items.end());
  if (!IsReversible(value)) return MakeList(std::move(items), budget);
  return MakeGenerator(std::move(items), std::nullopt,
                       value.is(Kind::kList)    ? "list_reverseiterator"
                       : value.is(Kind::kRange) ? "range_iterator"
                       : value.is(Kind::kDict)  ? "dict_reversekeyiterator"
                                                : "reversed");
}

// The key that sorting and finding doubles looks at: lower case unless case_sensitive.
Result<Value> FoldedKey(const Value& item, const Value& attribute, bool case_sensitive,
                        Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(Value key, PathOf(item, attribute, budget));
  if (case_sensitive || !key.is_text()) return key;
  ADJUDGE_ASSIGN_OR_RETURN(TextPtr lower, Lower(key.text(), budget));
  return Value::String(std::move(lower));
}

// `attribute` may name several, joined by commas: the keys are lists.
Result<Value> SortKey(const Value& item, const Value& attribute, bool case_sensitive,
                      Budget& budget) {
  std::vector<Value> paths = {attribute};
  if (attribute.is_text()) {
    ADJUDGE_ASSIGN_OR_RETURN(
        const std::vector<TextPtr> parts,
        Split(attribute.text_ptr(), MakeText(",", true).get(), -1, false, budget));
    paths.clear();
    for (const TextPtr& part : parts) paths.push_back(Value::String(part));
  }
  std::vector<Value> keys;
  for (const Value& path : paths) {
    ADJUDGE_ASSIGN_OR_RETURN(Value key, FoldedKey(item, path, case_sensitive, budget));
    keys.push_back(std::move(key));
  }
  return MakeList(std::move(keys), budget);
}

Result<Value> FilterSort(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound,
                           Bind("sort", arguments, {"reverse", "case_sensitive", "attribute"}));
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> items, Items(value, budget));
  std::vector<Value> keys;
  for (const Value& item : items) {
    ADJUDGE_ASSIGN_OR_RETURN(Value key, SortKey(item, bound[2], Truth(bound[1]), budget));
    keys.push_back(std::move(key));
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<std::size_t> order,
                           SortedOrder(keys, Truth(bound[0]), budget));
  std::vector<Value> sorted;
  for (const std::size_t i : order) sorted.push_back(items[i]);
  return MakeList(std::move(sorted), budget);
}

Result<Value> FilterUnique(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound,
                           Bind("unique", arguments, {"case_sensitive", "attribute"}));
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> items, Items(value, budget));
  std::unordered_set<std::string> seen;
  std::vector<Value> unique;
  for (const Value& item : items) {
    ADJUDGE_ASSIGN_OR_RETURN(const Value key, FoldedKey(item, bound[1], Truth(bound[0]), budget));
    ADJUDGE_ASSIGN_OR_RETURN(std::string coded, CodedKey(key));
    if (seen.insert(std::move(coded)).second) unique.push_back(item);
  }
  return MakeGenerator(std::move(unique), std::nullopt);
}

Result<Value> MinOrMax(const Value& value, const Arguments& arguments, Operator better,
                       Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound,
                           Bind("min/max", arguments, {"case_sensitive", "attribute"}));
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> items, Items(value, budget));
  if (items.empty()) return MakeUndefined("No aggregated item, sequence was empty.");
  std::size_t best = 0;
  Value best_key;
  for (std::size_t i = 0; i < items.size(); ++i) {
    ADJUDGE_ASSIGN_OR_RETURN(Value key, FoldedKey(items[i], bound[1], Truth(bound[0]), budget));
    if (i > 0) {
      ADJUDGE_ASSIGN_OR_RETURN(const bool wins, Compare(better, key, best_key, budget));
      if (!wins) continue;
    }
    best = i;
    best_key = std::move(key);
  }
  return items[best];
}

Result<Value> FilterMin(const Value& value, const Arguments& arguments, Budget& budget) {
  return MinOrMax(value, arguments, Operator::kLess, budget);
}

Result<Value> FilterMax(const Value& value, const Arguments& arguments, Budget& budget) {
  return MinOrMax(value, arguments, Operator::kGreater, budget);
}

Result<Value> FilterSum(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind("sum", arguments, {"attribute", "start"}));
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> items, Items(value, budget));
  Value sum = bound[1].is_missing() ? Value::Int(0, true) : bound[1];
  if (sum.is_text()) {
    return Raise("TypeError", "sum() can't sum strings [use ''.join(seq) instead]");
  }
  for (const Value& item : items) {
    ADJUDGE_ASSIGN_OR_RETURN(const Value part, PathOf(item, bound[0], budget));
    ADJUDGE_ASSIGN_OR_RETURN(sum, Arithmetic(Operator::kAdd, sum, part, budget));
  }
  return sum;
}

Result<Value> FilterItems(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind("items", arguments, {}));
  if (value.is_undefined()) return MakeGenerator({}, std::nullopt);
  if (!value.is(Kind::kDict)) {
    return MakeGenerator({}, Raise("TypeError", "Can only get item pairs from a mapping.").value());
  }
  View view;
  view.dict = value;
  view.part = View::Part::kItems;
  ADJUDGE_ASSIGN_OR_RETURN(std::vector<Value> items,
                           Items(Value::Of(Kind::kView, std::make_shared<View>(view)), budget));
  return MakeGenerator(std::move(items), std::nullopt);
}

Result<Value> FilterDictSort(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound,
                           Bind("dictsort", arguments, {"case_sensitive", "by", "reverse"}));
  const std::string by = bound[1].is_text() ? bound[1].text().bytes : "key";
  if (by != "key" && by != "value") {
    return Raise("FilterArgumentError", "You can only sort by either \"key\" or \"value\"");
  }
  if (value.is_undefined()) return UndefinedError(value);
  if (!value.is(Kind::kDict)) {
    return Raise("AttributeError", Quoted(TypeName(value)) + " object has no attribute 'items'");
  }
  const auto& entries = value.dict().entries;
  std::vector<Value> keys;
  for (const auto& [key, item] : entries) {
    ADJUDGE_ASSIGN_OR_RETURN(Value folded,
                             FoldedKey(by == "key" ? key : item, Value(), Truth(bound[0]), budget));
    keys.push_back(std::move(folded));
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<std::size_t> order,
                           SortedOrder(keys, Truth(bound[2]), budget));
  std::vector<Value> sorted;
  for (const std::size_t i : order) {
    ADJUDGE_ASSIGN_OR_RETURN(Value pair,
                             MakeList({entries[i].first, entries[i].second}, budget, Kind::kTuple));
    sorted.push_back(std::move(pair));
  }
  return MakeList(std::move(sorted), budget);
}

Result<Value> FilterBatch(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound,
                           Bind("batch", arguments, {"linecount", "fill_with"}, 1));
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t width, IntArgument("batch", bound[0], 0));
  if (width < 1) return Refuse("batches of less than one");
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> items, Items(value, budget));
  std::vector<Value> batches;
  std::vector<Value> batch;
  for (std::size_t i = 0; i < items.size(); ++i) {
    batch.push_back(items[i]);
    const bool last = i + 1 == items.size();
    if (last && !bound[1].is_missing() && !bound[1].is(Kind::kNone)) {
      ADJUDGE_RETURN_IF_ERROR(budget.Spend(width));
      batch.resize(static_cast<std::size_t>(width), bound[1]);
    }
    if (!last && static_cast<std::int64_t>(batch.size()) < width) continue;
    ADJUDGE_ASSIGN_OR_RETURN(Value list, MakeList(std::move(batch), budget));
    batches.push_back(std::move(list));
    batch.clear();
  }
  return MakeGenerator(std::move(batches), std::nullopt);
}

Result<Value> FilterSlice(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind("slice", arguments, {"slices", "fill_with"}, 1));
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t slices, IntArgument("slice", bound[0], 0));
  if (slices < 1) return Refuse("less than one slice");
  ADJUDGE_RETURN_IF_ERROR(budget.Spend(slices));
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> items, Items(value, budget));
  const auto size = static_cast<std::int64_t>(items.size());
  const bool fills = !bound[1].is_missing() && !bound[1].is(Kind::kNone);
  std::vector<Value> out;
  auto next = items.begin();
  for (std::int64_t i = 0; i < slices; ++i) {
    const bool extra = i < size % slices;
    const auto end = next + (size / slices + (extra ? 1 : 0));
    std::vector<Value> part(next, end);
    if (fills && !extra) part.push_back(bound[1]);
    next = end;
    ADJUDGE_ASSIGN_OR_RETURN(Value list, MakeList(std::move(part), budget));
    out.push_back(std::move(list));
  }
  return MakeGenerator(std::move(out), std::nullopt);
}

constexpr FilterEntry kFilters[] = {
    {"first", FilterFirst},       {"last", FilterLast},     {"length", FilterLength},
    {"count", FilterLength},      {"list", FilterList},     {"default", FilterDefault},
    {"d", FilterDefault},         {"join", FilterJoin},     {"reverse", FilterReverse},
    {"sort", FilterSort},         {"unique", FilterUnique}, {"min", FilterMin},
    {"max", FilterMax},           {"sum", FilterSum},       {"items", FilterItems},
    {"dictsort", FilterDictSort}, {"batch", FilterBatch},   {"slice", FilterSlice}};

}  // namespace

const FilterEntry* FindSequenceFilter(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFilters), std::end(kFilters),
                                   [&](const FilterEntry& entry) { return entry.name == name; });
  return found == std::end(kFilters) ? nullptr : found;
}

}  // namespace adjudge::jinja
