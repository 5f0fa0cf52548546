#include "engine/template/globals.h"

#include <algorithm>
#include <array>

#include "engine/template/print.h"

namespace adjudge::jinja {
namespace {

constexpr std::int64_t kMaxRange = 100000;  // as Jinja's sandbox

Result<std::int64_t> RangePart(const Value& value) {
  if (value.is_int()) return value.integer();
  if (value.is_undefined()) return UndefinedError(value);
  return Raise("TypeError",
               Quoted(TypeName(value)) + " object cannot be interpreted as an integer");
}

Result<Value> CallRange(const Arguments& arguments) {
  if (!arguments.named.empty()) {
    return Raise("TypeError", "safe_range() got an unexpected keyword argument '" +
                                  arguments.named[0].first + "'");
  }
  const std::size_t n = arguments.positional.size();
  if (n < 1 || n > 3) {
    return Raise("TypeError", n == 0
                                  ? "range expected at least 1 argument, got 0"
                                  : "range expected at most 3 arguments, got " + std::to_string(n));
  }
  std::array<std::int64_t, 3> parts = {0, 0, 1};
  for (std::size_t i = 0; i < n; ++i) {
    ADJUDGE_ASSIGN_OR_RETURN(parts[n == 1 ? 1 : i], RangePart(arguments.positional[i]));
  }
  if (parts[2] == 0) return Raise("ValueError", "range() arg 3 must not be zero");
  auto range = std::make_shared<Range>();
  range->start = parts[0];
  range->stop = parts[1];
  range->step = parts[2];
  if (range->size() > kMaxRange) {
    return Raise("OverflowError",
                 "Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
  }
  return Value::Of(Kind::kRange, std::move(range));
}

// The entries of dict(mapping_or_pairs, **named).
Result<std::shared_ptr<Dict>> BuildDict(std::string_view callee, const Arguments& arguments,
                                        Budget& budget) {
  auto dict = std::make_shared<Dict>();
  if (arguments.positional.size() > 1) {
    return Raise("TypeError", std::string(callee) + " expected at most 1 argument, got " +
                                  std::to_string(arguments.positional.size()));
  }
  for (const Value& source : arguments.positional) {
    if (source.is(Kind::kDict)) {
      for (const auto& [key, value] : source.dict().entries) {
        ADJUDGE_RETURN_IF_ERROR(dict->Set(key, value, budget));
      }
      continue;
    }
    ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> pairs, Items(source, budget));
    for (const Value& pair : pairs) {
      ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> entry, Items(pair, budget));
      if (entry.size() != 2) {
        return Raise("ValueError", "dictionary update sequence element has length " +
                                       std::to_string(entry.size()) + "; 2 is required");
      }
      ADJUDGE_RETURN_IF_ERROR(dict->Set(entry[0], entry[1], budget));
    }
  }
  for (const auto& [name, value] : arguments.named) {
    ADJUDGE_RETURN_IF_ERROR(dict->Set(Value::String(name), value, budget));
  }
  return dict;
}

Result<Value> CallDict(const Arguments& arguments, std::int64_t, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(std::shared_ptr<Dict> dict, BuildDict("dict", arguments, budget));
  return Value::Of(Kind::kDict, std::move(dict));
}

Result<Value> CallNamespace(const Arguments& arguments, std::int64_t, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::shared_ptr<Dict> dict,
                           BuildDict("namespace", arguments, budget));
  if (dict->holds_shared) return Refuse("a value with state inside a namespace");
  auto space = std::make_shared<Namespace>();
  for (const auto& [key, value] : dict->entries) {
    if (!key.is_text()) return Refuse("a namespace attribute that is not a name");
    space->attributes.emplace_back(key.text().bytes, value);
  }
  return Value::Of(Kind::kNamespace, std::move(space));
}

Result<Value> CallRaise(const Arguments& arguments, std::int64_t, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind("raise_exception()", arguments, {"message"}, 1));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr message, ToText(bound[0], budget));
  return Raise("TemplateError", message->bytes);
}

Result<Value> CallTime(const Arguments& arguments, std::int64_t now, Budget&) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind("strftime_now()", arguments, {"format"}, 1));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr format, TextArgument("strftime_now()", bound[0]));
  ADJUDGE_ASSIGN_OR_RETURN(const std::string text, FormatTime(format->view(), now));
  return Value::String(text, format->trust.AllTrusted());
}

Result<Value> CallCycler(const Arguments& arguments, std::int64_t, Budget& budget) {
  if (!arguments.named.empty()) return Raise("TypeError", "cycler() takes no keyword arguments");
  if (arguments.positional.empty()) {
    return Raise("RuntimeError", "at least one item has to be provided");
  }
  ADJUDGE_RETURN_IF_ERROR(budget.SpendItems(arguments.positional.size()));
  auto cycler = std::make_shared<Cycler>();
  cycler->items = arguments.positional;
  return Value::Of(Kind::kCycler, std::move(cycler));
}

Result<Value> CallJoiner(const Arguments& arguments, std::int64_t, Budget&) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind("joiner()", arguments, {"sep"}));
  auto joiner = std::make_shared<Joiner>();
  joiner->separator = bound[0].is_missing() ? Value::String(", ") : bound[0];
  return Value::Of(Kind::kJoiner, std::move(joiner));
}

using Global = Result<Value> (*)(const Arguments&, std::int64_t, Budget&);

constexpr std::pair<std::string_view, Global> kGlobals[] = {
    {"range", [](const Arguments& a, std::int64_t, Budget&) { return CallRange(a); }},
    {"dict", CallDict},
    {"namespace", CallNamespace},
    {"raise_exception", CallRaise},
    {"strftime_now", CallTime},
    {"cycler", CallCycler},
    {"joiner", CallJoiner},
    {"lipsum",
     [](const Arguments&, std::int64_t, Budget&) -> Result<Value> {
       return Refuse("the function lipsum");
     }},
};

}  // namespace

std::optional<Value> FindGlobal(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kGlobals); ++i) {
    if (kGlobals[i].first == name) return Value::Function(static_cast<std::int64_t>(i));
  }
  return std::nullopt;
}

Result<Value> CallGlobal(const Value& function, const Arguments& arguments,
                         std::int64_t now_unix_seconds, Budget& budget) {
  const Global call = kGlobals[static_cast<std::size_t>(function.integer())].second;
  return call(arguments, now_unix_seconds, budget);
}

}  // namespace adjudge::jinja
