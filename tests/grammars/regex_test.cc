#include "grammars/regex.h"

#include <gtest/gtest.h>

#include <random>

namespace adjudge {
namespace {

TEST(Regex, RefusesByNameAndPlace) {
  struct Row {
    std::string regex;
    ErrorCode code;
    std::string place;
    std::string words;
  };
  const auto kBad = ErrorCode::kMalformed;
  const auto kNot = ErrorCode::kUnsupported;
  const std::vector<Row> rows = {
      {"foo**", kBad, "offset 4", "nothing to repeat"},
      {"*a", kBad, "offset 0", "nothing to repeat"},
      {"a|+", kBad, "offset 2", "nothing to repeat"},
      {"^*", kBad, "offset 1", "nothing to repeat"},
      {"a{2}{3}", kBad, "offset 4", "nothing to repeat"},
      {"{2}", kBad, "offset 0", "nothing to repeat"},
      {"a{3,2}", kBad, "offset 1", "most below least"},
      {"(a", kBad, "offset 0", "expected \")\""},
      {"a)", kBad, "offset 1", "unmatched"},
      {"[a", kBad, "offset 0", "expected \"]\""},
      {"[z-a]", kBad, "offset 1", "from low to high"},
      {"a\\", kBad, "offset 1", "found the end"},
      {"\\q", kBad, "offset 0", "no escape"},
      {"\\Z", kBad, "offset 0", "no escape"},
      {"\\x1", kBad, "offset 0", "two hex digits"},
      {"\\u{110000}", kBad, "offset 0", "up to 10FFFF"},
      {"(?<n", kBad, "offset 0", "group's name"},
      {"(?i)a", kBad, "offset 0", "flags"},
      {"a(?=b)", kNot, "offset 1", "lookahead"},
      {"(?!b)", kNot, "offset 0", "negative lookahead"},
      {"(?<=b)", kNot, "offset 0", "lookbehind"},
      {"(?<!b)", kNot, "offset 0", "negative lookbehind"},
      {"(a)\\1", kNot, "offset 3", "backreference"},
      {"\\k<n>", kNot, "offset 0", "backreference"},
      {"\\bfoo", kNot, "offset 0", "word boundary"},
      {"\\p{Greek}", kNot, "offset 0", "property \"Greek\""},
      {"\\uD800", kNot, "offset 0", "surrogate"},
      {"a\xFF", kBad, "offset 1", "not UTF-8"},
      {"a{100000001}", ErrorCode::kLimit, "offset 2", "max_repeat"},
      {std::string(300, '(') + std::string(300, ')'), ErrorCode::kLimit, "offset 251", "max_depth"},
      {std::string((1 << 20) + 1, 'a'), ErrorCode::kLimit, "", "max_bytes"},
  };
  for (const Row& row : rows) {
    const auto made = ParseRegex(row.regex);
    ASSERT_FALSE(made.has_value()) << row.regex.substr(0, 20);
    EXPECT_EQ(made.error().code, row.code) << ToString(made.error());
    EXPECT_EQ(made.error().place, row.place) << row.regex.substr(0, 20);
    EXPECT_NE(made.error().message.find(row.words), std::string::npos) << ToString(made.error());
  }
}

TEST(Regex, TakesWhatStandsForItself) {
  for (const char* regex : {"",           "a{",
                            "a{,3}",      "{",
                            "}",          "]",
                            "a{x}",       "[\\w-.]",
                            "[-a]",       "[a-]",
                            "\\-",        "\\@",
                            "\\/",        "(?:)",
                            "()",         "a||b",
                            "[^]",        "[]",
                            "\\0",        "\\cA",
                            "a{1,2}?",    "(?<year>\\d{4})",
                            "\\u{1F600}", "\\uD83D\\uDE00",
                            "[\\b]",      "\\p{Lu}"}) {
    EXPECT_TRUE(ParseRegex(regex).has_value()) << regex;
  }
}

}  // namespace
}  // namespace adjudge
