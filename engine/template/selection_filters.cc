// map, select, reject and their kin: filters that take a filter or a test.
#include <algorithm>

#include "engine/template/filters.h"
#include "engine/template/tests.h"

namespace adjudge::jinja {
namespace {

// A generator of what `choose` gives for each item: absent leaves it out. An error is kept for the
// moment when the generator comes to it.
template <typename Choose>
Result<Value> Generate(const Value& value, Budget& budget, Choose choose) {
  Result<std::vector<Value>> items = Items(value, budget);
  if (!items) {
    if (items.error().code == ErrorCode::kLimit) return tl::unexpected<Error>(items.error());
    return MakeGenerator({}, std::move(items).error());
  }
  std::vector<Value> chosen;
  for (const Value& item : *items) {
    Result<std::optional<Value>> one = choose(item);
    if (!one) {
      if (one.error().code == ErrorCode::kLimit) return tl::unexpected<Error>(one.error());
      return MakeGenerator(std::move(chosen), std::move(one).error());
    }
    if (*one) chosen.push_back(**std::move(one));
  }
  return MakeGenerator(std::move(chosen), std::nullopt);
}

Arguments Rest(const Arguments& arguments, std::size_t from) {
  Arguments rest;
  rest.named = arguments.named;
  if (from < arguments.positional.size()) {
    rest.positional.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(from),
                           arguments.positional.end());
  }
  return rest;
}

Result<std::optional<Value>> AttributeOf(const Value& item, const Value& attribute,
                                         const Value& otherwise, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(Value found, PathOf(item, attribute, budget));
  const bool replaces = !otherwise.is_missing() && !otherwise.is(Kind::kNone);
  return found.is_undefined() && replaces ? otherwise : std::move(found);
}

Result<Value> FilterMap(const Value& value, const Arguments& arguments, Budget& budget) {
  if (!Truth(value)) return MakeGenerator({}, std::nullopt);
  if (arguments.positional.empty()) {
    ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind("map", arguments, {"attribute", "default"}));
    if (bound[0].is_missing()) {
      return MakeGenerator({},
                           Raise("FilterArgumentError", "map requires a filter argument").value());
    }
    // Jinja puts the default in at each step of "a.b", where the next step would take it further.
    if (!bound[1].is_missing() && bound[0].is_text() &&
        bound[0].text().bytes.find('.') != std::string::npos) {
      return Refuse("map with a default and a dotted attribute");
    }
    return Generate(value, budget, [&](const Value& item) {
      return AttributeOf(item, bound[0], bound[1], budget);
    });
  }
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr name, TextArgument("map", arguments.positional[0]));
  const Arguments rest = Rest(arguments, 1);
  return Generate(value, budget, [&](const Value& item) -> Result<std::optional<Value>> {
    ADJUDGE_ASSIGN_OR_RETURN(Value mapped, ApplyFilter(name->view(), item, rest, budget));
    return std::optional<Value>(std::move(mapped));
  });
}

Result<Value> Choose(const Value& value, const Arguments& arguments, bool keep, bool attribute,
                     Budget& budget) {
  if (!Truth(value)) return MakeGenerator({}, std::nullopt);
  const std::size_t offset = attribute ? 1 : 0;
  if (arguments.positional.size() < offset) {
    return MakeGenerator(
        {}, Raise("FilterArgumentError", "Missing parameter for attribute name").value());
  }
  TextPtr test;
  if (arguments.positional.size() > offset) {
    ADJUDGE_ASSIGN_OR_RETURN(test, TextArgument("select", arguments.positional[offset]));
  }
  const Arguments rest = Rest(arguments, offset + 1);
  return Generate(value, budget, [&](const Value& item) -> Result<std::optional<Value>> {
    ADJUDGE_RETURN_IF_ERROR(budget.Spend(1));
    ADJUDGE_ASSIGN_OR_RETURN(const Value looked_at,
                             PathOf(item, attribute ? arguments.positional[0] : Value(), budget));
    bool holds = Truth(looked_at);
    if (test) {
      ADJUDGE_ASSIGN_OR_RETURN(holds, ApplyTest(test->view(), looked_at, rest, budget));
    }
    return holds == keep ? std::optional<Value>(item) : std::nullopt;
  });
}

template <bool keep, bool attribute>
Result<Value> FilterChoose(const Value& value, const Arguments& arguments, Budget& budget) {
  return Choose(value, arguments, keep, attribute, budget);
}

constexpr FilterEntry kFilters[] = {{"map", FilterMap},
                                    {"select", FilterChoose<true, false>},
                                    {"reject", FilterChoose<false, false>},
                                    {"selectattr", FilterChoose<true, true>},
                                    {"rejectattr", FilterChoose<false, true>}};

}  // namespace

const FilterEntry* FindSelectionFilter(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFilters), std::end(kFilters),
                                   [&](const FilterEntry& entry) { return entry.name == name; });
  return found == std::end(kFilters) ? nullptr : found;
}

}  // namespace adjudge::jinja
