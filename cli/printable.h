// Bytes from outside made safe and readable on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace adjudge::cli {

enum class KeepLines { kNo, kYes };  // kYes leaves newline and tab as they are

// The text with control, format and line-separator characters, unassigned ones and bytes that are
// not UTF-8 as escapes: \n, \t, \r, \x1b, \u{202e}; a backslash stays one. Other characters stay.
std::string Printable(std::string_view bytes, KeepLines keep_lines = KeepLines::kNo);

// Columns that printable text takes on a terminal.
int DisplayWidth(std::string_view text);

// The text cut to at most `width` columns ("..." at the end shows a cut), filled with blanks.
std::string Column(std::string_view text, int width);

// Offset of the first byte that is not part of whole UTF-8, or npos.
std::size_t FirstInvalidUtf8(std::string_view bytes);

}  // namespace adjudge::cli
