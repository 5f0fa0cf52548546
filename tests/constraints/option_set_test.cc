#include "constraints/option_set.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "tests/testing/option_twin.h"

namespace adjudge {
namespace {

using Strings = std::vector<std::string>;
using testing::TwinOptionMask;

// Tokens by their text; "#" is the stop token, "<c>" a control token, "<u>" unused, "<0>" unknown.
Vocabulary MakeVocabulary(const Strings& tokens, int padding = 3) {
  std::vector<Vocabulary::Entry> entries;
  std::vector<TokenId> stops;
  for (const std::string& token : tokens) {
    Vocabulary::Entry entry{token, TokenKind::kNormal};
    if (token == "#") stops.push_back(static_cast<TokenId>(entries.size()));
    if (token == "#" || token == "<c>") entry.kind = TokenKind::kControl;
    if (token == "<u>") entry.kind = TokenKind::kUnused;
    if (token == "<0>") entry.kind = TokenKind::kUnknown;
    entries.push_back(entry);
  }
  const int width = static_cast<int>(entries.size()) + padding;
  return Vocabulary(std::move(entries), width, std::move(stops));
}

Strings Allowed(const Vocabulary& vocabulary, Matcher& matcher) {
  TokenMask mask(vocabulary.width());
  mask.set_all();
  matcher.FillMask(mask);
  Strings allowed;
  for (TokenId id = 0; id < mask.width(); ++id) {
    if (mask.test(id)) {
      allowed.push_back(id < vocabulary.size() ? std::string(vocabulary.bytes(id)) : "padding");
    }
  }
  return allowed;
}

TokenId Id(const Strings& tokens, const std::string& token) {
  return static_cast<TokenId>(std::find(tokens.begin(), tokens.end(), token) - tokens.begin());
}

TEST(OptionSet, AllowsExactlyWhatMayFollow) {
  struct Row {
    Strings vocabulary;
    Strings options;
    Strings accepted;  // tokens
    Strings allowed;
    bool can_stop;
    bool done;
    std::string forced_bytes;
    Strings forced_tokens;
  };
  const Strings abc = {"a", "b", "c", "ab", "#", "<c>", "<u>", "<0>"};
  const Strings prefixes = {"A", "AB", "ABC", "B"};
  const Strings caps = {"A", "B", "C", "AB", "BC", "#"};
  const Strings bytes = {"\xF0", "\x9F", "\x98", "\x80", "\x81", "\xF0\x9F\x98\x80", "#"};
  const std::vector<Row> rows = {
      // engine-cases: opt-prefix-of-another
      {abc, {"a", "ab", "c"}, {}, {"a", "c", "ab"}, false, false, "", {}},
      {abc, {"a", "ab", "c"}, {"a"}, {"b", "#"}, true, false, "", {}},
      {abc, {"a", "ab", "c"}, {"ab"}, {"#"}, true, true, "", {}},
      {abc, {"a", "ab", "c"}, {"c"}, {"#"}, true, true, "", {}},
      {abc, {"a", "ab", "c"}, {"c", "#"}, {}, false, true, "", {}},
      // After A both the end and B.
      {caps, prefixes, {}, {"A", "B", "AB"}, false, false, "", {}},
      {caps, prefixes, {"A"}, {"B", "BC", "#"}, true, false, "", {}},
      {caps, prefixes, {"AB"}, {"C", "#"}, true, false, "", {}},
      {caps, prefixes, {"A", "BC"}, {"#"}, true, true, "", {}},
      // Forced bytes without a forced token: two splits are open.
      {abc, {"abc"}, {}, {"a", "ab"}, false, false, "abc", {}},
      {abc, {"abc"}, {"a"}, {"b"}, false, false, "bc", {"b", "c"}},
      {abc, {"bcab", "bcc"}, {}, {"b"}, false, false, "bc", {"b", "c"}},
      {abc, {"bc", "bcab"}, {}, {"b"}, false, false, "bc", {"b", "c"}},
      // Parts of a character.
      {bytes,
       {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x81"},
       {},
       {"\xF0", "\xF0\x9F\x98\x80"},
       false,
       false,
       "\xF0\x9F\x98",
       {}},
      {bytes,
       {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x81"},
       {"\xF0", "\x9F", "\x98"},
       {"\x80", "\x81"},
       false,
       false,
       "",
       {}},
      // A split that the vocabulary cannot finish is not begun.
      {{"a", "ab", "bc", "#"}, {"abc"}, {}, {"a"}, false, false, "abc", {"a", "bc"}},
      // The same bytes twice in the vocabulary: both, so neither is forced.
      {{"a", "a", "#"}, {"a"}, {}, {"a", "a"}, false, false, "a", {}},
      // NUL is a byte like any other.
      {{std::string(1, '\0'), "x", "#"},
       {std::string("x\0x", 3)},
       {"x"},
       {std::string(1, '\0')},
       false,
       false,
       std::string("\0x", 2),
       {std::string(1, '\0'), "x"}},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const Vocabulary vocabulary = MakeVocabulary(row.vocabulary);
    const auto set = CompileOptionSet(row.options, vocabulary);
    ASSERT_TRUE(set.has_value()) << i << ToString(set.error());
    const auto matcher = (*set)->NewMatcher();
    for (const std::string& token : row.accepted) {
      ASSERT_TRUE(matcher->Accept(Id(row.vocabulary, token))) << i;
    }
    EXPECT_EQ(Allowed(vocabulary, *matcher), row.allowed) << i;
    EXPECT_EQ(matcher->CanStop(), row.can_stop) << i;
    EXPECT_EQ(matcher->IsDone(), row.done) << i;
    EXPECT_EQ(matcher->ForcedBytes(), row.forced_bytes) << i;
    Strings forced;
    for (TokenId id : matcher->ForcedTokens()) {
      forced.push_back(row.vocabulary[static_cast<std::size_t>(id)]);
    }
    EXPECT_EQ(forced, row.forced_tokens) << i;
  }
}

TEST(OptionSet, RefusesByIndexAndLimit) {
  struct Row {
    Strings options;
    OptionSetOptions settings;
    ErrorCode code;
    std::string place;  // empty = taken
    std::string words;
  };
  const OptionSetOptions small = {.max_options = 3, .max_option_bytes = 4, .max_total_bytes = 9};
  const OptionSetOptions spaced = {.allow_leading_space = true};
  const auto kBad = ErrorCode::kInvalidArgument;
  const std::vector<Row> rows = {
      {{"a"}, {}, kBad, "", ""},
      {{}, {}, kBad, "options", "at least one option"},
      {{"a", ""}, {}, kBad, "options[1]", "may not be empty"},
      {{"a", "b", "a"}, {}, kBad, "options[2]", "equals options[0]"},
      {{"a", " a"}, {}, kBad, "", ""},
      {{"a", " a"}, spaced, kBad, "options[1]", "equals options[0] but for the leading space"},
      {{"ax"}, {}, ErrorCode::kUnsupported, "options[0]", "no tokens that spell"},
      {{"a", "b", "aa"}, small, kBad, "", ""},
      {{"a", "b", "aa", "bb"}, small, ErrorCode::kLimit, "options", "max_options is 3"},
      {{"abab"}, small, kBad, "", ""},
      {{"b", "ababa"}, small, ErrorCode::kLimit, "options[1]", "max_option_bytes is 4"},
      {{"abab", "abaa", "a"}, small, kBad, "", ""},
      {{"abab", "abaa", "bb"}, small, ErrorCode::kLimit, "options[2]", "max_total_bytes is 9"},
  };
  const Vocabulary vocabulary = MakeVocabulary({"a", "b", " ", "#"});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto set = CompileOptionSet(rows[i].options, vocabulary, rows[i].settings);
    ASSERT_EQ(set.has_value(), rows[i].place.empty()) << i;
    if (set.has_value()) continue;
    EXPECT_EQ(set.error().code, rows[i].code) << i;
    EXPECT_EQ(set.error().place, rows[i].place) << i;
    EXPECT_NE(set.error().message.find(rows[i].words), std::string::npos) << set.error().message;
  }
}

TEST(OptionSet, LeadingSpaceOnlyWhereAsked) {
  const Strings tokens = {"a", " a", " ", "#"};
  const Vocabulary vocabulary = MakeVocabulary(tokens);
  const auto exact = CompileOptionSet({"a"}, vocabulary);
  const auto spaced = CompileOptionSet({"a"}, vocabulary, {.allow_leading_space = true});
  EXPECT_EQ(Allowed(vocabulary, *(*exact)->NewMatcher()), (Strings{"a"}));
  EXPECT_EQ(Allowed(vocabulary, *(*spaced)->NewMatcher()), (Strings{"a", " a", " "}));
  EXPECT_EQ((*exact)->Find("a"), 0);
  EXPECT_EQ((*exact)->Find(" a"), std::nullopt);
  EXPECT_EQ((*spaced)->Find(" a"), 0);
  EXPECT_EQ((*spaced)->Find("  a"), std::nullopt);
  EXPECT_EQ((*spaced)->size(), 1);
}

TEST(OptionSet, RefusesTokensThatAreNotAllowed) {
  const Strings tokens = {"a", "b", "#", "<c>", "<u>"};
  const Vocabulary vocabulary = MakeVocabulary(tokens);
  const auto matcher = (*CompileOptionSet({"ab"}, vocabulary))->NewMatcher();
  for (TokenId id : {1, 2, 3, 4, 5, 7, 8, -1, 1 << 30}) EXPECT_FALSE(matcher->Accept(id)) << id;
  EXPECT_TRUE(matcher->Accept(0));
  EXPECT_EQ(Allowed(vocabulary, *matcher), (Strings{"b"}));
}

struct RandomCase {
  Strings tokens;
  Strings options;
};

// Few letters, so that options share prefixes and tokens fit; in half the cases every letter is a
// token, in the others some splits cannot be finished.
RandomCase MakeRandomCase(std::mt19937& random) {
  const auto make = [&](std::size_t most) {
    std::string text;
    for (std::size_t n = 1 + random() % most; n > 0; --n) text += "ab\xC3"[random() % 3];
    return text;
  };
  RandomCase result;
  if (random() % 2 == 0) result.tokens = {"a", "b", "\xC3"};
  for (std::size_t n = 1 + random() % 20; n > 0; --n) result.tokens.push_back(make(4));
  for (const char* special : {"#", "<c>", "<u>", "<0>"}) result.tokens.push_back(special);
  std::shuffle(result.tokens.begin(), result.tokens.end(), random);
  for (std::size_t n = 1 + random() % 6; n > 0; --n) {
    const std::string option = make(8);
    if (std::find(result.options.begin(), result.options.end(), option) == result.options.end()) {
      result.options.push_back(option);
    }
  }
  return result;
}

// Walks a random split to the end, comparing every mask with the twin's and every token's Accept
// with its bit, with rollbacks and forks on the way.
void WalkOnce(const RandomCase& c, const Vocabulary& vocabulary, const OptionSet& set,
              std::mt19937& random) {
  auto matcher = set.NewMatcher();
  std::vector<std::string> texts = {""};  // after each accepted token
  TokenMask mask(vocabulary.width());
  for (int step = 0; step < 40; ++step) {
    const bool stopped = texts.back() == "#";
    matcher->FillMask(mask);
    const TokenMask twin = stopped ? TokenMask(vocabulary.width())
                                   : TwinOptionMask(vocabulary, c.options, texts.back());
    ASSERT_EQ(mask, twin) << "after " << texts.back();
    for (TokenId id = 0; id < vocabulary.width(); ++id) {
      const auto fork = matcher->Fork();
      ASSERT_EQ(fork->Accept(id), mask.test(id)) << id;
    }
    const std::vector<TokenId> forced = matcher->ForcedTokens();
    const TokenId only = mask.count() == 1 ? mask.first() : kNoToken;
    if (only != kNoToken && !vocabulary.is_stop(only)) {
      ASSERT_FALSE(forced.empty());
      ASSERT_EQ(forced[0], only);
    } else {
      ASSERT_TRUE(forced.empty());
    }
    if (mask.none() || random() % 5 == 0) {
      const int n = static_cast<int>(random() % texts.size());
      matcher->Rollback(n);
      texts.resize(texts.size() - static_cast<std::size_t>(n));
      continue;
    }
    std::vector<TokenId> ids;
    for (TokenId id = 0; id < mask.width(); ++id) {
      if (mask.test(id)) ids.push_back(id);
    }
    const TokenId id = ids[random() % ids.size()];
    if (random() % 4 == 0) matcher = matcher->Fork();
    ASSERT_TRUE(matcher->Accept(id));
    texts.push_back(vocabulary.is_stop(id) ? "#"
                                           : texts.back() + std::string(vocabulary.bytes(id)));
  }
}

TEST(OptionSet, EqualsTheTwinOnRandomSetsAndVocabularies) {
  std::mt19937 random(11);
  int compiled = 0;
  for (int round = 0; round < 600; ++round) {
    const RandomCase c = MakeRandomCase(random);
    const Vocabulary vocabulary = MakeVocabulary(c.tokens, static_cast<int>(random() % 70));
    const auto set = CompileOptionSet(c.options, vocabulary);
    const bool spelled = std::all_of(c.options.begin(), c.options.end(), [&](const auto& option) {
      return testing::TwinSpells(vocabulary, option);
    });
    ASSERT_EQ(set.has_value(), spelled);
    if (!spelled) continue;
    ++compiled;
    WalkOnce(c, vocabulary, **set, random);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(compiled, 200);
}

TEST(OptionSet, MatchersOnSeveralThreadsAgree) {
  const Strings tokens = {"a", "b", "c", "ab", "bc", "abc", "#"};
  const Vocabulary vocabulary = MakeVocabulary(tokens);
  const Strings options = {"abcabc", "abcab", "cab", "ccc"};
  const auto set = *CompileOptionSet(options, vocabulary);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int round = 0; round < 50; ++round) {
        const auto matcher = set->NewMatcher();
        TokenMask mask(vocabulary.width());
        std::string text;
        while (!matcher->IsDone()) {
          matcher->FillMask(mask);
          if (mask != TwinOptionMask(vocabulary, options, text)) ++wrong[t];
          std::vector<TokenId> ids;
          for (TokenId id = 0; id < mask.width(); ++id) {
            if (mask.test(id)) ids.push_back(id);
          }
          const TokenId id = ids[random() % ids.size()];
          if (!matcher->Accept(id)) ++wrong[t];
          text += vocabulary.bytes(id);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

// 300 options, as one intent task after another has them, and one very long option.
TEST(OptionSet, ManyAndLongOptions) {
  Strings tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(std::string(1, static_cast<char>(byte)));
  tokens.push_back("option ");
  tokens.push_back("");
  const Vocabulary vocabulary(
      [&] {
        std::vector<Vocabulary::Entry> entries;
        for (const std::string& token : tokens) entries.push_back({token, TokenKind::kNormal});
        return entries;
      }(),
      static_cast<int>(tokens.size()), {});
  Strings options;
  for (int i = 0; i < 300; ++i) options.push_back("option " + std::to_string(i));
  options.push_back(std::string(60'000, 'x'));
  const auto set = CompileOptionSet(options, vocabulary);
  ASSERT_TRUE(set.has_value());
  const auto matcher = (*set)->NewMatcher();
  EXPECT_EQ(Allowed(vocabulary, *matcher), (Strings{"o", "x", "option "}));
  ASSERT_TRUE(matcher->Accept('x'));
  EXPECT_EQ(matcher->ForcedTokens().size(), 59'999u);
  EXPECT_EQ(matcher->ForcedBytes().size(), 59'999u);
  for (int i = 0; i < 301; ++i) EXPECT_EQ((*set)->Find(options[static_cast<std::size_t>(i)]), i);
}

}  // namespace
}  // namespace adjudge
