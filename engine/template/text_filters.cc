// Filters that make text.
#include <algorithm>

#include "engine/template/filters.h"
#include "engine/template/format.h"
#include "engine/template/operators.h"
#include "engine/template/print.h"
#include "engine/template/text_functions.h"
#include "engine/template/unicode.h"

namespace adjudge::jinja {
namespace {

Result<Value> Wrap(Result<TextPtr> text) {
  if (!text) return tl::unexpected<Error>(std::move(text).error());
  return Value::String(*std::move(text));
}

// A filter without arguments that maps a text.
template <Result<TextPtr> (*map)(const Text&, Budget&)>
Result<Value> Mapped(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind("filter", arguments, {}));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr text, SoftText(value, budget));
  return Wrap(map(*text, budget));
}

// Separators of words in Jinja's title: [-\s({\[<]
bool StartsWord(std::int32_t value) {
  return IsSpace(value) || value == '-' || value == '(' || value == '{' || value == '[' ||
         value == '<';
}

Result<TextPtr> JinjaTitle(const Text& text, Budget& budget) {
  const TextPtr whole = std::make_shared<Text>(text);
  TextBuilder out(budget);
  for (std::size_t begin = 0; begin < text.bytes.size();) {
    const CodePoint first = DecodeAt(text.bytes, begin);
    const bool separator = StartsWord(first.value);
    std::size_t end = begin + first.bytes;
    while (end < text.bytes.size()) {
      const CodePoint point = DecodeAt(text.bytes, end);
      if (StartsWord(point.value) != separator) break;
      end += point.bytes;
    }
    ADJUDGE_ASSIGN_OR_RETURN(const TextPtr head,
                             SubText(whole, begin, begin + first.bytes, budget));
    ADJUDGE_ASSIGN_OR_RETURN(const TextPtr tail, SubText(whole, begin + first.bytes, end, budget));
    ADJUDGE_ASSIGN_OR_RETURN(const TextPtr upper, Upper(*head, budget));
    ADJUDGE_ASSIGN_OR_RETURN(const TextPtr lower, Lower(*tail, budget));
    out.Append(*upper);
    out.Append(*lower);
    begin = end;
  }
  return out.Finish();
}

Result<Value> FilterTrim(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind("trim", arguments, {"chars"}));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr text, SoftText(value, budget));
  TextPtr chars;
  if (!bound[0].is_missing() && !bound[0].is(Kind::kNone)) {
    ADJUDGE_ASSIGN_OR_RETURN(chars, TextArgument("trim", bound[0]));
  }
  return Wrap(Strip(text, chars.get(), Side::kBoth, budget));
}

Result<Value> FilterReplace(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound,
                           Bind("replace", arguments, {"old", "new", "count"}, 2));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr text, SoftText(value, budget));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr from, SoftText(bound[0], budget));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr to, SoftText(bound[1], budget));
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t count, IntArgument("replace", bound[2], -1));
  return Wrap(Replace(*text, *from, *to, count, budget));
}

Result<Value> FilterCenter(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound, Bind("center", arguments, {"width"}));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr text, SoftText(value, budget));
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t width, IntArgument("center", bound[0], 80));
  return Wrap(Pad(text, width, *MakeText(" ", true), Side::kBoth, budget));
}

Result<TextPtr> Indention(const Value& width, Budget& budget) {
  if (width.is_text()) return width.text_ptr();
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t count, IntArgument("indent", width, 4));
  TextBuilder spaces(budget);
  spaces.AppendRepeated(" ", true, static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  return spaces.Finish();
}

Result<Value> FilterIndent(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound,
                           Bind("indent", arguments, {"width", "first", "blank"}));
  if (value.is_undefined()) return UndefinedError(value);
  if (value.is(Kind::kList)) {
    return Raise("AttributeError", "'list' object has no attribute 'splitlines'");
  }
  if (!value.is_text()) {
    return Raise("TypeError", "unsupported operand type(s) for +=: '" +
                                  std::string(TypeName(value)) + "' and 'str'");
  }
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr indention, Indention(bound[0], budget));
  const TextPtr newline = MakeText("\n", true);
  TextBuilder ended(budget);
  ended.Append(value.text());
  ended.Append(*newline);
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr text, ended.Finish());
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<TextPtr> lines, SplitLines(text, false, budget));
  const bool blank = Truth(bound[2]);
  TextBuilder out(budget);
  if (Truth(bound[1])) out.Append(*indention);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) {
      out.Append(*newline);
      if (blank || !lines[i]->bytes.empty()) out.Append(*indention);
    }
    out.Append(*lines[i]);
  }
  return Wrap(out.Finish());
}

// Words are runs of \w.
Result<Value> FilterWordCount(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind("wordcount", arguments, {}));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr text, SoftText(value, budget));
  std::int64_t words = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text->bytes.size();) {
    const CodePoint point = DecodeAt(text->bytes, i);
    const bool word = IsAlpha(point.value) || IsNumber(point.value) || point.value == '_';
    if (word && !inside) ++words;
    inside = word;
    i += point.bytes;
  }
  return Value::Int(words);
}

Result<Value> FilterString(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind("string", arguments, {}));
  return Wrap(SoftText(value, budget));
}

Value MarkSafe(const Text& text) {
  auto safe = std::make_shared<Text>(text);
  safe->markup = true;
  return Value::String(std::move(safe));
}

Result<Value> FilterSafe(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind("safe", arguments, {}));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr text, SoftText(value, budget));
  return MarkSafe(*text);
}

