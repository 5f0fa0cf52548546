// The methods of str.
#include <algorithm>
#include <functional>

#include "engine/template/format.h"
#include "engine/template/methods.h"
#include "engine/template/operators.h"
#include "engine/template/search.h"
#include "engine/template/text_functions.h"
#include "engine/template/unicode.h"

namespace adjudge::jinja {
namespace {

// One call of a str method.
struct Call {
  const TextPtr& text;
  std::string_view name;
  const Arguments& arguments;
  Budget& budget;

  Result<std::vector<Value>> Fit(std::initializer_list<std::string_view> parameters,
                                 std::size_t required = 0) const {
    if (!arguments.named.empty() && !name.starts_with("split") && name != "rsplit") {
      return Raise("TypeError", "str." + std::string(name) + "() takes no keyword arguments");
    }
    return Bind(std::string(name) + "()", arguments, parameters, required);
  }
};

Result<Value> Wrap(Result<TextPtr> text) {
  if (!text) return tl::unexpected<Error>(std::move(text).error());
  return Value::String(*std::move(text));
}

Result<Value> WrapAll(Result<std::vector<TextPtr>> texts, Budget& budget, Kind kind = Kind::kList) {
  if (!texts) return tl::unexpected<Error>(std::move(texts).error());
  std::vector<Value> items;
  items.reserve(texts->size());
  for (TextPtr& text : *texts) items.push_back(Value::String(std::move(text)));
  return MakeList(std::move(items), budget, kind);
}

// A str argument that may be None or left out.
Result<TextPtr> OptionalText(const Call& call, const Value& value) {
  if (value.is_missing() || value.is(Kind::kNone)) return TextPtr();
  return TextArgument(std::string(call.name) + "()", value);
}

Result<Value> CallStrip(const Call& call) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, call.Fit({"chars"}));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr chars, OptionalText(call, bound[0]));
  const Side side = call.name == "strip"    ? Side::kBoth
                    : call.name == "lstrip" ? Side::kLeft
                                            : Side::kRight;
  return Wrap(Strip(call.text, chars.get(), side, call.budget));
}

Result<Value> CallSplit(const Call& call) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, call.Fit({"sep", "maxsplit"}));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr separator, OptionalText(call, bound[0]));
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t limit, IntArgument("split()", bound[1], -1));
  return WrapAll(Split(call.text, separator.get(), limit, call.name == "rsplit", call.budget),
                 call.budget);
}

Result<Value> CallSplitLines(const Call& call) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, call.Fit({"keepends"}));
  return WrapAll(SplitLines(call.text, Truth(bound[0]), call.budget), call.budget);
}

Result<Value> CallCase(const Call& call) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, call.Fit({}));
  if (call.name == "upper") return Wrap(Upper(*call.text, call.budget));
  if (call.name == "lower") return Wrap(Lower(*call.text, call.budget));
  if (call.name == "title") return Wrap(Title(*call.text, call.budget));
  if (call.name == "swapcase") return Wrap(SwapCase(*call.text, call.budget));
  return Wrap(Capitalize(*call.text, call.budget));
}

Result<Value> CallReplace(const Call& call) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, call.Fit({"old", "new", "count"}, 2));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr from, TextArgument("replace()", bound[0]));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr to, TextArgument("replace()", bound[1]));
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t count, IntArgument("replace()", bound[2], -1));
  return Wrap(Replace(*call.text, *from, *to, count, call.budget));
}

// The part of the text that optional start and end (in characters) leave, and where it begins.
struct Window {
  std::string_view bytes;
  std::int64_t first = 0;  // in characters
  bool valid = true;       // start does not lie past the end
};

Result<Window> CutWindow(const Call& call, const Value& start, const Value& end) {
  Window window{call.text->view()};
  if (start.is_missing() && end.is_missing()) return window;
  const auto length = static_cast<std::int64_t>(CountCodePoints(window.bytes));
  ADJUDGE_ASSIGN_OR_RETURN(std::int64_t from, IntArgument(call.name, start, 0));
  ADJUDGE_ASSIGN_OR_RETURN(std::int64_t to, IntArgument(call.name, end, length));
  to = std::min(to < 0 ? std::max<std::int64_t>(to < -length ? 0 : to + length, 0) : to, length);
  from = from < 0 ? std::max<std::int64_t>(from < -length ? 0 : from + length, 0) : from;
  window.valid = from <= to;
  std::size_t offset = 0;
  std::int64_t i = 0;
  std::size_t begin = 0;
  for (; i < to; ++i) {
    if (i == from) begin = offset;
    offset += DecodeAt(window.bytes, offset).bytes;
  }
  if (from >= to) begin = offset;
  window.first = from;
  window.bytes = window.bytes.substr(begin, offset - begin);
  return window;
}

