// "..." % values and "...".format(...).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/template/arguments.h"
#include "engine/template/budget.h"
#include "engine/template/value.h"

namespace adjudge::jinja {

// text % values
Result<Value> PercentFormat(const Text& text, const Value& values, Budget& budget);
// text.format(arguments)
Result<Value> FormatMethod(const Text& text, const Arguments& arguments, Budget& budget);

// One field of either form, as format(value, spec) writes it.
struct FormatSpec {
  std::string fill = " ";
  char align = 0;  // < > ^ =, or 0 for the type's own
  char sign = '-';
  bool alternate = false;
  bool zero = false;
  bool thousands = false;
  std::int64_t width = 0;
  std::int64_t precision = -1;
  char type = 0;
};
Status AppendFormatted(const Value& value, const FormatSpec& spec, TextBuilder& out,
                       Budget& budget);

}  // namespace adjudge::jinja
