#include "engine/template/methods.h"

#include <algorithm>
#include <iterator>

#include "engine/template/format.h"
#include "engine/template/loop.h"
#include "engine/template/operators.h"
#include "engine/template/print.h"
#include "engine/template/search.h"
#include "engine/template/text_functions.h"
#include "engine/template/unicode.h"

namespace adjudge::jinja {
namespace {

constexpr std::string_view kTextMethods[] = {
    "capitalize",   "casefold",    "center",    "count",      "encode",       "endswith",
    "expandtabs",   "find",        "format",    "format_map", "index",        "isalnum",
    "isalpha",      "isascii",     "isdecimal", "isdigit",    "isidentifier", "islower",
    "isnumeric",    "isprintable", "isspace",   "istitle",    "isupper",      "join",
    "ljust",        "lower",       "lstrip",    "maketrans",  "partition",    "removeprefix",
    "removesuffix", "replace",     "rfind",     "rindex",     "rjust",        "rpartition",
    "rsplit",       "rstrip",      "split",     "splitlines", "startswith",   "strip",
    "swapcase",     "title",       "translate", "upper",      "zfill"};
constexpr std::string_view kSequenceMethods[] = {"count", "index"};
constexpr std::string_view kListMutators[] = {"append", "clear",  "extend",  "insert",
                                              "pop",    "remove", "reverse", "sort"};
constexpr std::string_view kDictMethods[] = {"copy", "fromkeys", "get", "items", "keys", "values"};
constexpr std::string_view kDictMutators[] = {"clear", "pop", "popitem", "setdefault", "update"};
constexpr std::string_view kIntAttributes[] = {
    "as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator",
    "from_bytes",       "imag",      "numerator",  "real",      "to_bytes"};
constexpr std::string_view kFloatAttributes[] = {
    "as_integer_ratio", "conjugate", "fromhex", "hex", "imag", "is_integer", "real"};

template <std::size_t n>
bool OneOf(const std::string_view (&names)[n], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Result<Value> ViewOf(const Value& dict, View::Part part) {
  auto view = std::make_shared<View>();
  view->dict = dict;
  view->part = part;
  return Value::Of(Kind::kView, std::move(view));
}

Result<Value> CallDictMethod(const Value& dict, std::string_view name, const Arguments& arguments,
                             Budget& budget) {
  if (name == "get") {
    ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind("get()", arguments, {"key", "default"}, 1));
    if (!arguments.named.empty()) {
      return Raise("TypeError", "dict.get() takes no keyword arguments");
    }
    ADJUDGE_ASSIGN_OR_RETURN(const Value* found, dict.dict().Find(bound[0]));
    if (found != nullptr) return *found;
    return bound[1].is_missing() ? Value::None() : bound[1];
  }
  if (name == "fromkeys") return Refuse("the method dict.fromkeys");
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none,
                           Bind("dict." + std::string(name) + "()", arguments, {}));
  ADJUDGE_RETURN_IF_ERROR(budget.Spend(1));
  if (name == "copy") return dict;
  return ViewOf(dict, name == "keys"     ? View::Part::kKeys
                      : name == "values" ? View::Part::kValues
                                         : View::Part::kItems);
}

Result<Value> CallSequenceMethod(const Value& value, std::string_view name,
                                 const Arguments& arguments, Budget& budget) {
  if (name == "copy") return value;
  ADJUDGE_ASSIGN_OR_RETURN(
      const auto bound, Bind(std::string(name) + "()", arguments, {"value", "start", "stop"}, 1));
  if (!bound[1].is_missing()) return Refuse("bounds for " + std::string(name) + "()");
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> items, Items(value, budget));
  std::int64_t count = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    ADJUDGE_ASSIGN_OR_RETURN(const bool equal, Equals(items[i], bound[0], budget));
    if (equal && name == "index") return Value::Int(static_cast<std::int64_t>(i));
    if (equal) ++count;
  }
  if (name == "count") return Value::Int(count);
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr repr, ToRepr(bound[0], budget));
  if (value.is(Kind::kTuple)) return Raise("ValueError", "tuple.index(x): x not in tuple");
  return Raise("ValueError", repr->bytes + " is not in " + std::string(TypeName(value)));
}