Result<Value> CallFind(const Call& call) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, call.Fit({"sub", "start", "end"}, 1));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr needle, TextArgument("find()", bound[0]));
  ADJUDGE_ASSIGN_OR_RETURN(const Window window, CutWindow(call, bound[1], bound[2]));
  std::size_t found = std::string_view::npos;
  if (window.valid && call.name.front() == 'r') {
    ADJUDGE_ASSIGN_OR_RETURN(found, FindLast(window.bytes, needle->view()));
  } else if (window.valid) {
    found = FindText(window.bytes, needle->view(), 0);
  }
  if (found != std::string_view::npos) {
    return Value::Int(window.first +
                      static_cast<std::int64_t>(CountCodePoints(window.bytes.substr(0, found))));
  }
  if (call.name.ends_with("index")) return Raise("ValueError", "substring not found");
  return Value::Int(-1);
}

Result<Value> CallCount(const Call& call) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, call.Fit({"sub", "start", "end"}, 1));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr needle, TextArgument("count()", bound[0]));
  ADJUDGE_ASSIGN_OR_RETURN(const Window window, CutWindow(call, bound[1], bound[2]));
  if (!window.valid) return Value::Int(0);
  if (needle->bytes.empty()) {
    return Value::Int(static_cast<std::int64_t>(CountCodePoints(window.bytes)) + 1);
  }
  std::int64_t count = 0;
  for (std::size_t at = FindText(window.bytes, needle->view(), 0); at != std::string_view::npos;
       at = FindText(window.bytes, needle->view(), at + needle->bytes.size())) {
    ++count;
  }
  return Value::Int(count);
}

Result<Value> CallStartsWith(const Call& call) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, call.Fit({"prefix", "start", "end"}, 1));
  ADJUDGE_ASSIGN_OR_RETURN(const Window window, CutWindow(call, bound[1], bound[2]));
  std::vector<Value> candidates = {bound[0]};
  if (bound[0].is(Kind::kTuple)) candidates = bound[0].sequence().items;
  const bool start = call.name == "startswith";
  for (const Value& candidate : candidates) {
    if (!candidate.is_text()) {
      return Raise("TypeError", std::string(call.name) +
                                    " first arg must be str or a tuple of str, not " +
                                    std::string(TypeName(candidate)));
    }
    const std::string_view part = candidate.text().view();
    if (window.valid && (start ? window.bytes.starts_with(part) : window.bytes.ends_with(part))) {
      return Value::Bool(true);
    }
  }
  return Value::Bool(false);
}

Result<Value> CallJoin(const Call& call) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, call.Fit({"iterable"}, 1));
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> items, Items(bound[0], call.budget));
  TextBuilder out(call.budget);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_text()) {
      return Raise("TypeError", "sequence item " + std::to_string(i) + ": expected str instance, " +
                                    std::string(TypeName(items[i])) + " found");
    }
    if (i > 0) out.Append(*call.text);
    out.Append(items[i].text());
  }
  return Wrap(out.Finish());
}

Result<Value> CallPartition(const Call& call) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, call.Fit({"sep"}, 1));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr separator, TextArgument("partition()", bound[0]));
  if (separator->bytes.empty()) return Raise("ValueError", "empty separator");
  const bool right = call.name == "rpartition";
  std::size_t found = std::string_view::npos;
  if (right) {
    ADJUDGE_ASSIGN_OR_RETURN(found, FindLast(call.text->view(), separator->view()));
  } else {
    found = FindText(call.text->view(), separator->view(), 0);
  }
  const std::size_t size = call.text->bytes.size();
  const TextPtr empty = MakeText("", true);
  if (found == std::string_view::npos) {
    return WrapAll(right ? std::vector<TextPtr>{empty, empty, call.text}
                         : std::vector<TextPtr>{call.text, empty, empty},
                   call.budget, Kind::kTuple);
  }
  const std::size_t after = found + separator->bytes.size();
  std::vector<TextPtr> parts;
  for (const auto& [begin, end] :
       {std::pair(std::size_t{0}, found), std::pair(found, after), std::pair(after, size)}) {
    ADJUDGE_ASSIGN_OR_RETURN(TextPtr part, SubText(call.text, begin, end, call.budget));
    parts.push_back(std::move(part));
  }
  return WrapAll(std::move(parts), call.budget, Kind::kTuple);
}

Result<Value> CallRemove(const Call& call) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, call.Fit({"affix"}, 1));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr affix, TextArgument(call.name, bound[0]));
  std::size_t begin = 0;
  std::size_t end = call.text->bytes.size();
  if (call.name == "removeprefix" && call.text->view().starts_with(affix->view())) {
    begin = affix->bytes.size();
  } else if (call.name == "removesuffix" && call.text->view().ends_with(affix->view())) {
    end -= affix->bytes.size();
  }
  return Wrap(SubText(call.text, begin, end, call.budget));
}

