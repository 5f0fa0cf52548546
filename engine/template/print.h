// How values are written: Python's str() and repr(), and json.dumps().
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/template/budget.h"
#include "engine/template/text.h"
#include "engine/template/value.h"

namespace adjudge::jinja {

// repr() of a float: the shortest digits that give it back.
std::string FloatRepr(double value);
// repr() of a str.
std::string QuotedRepr(std::string_view text);

// str(value), with the trust of what is in it. Values that Python writes with their address
// (functions, generators) are refused.
Result<TextPtr> ToText(const Value& value, Budget& budget);
// repr(value)
Result<TextPtr> ToRepr(const Value& value, Budget& budget);
Status AppendText(const Value& value, TextBuilder& out, Budget& budget);

struct JsonOptions {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool pretty = false;  // a line for each item, indented by `indent`
  TextPtr indent;
  TextPtr item_separator;
  TextPtr key_separator;
};
// json.dumps(value)
Result<TextPtr> ToJson(const Value& value, const JsonOptions& options, Budget& budget);

}  // namespace adjudge::jinja