Result<Value> CallLoopMethod(Loop& loop, std::string_view name, const Arguments& arguments,
                             Budget& budget) {
  if (!arguments.named.empty()) return Raise("TypeError", "unexpected keyword argument");
  const std::vector<Value>& items = arguments.positional;
  if (name == "cycle") {
    if (items.empty()) return Raise("TypeError", "no items for cycling given");
    return items[static_cast<std::size_t>(loop.index0) % items.size()];
  }
  bool same = loop.last_changed && loop.last_changed->size() == items.size();
  for (std::size_t i = 0; same && i < items.size(); ++i) {
    ADJUDGE_ASSIGN_OR_RETURN(same, Equals((*loop.last_changed)[i], items[i], budget));
  }
  // What is kept may not hold the loop itself.
  for (const Value& item : items) {
    if (HoldsShared(item)) return Refuse("loop.changed() of values with state");
  }
  loop.last_changed = items;
  return Value::Bool(!same);
}

Result<Value> CallCyclerMethod(Cycler& cycler, std::string_view name) {
  if (name == "reset") {
    cycler.position = 0;
    return Value::None();
  }
  const Value current = cycler.items[cycler.position];
  if (name == "next") cycler.position = (cycler.position + 1) % cycler.items.size();
  return current;
}

}  // namespace

bool HasMethod(Kind kind, std::string_view name) {
  switch (kind) {
    case Kind::kText:
      return OneOf(kTextMethods, name);
    case Kind::kList:
      return name == "copy" || OneOf(kSequenceMethods, name) || OneOf(kListMutators, name);
    case Kind::kTuple:
    case Kind::kRange:
      return OneOf(kSequenceMethods, name);
    case Kind::kDict:
      return OneOf(kDictMethods, name) || OneOf(kDictMutators, name);
    case Kind::kLoop:
      return name == "cycle" || name == "changed";
    case Kind::kCycler:
      return name == "next" || name == "reset";
    case Kind::kInt:
    case Kind::kBool:
      return OneOf(kIntAttributes, name);
    case Kind::kFloat:
      return OneOf(kFloatAttributes, name);
    case Kind::kView:
      return name == "mapping" || name == "isdisjoint";
    case Kind::kGenerator:
      return name == "send" || name == "close" || name == "throw";
    default:
      return false;
  }
}

bool IsMutator(Kind kind, std::string_view name) {
  if (kind == Kind::kList) return OneOf(kListMutators, name);
  return kind == Kind::kDict && OneOf(kDictMutators, name);
}

Result<Value> CallMethod(const Method& method, const Arguments& arguments, Budget& budget) {
  const Value& receiver = method.receiver;
  ADJUDGE_RETURN_IF_ERROR(budget.Spend(1));
  switch (receiver.kind()) {
    case Kind::kText:
      if (receiver.text().markup) {
        return Refuse("the method " + method.name + "() on a text marked safe");
      }
      return CallTextMethod(receiver.text_ptr(), method.name, arguments, budget);
    case Kind::kDict:
      return CallDictMethod(receiver, method.name, arguments, budget);
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
      return CallSequenceMethod(receiver, method.name, arguments, budget);
    case Kind::kLoop:
      return CallLoopMethod(receiver.Shared<Loop>(), method.name, arguments, budget);
    case Kind::kCycler:
      return CallCyclerMethod(receiver.Shared<Cycler>(), method.name);
    default:
      return Refuse("the attribute " + method.name + " of " + std::string(TypeName(receiver)));
  }
}

}  // namespace adjudge::jinja