Result<Value> FilterForceEscape(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN([[maybe_unused]] const auto none, Bind("escape", arguments, {}));
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr text, SoftText(value, budget));
  TextBuilder out(budget);
  std::size_t plain = 0;
  for (std::size_t i = 0; i < text->bytes.size(); ++i) {
    static constexpr std::pair<char, std::string_view> kEntities[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&#34;"}, {'\'', "&#39;"}};
    for (const auto& [character, entity] : kEntities) {
      if (text->bytes[i] != character) continue;
      out.Append(*text, plain, i);
      out.Append(entity, text->trust.At(i));
      plain = i + 1;
    }
  }
  out.Append(*text, plain, text->bytes.size());
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr escaped, out.Finish());
  return MarkSafe(*escaped);
}

Result<Value> FilterEscape(const Value& value, const Arguments& arguments, Budget& budget) {
  if (value.is_text() && value.text().markup) return value;
  return FilterForceEscape(value, arguments, budget);
}

Result<Value> FilterFormat(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const TextPtr text, SoftText(value, budget));
  if (arguments.named.empty()) {
    ADJUDGE_ASSIGN_OR_RETURN(const Value values,
                             MakeList(arguments.positional, budget, Kind::kTuple));
    return PercentFormat(*text, values, budget);
  }
  if (!arguments.positional.empty()) {
    return Raise("FilterArgumentError",
                 "can't handle positional and keyword arguments at the same time");
  }
  auto dict = std::make_shared<Dict>();
  for (const auto& [name, argument] : arguments.named) {
    ADJUDGE_RETURN_IF_ERROR(dict->Set(Value::String(name), argument, budget));
  }
  return PercentFormat(*text, Value::Of(Kind::kDict, std::move(dict)), budget);
}

Result<Value> FilterTruncate(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const auto bound,
                           Bind("truncate", arguments, {"length", "killwords", "end", "leeway"}));
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t length, IntArgument("truncate", bound[0], 255));
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t leeway, IntArgument("truncate", bound[3], 5));
  TextPtr end = MakeText("...", true);
  if (!bound[2].is_missing()) {
    ADJUDGE_ASSIGN_OR_RETURN(end, TextArgument("truncate", bound[2]));
  }
  const auto end_length = static_cast<std::int64_t>(CountCodePoints(end->bytes));
  if (length < end_length || leeway < 0) {
    return Raise("AssertionError", "truncate: length and leeway must leave room");
  }
  ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t size, Length(value, budget));
  if (size <= leeway || size - leeway <= length) return value;
  if (!value.is_text()) return Refuse("truncating a " + std::string(TypeName(value)));
  const TextPtr text = value.text_ptr();
  std::size_t cut = 0;
  for (std::int64_t i = 0; i < length - end_length; ++i) cut += DecodeAt(text->bytes, cut).bytes;
  if (!Truth(bound[1])) {
    const std::size_t space = text->view().substr(0, cut).rfind(' ');
    if (space != std::string_view::npos) cut = space;
  }
  TextBuilder out(budget);
  out.Append(*text, 0, cut);
  out.Append(*end);
  return Wrap(out.Finish());
}

Result<JsonOptions> JsonOptionsOf(const std::vector<Value>& bound, Budget& budget) {
  JsonOptions options;
  options.ensure_ascii = Truth(bound[0]);
  options.sort_keys = Truth(bound[3]);
  options.pretty = !bound[1].is_missing() && !bound[1].is(Kind::kNone);
  options.item_separator = MakeText(options.pretty ? "," : ", ", false);
  options.key_separator = MakeText(": ", false);
  if (options.pretty) {
    ADJUDGE_ASSIGN_OR_RETURN(options.indent, Indention(bound[1], budget));
  }
  if (bound[2].is_missing() || bound[2].is(Kind::kNone)) return options;
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<Value> separators, Items(bound[2], budget));
  if (separators.size() != 2) {
    return Raise("ValueError", "tojson: separators must be a pair of texts");
  }
  ADJUDGE_ASSIGN_OR_RETURN(options.item_separator, TextArgument("tojson", separators[0]));
  ADJUDGE_ASSIGN_OR_RETURN(options.key_separator, TextArgument("tojson", separators[1]));
  return options;
}

Result<Value> FilterToJson(const Value& value, const Arguments& arguments, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(
      const auto bound,
      Bind("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"}));
  ADJUDGE_ASSIGN_OR_RETURN(const JsonOptions options, JsonOptionsOf(bound, budget));
  return Wrap(ToJson(value, options, budget));
}

constexpr FilterEntry kFilters[] = {
    {"upper", Mapped<Upper>},
    {"lower", Mapped<Lower>},
    {"capitalize", Mapped<Capitalize>},
    {"title", Mapped<JinjaTitle>},
    {"trim", FilterTrim},
    {"replace", FilterReplace},
    {"center", FilterCenter},
    {"indent", FilterIndent},
    {"wordcount", FilterWordCount},
    {"string", FilterString},
    {"safe", FilterSafe},
    {"escape", FilterEscape},
    {"e", FilterEscape},
    {"forceescape", FilterForceEscape},
    {"format", FilterFormat},
    {"truncate", FilterTruncate},
    {"tojson", FilterToJson},
};

}  // namespace

const FilterEntry* FindTextFilter(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFilters), std::end(kFilters),
                                   [&](const FilterEntry& entry) { return entry.name == name; });
  return found == std::end(kFilters) ? nullptr : found;
}

}  // namespace adjudge::jinja
