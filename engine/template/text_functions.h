// What Python's str methods do, for methods and filters alike.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/template/budget.h"
#include "engine/template/text.h"

namespace adjudge::jinja {

enum class Side { kBoth, kLeft, kRight };

// strip, lstrip, rstrip. `chars` is null for whitespace.
Result<TextPtr> Strip(const TextPtr& text, const Text* chars, Side side, Budget& budget);

Result<TextPtr> Upper(const Text& text, Budget& budget);
Result<TextPtr> Lower(const Text& text, Budget& budget);
Result<TextPtr> SwapCase(const Text& text, Budget& budget);
Result<TextPtr> Capitalize(const Text& text, Budget& budget);
Result<TextPtr> Title(const Text& text, Budget& budget);  // str.title, not Jinja's filter

// replace(old, new, count); all where count is negative.
Result<TextPtr> Replace(const Text& text, const Text& from, const Text& to, std::int64_t count,
                        Budget& budget);

// split(separator, limit) and rsplit; a null separator stands for runs of whitespace.
Result<std::vector<TextPtr>> Split(const TextPtr& text, const Text* separator, std::int64_t limit,
                                   bool from_right, Budget& budget);
Result<std::vector<TextPtr>> SplitLines(const TextPtr& text, bool keep_ends, Budget& budget);

// ljust, rjust, center: padded to `width` characters.
Result<TextPtr> Pad(const TextPtr& text, std::int64_t width, const Text& fill, Side side,
                    Budget& budget);

// rfind in bytes, or npos. Long needles are refused: the search is not linear in them.
Result<std::size_t> FindLast(std::string_view text, std::string_view needle);

}  // namespace adjudge::jinja
