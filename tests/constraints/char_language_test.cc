#include "constraints/automaton/char_language.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace adjudge {
namespace {

using Texts = std::vector<std::string>;

CharLanguage::Ptr Of(const std::string& regex, RegexMatch match = RegexMatch::kWhole) {
  auto made = CharLanguage::FromRegex(regex, match);
  EXPECT_TRUE(made.has_value()) << regex << ": " << ToString(made.error());
  return *made;
}

TEST(CharLanguage, MatchesWhole) {
  struct Row {
    std::string regex;
    Texts accepted;
    Texts rejected;
  };
  const std::vector<Row> rows = {
      {"", {""}, {"a"}},
      {"ab|c", {"ab", "c"}, {"a", "abc", ""}},
      {"(a|)b*", {"", "a", "b", "abbb"}, {"aa", "ba"}},
      {"^ab$|^cd", {"ab", "cd"}, {"abc", "cde"}},
      {"a^b|a$b", {}, {"ab"}},
      {"(^a|b)*", {"", "a", "ab", "bbb"}, {"aa", "ba"}},
      {"(a$|b)*", {"", "a", "bba"}, {"ab", "aa"}},
      {"(a$|b){2}", {"ba", "bb"}, {"a", "aa", "ab", "b"}},
      {"(^)*a($)+", {"a"}, {"", "aa"}},
      {"x{0}", {""}, {"x"}},
      {"[]", {}, {"", "a"}},
      {"([]|a)b", {"ab"}, {"b"}},
      {"[^]", {"a", "\n", "\xF0\x9F\x98\x80"}, {"", "ab"}},
      {".", {"a", "\xC2\x85"}, {"\n", "\r", "\xE2\x80\xA8", "\xE2\x80\xA9"}},
      {"\\d\\w\\s", {"1_ ", "0a\xC2\xA0", "9Z\xEF\xBB\xBF"}, {"\xD9\xA1_ ", "1\xC3\xA9 "}},
      {"\\D\\W\\S", {"a-b"}, {"1-b", "aab", "a- "}},
      {"[\\w-.]+", {"a-b.c", "-"}, {"a b"}},
      {"[0-9-_ ]+", {"1-2_3 4"}, {"a"}},
      {"\\u{1F600}\\uD83D\\uDE00\\u0041\\x42",
       {"\xF0\x9F\x98\x80\xF0\x9F\x98\x80"
        "AB"},
       {"AB"}},
      {"\\p{Lu}\\P{L}", {"A1", "\xC3\x89-"}, {"a1", "AA"}},
      {"a{2,3}", {"aa", "aaa"}, {"a", "aaaa"}},
      {"a{2,}", {"aa", "aaaaa"}, {"a"}},
      {"(ab){3,40}", {"ababab", "abababab"}, {"abab", "ababa"}},
      {"(a|aa){30,31}",
       {std::string(30, 'a'), std::string(62, 'a'), std::string(45, 'a')},
       {std::string(29, 'a'), std::string(63, 'a')}},
      {"(a?){40}b", {"b", "ab", std::string(40, 'a') + "b"}, {std::string(41, 'a') + "b"}},
      {"((a{30}b){20,}c)+", {}, {std::string(30, 'a') + "bc"}},
      {"(a|b)*a[ab]{30}",
       {std::string(31, 'a'), "ba" + std::string(30, 'b')},
       {std::string(31, 'b'), std::string(30, 'a')}},
  };
  for (const Row& row : rows) {
    const auto language = Of(row.regex);
    for (const auto& text : row.accepted)
      EXPECT_TRUE(language->Matches(text)) << row.regex << " " << text;
    for (const auto& text : row.rejected)
      EXPECT_FALSE(language->Matches(text)) << row.regex << " " << text;
  }
}

TEST(CharLanguage, NestedCounters) {
  const auto language = Of("((a{30}b){25,26}c){27}");
  const auto text = [](int a, int b, int c) {
    std::string inner;
    for (int i = 0; i < b; ++i) inner += std::string(static_cast<std::size_t>(a), 'a') + "b";
    std::string all;
    for (int i = 0; i < c; ++i) all += inner + "c";
    return all;
  };
  EXPECT_TRUE(language->Matches(text(30, 25, 27)));
  EXPECT_TRUE(language->Matches(text(30, 26, 27)));
  EXPECT_FALSE(language->Matches(text(30, 24, 27)));
  EXPECT_FALSE(language->Matches(text(30, 27, 27)));
  EXPECT_FALSE(language->Matches(text(29, 25, 27)));
  EXPECT_FALSE(language->Matches(text(30, 25, 26)));
  EXPECT_FALSE(language->Matches(text(30, 25, 28)));
}

TEST(CharLanguage, Searches) {
  const auto kSearch = RegexMatch::kSearch;
  EXPECT_TRUE(Of("ab", kSearch)->Matches("xaby"));
  EXPECT_TRUE(Of("^ab$|^cd", kSearch)->Matches("cdx"));
  EXPECT_FALSE(Of("^ab$|^cd", kSearch)->Matches("abx"));
  EXPECT_FALSE(Of("^ab", kSearch)->Matches("xab"));
  EXPECT_TRUE(Of("ab$", kSearch)->Matches("xab"));
  EXPECT_FALSE(Of("ab$", kSearch)->Matches("ab\n"));
  EXPECT_TRUE(Of("", kSearch)->Matches("anything"));
  EXPECT_TRUE(Of("(^|x)a", kSearch)->Matches("bxa"));
  EXPECT_FALSE(Of("(^|x)a", kSearch)->Matches("ba"));
}

TEST(CharLanguage, JoinsAreExact) {
  const auto a = Of("[ab]*");
  const auto b = Of("(..)*");
  const auto both = CharLanguage::And({a, b});
  EXPECT_TRUE(both->Matches("abab"));
  EXPECT_FALSE(both->Matches("aba"));
  EXPECT_FALSE(both->Matches("cd"));
  const auto either = CharLanguage::Or({a, b});
  EXPECT_TRUE(either->Matches("cd"));
  EXPECT_FALSE(either->Matches("cde"));
  const auto rest = CharLanguage::Minus(b, a);
  EXPECT_TRUE(rest->Matches("ac"));
  EXPECT_FALSE(rest->Matches("ab"));
  EXPECT_TRUE(*CharLanguage::And({Of("a+"), Of("b+")})->IsEmpty());
  EXPECT_FALSE(*CharLanguage::And({Of("a+b"), Of(".b")})->IsEmpty());
  EXPECT_TRUE(*CharLanguage::Or({a, CharLanguage::Not(a)})->IsUniversal());
  EXPECT_FALSE(*CharLanguage::Or({a, b})->IsUniversal());
  EXPECT_TRUE(*CharLanguage::Not(CharLanguage::All())->IsEmpty());
  EXPECT_EQ(*CharLanguage::And({Of("a{3,}"), Of("(aa)*")})->Shortest(), "aaaa");
  EXPECT_EQ(*CharLanguage::Minus(CharLanguage::All(), CharLanguage::Lengths(0, 2))->Shortest(),
            std::string(3, '\0'));
  // Every state is live: "aa" has no way on in a* and not in what ends with b.
  const auto dead = CharLanguage::And({Of("a*"), Of("a|.*b")});
  const auto state = dead->Step(dead->Start(), 'a');
  EXPECT_NE(state, CharLanguage::kDead);
  EXPECT_EQ(dead->Step(state, 'a'), CharLanguage::kDead);
}

TEST(CharLanguage, FuelEndsInAnError) {
  const auto language = CharLanguage::And({Of("(a|b)*a[ab]{40}c"), Of("(a|b)*b[ab]{40}c")});
  language->Refuel(100'000);
  const auto empty = language->IsEmpty();
  ASSERT_FALSE(empty.has_value());
  EXPECT_EQ(empty.error().code, ErrorCode::kLimit);
}

TEST(CharLanguage, BlowUpsAreQuick) {
  std::string words = "^(";
  for (int i = 0; i < 50; ++i) words += (i > 0 ? "|word" : "word") + std::to_string(i * 7919);
  words += "|a{0,500})$";
  for (const std::string& regex :
       {std::string("^[ab]{1,100000}$"), words, std::string("^(a+)+$"), std::string("^(a|a)*b$"),
        std::string("^(([a-z])+.)+[A-Z]([a-z])+$"), std::string("(x+x+)+y"),
        std::string("^.{0,65536}$"), std::string("(.*.*)*z{5,900}")}) {
    const auto language = Of(regex, RegexMatch::kSearch);
    language->Refuel(10'000'000);  // about 0.1 s
    CharLanguage::State state = language->Start();
    for (int i = 0; i < 300 && state != CharLanguage::kDead; ++i)
      state = language->Step(state, 'a');
    EXPECT_TRUE(language->status().has_value()) << regex;
  }
}

}  // namespace
}  // namespace adjudge