Result<Value> CallPad(const Call& call) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, call.Fit({"width", "fillchar"}, 1));
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t width, IntArgument(call.name, bound[0], 0));
  TextPtr fill = MakeText(call.name == "zfill" ? "0" : " ", true);
  if (!bound[1].is_missing()) {
    ADJUDGE_ASSIGN_OR_RETURN(fill, TextArgument(call.name, bound[1]));
    if (CountCodePoints(fill->bytes) != 1 || call.name == "zfill") {
      return Raise("TypeError", "The fill character must be exactly one character long");
    }
  }
  if (call.name == "zfill" && !call.text->bytes.empty() &&
      (call.text->bytes[0] == '+' || call.text->bytes[0] == '-')) {
    ADJUDGE_ASSIGN_OR_RETURN(const TextPtr sign, SubText(call.text, 0, 1, call.budget));
    ADJUDGE_ASSIGN_OR_RETURN(const TextPtr rest,
                             SubText(call.text, 1, call.text->bytes.size(), call.budget));
    ADJUDGE_ASSIGN_OR_RETURN(const TextPtr padded,
                             Pad(rest, width - 1, *fill, Side::kLeft, call.budget));
    TextBuilder out(call.budget);
    out.Append(*sign);
    out.Append(*padded);
    return Wrap(out.Finish());
  }
  const Side side = call.name == "center"  ? Side::kBoth
                    : call.name == "ljust" ? Side::kRight
                                           : Side::kLeft;
  return Wrap(Pad(call.text, width, *fill, side, call.budget));
}

bool AllCharacters(std::string_view text, bool (*test)(std::int32_t)) {
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = DecodeAt(text, i);
    if (!test(point.value)) return false;
    i += point.bytes;
  }
  return true;
}

// islower, isupper: some cased character, and none of the other case.
bool IsAllCase(std::string_view text, bool upper) {
  bool cased = false;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = DecodeAt(text, i);
    const bool wanted = upper ? IsUpper(point.value) : IsLower(point.value);
    if (IsCased(point.value) && !wanted) return false;
    cased = cased || wanted;
    i += point.bytes;
  }
  return cased;
}

Result<Value> CallIs(const Call& call) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, call.Fit({}));
  const std::string_view text = call.text->view();
  const std::string_view what = call.name.substr(2);
  if (what == "ascii") return Value::Bool(IsAscii(text));
  if (what == "lower" || what == "upper") return Value::Bool(IsAllCase(text, what == "upper"));
  if (what == "printable") return Value::Bool(AllCharacters(text, IsPrintable));
  bool (*test)(std::int32_t) = nullptr;
  if (what == "space") test = IsSpace;
  if (what == "alpha") test = IsAlpha;
  if (what == "decimal") test = IsDecimal;
  if (what == "digit") test = IsDigit;
  if (what == "alnum") test = [](std::int32_t v) { return IsAlpha(v) || IsNumber(v); };
  if (what == "numeric" && IsAscii(text)) test = IsDigit;
  if (test == nullptr) return Refuse("the method str." + std::string(call.name));
  return Value::Bool(!text.empty() && AllCharacters(text, test));
}

using Handler = Result<Value> (*)(const Call&);

Handler HandlerOf(std::string_view name) {
  static constexpr std::pair<std::string_view, Handler> kHandlers[] = {
      {"strip", CallStrip},         {"lstrip", CallStrip},
      {"rstrip", CallStrip},        {"split", CallSplit},
      {"rsplit", CallSplit},        {"splitlines", CallSplitLines},
      {"upper", CallCase},          {"lower", CallCase},
      {"title", CallCase},          {"capitalize", CallCase},
      {"swapcase", CallCase},       {"replace", CallReplace},
      {"find", CallFind},           {"rfind", CallFind},
      {"index", CallFind},          {"rindex", CallFind},
      {"count", CallCount},         {"startswith", CallStartsWith},
      {"endswith", CallStartsWith}, {"join", CallJoin},
      {"partition", CallPartition}, {"rpartition", CallPartition},
      {"removeprefix", CallRemove}, {"removesuffix", CallRemove},
      {"center", CallPad},          {"ljust", CallPad},
      {"rjust", CallPad},           {"zfill", CallPad}};
  for (const auto& [key, handler] : kHandlers) {
    if (key == name) return handler;
  }
  return name.starts_with("is") ? CallIs : nullptr;
}

}  // namespace

Result<Value> CallTextMethod(const TextPtr& text, std::string_view name, const Arguments& arguments,
                             Budget& budget) {
  ADJUDGE_RETURN_IF_ERROR(budget.SpendBytes(text->bytes.size()));
  if (name == "format") return FormatMethod(*text, arguments, budget);
  const Handler handler = HandlerOf(name);
  if (handler == nullptr) return Refuse("the method str." + std::string(name));
  return handler(Call{text, name, arguments, budget});
}

}  // namespace adjudge::jinja
