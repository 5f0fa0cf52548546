#include "constraints/compiler.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using Texts = std::vector<std::string>;
using Spec = ConstraintSpec;

// Every byte, some words, a stop token "<end>", a control token "<think>", and padding.
const Vocabulary& Words() {
  static const Vocabulary vocabulary = [] {
    std::vector<Vocabulary::Entry> entries;
    for (int byte = 0; byte < 256; ++byte) {
      entries.push_back({std::string(1, static_cast<char>(byte)), TokenKind::kByte});
    }
    for (const char* text : {"ab", "abc", "order", "orderId", "\"order", "{\"", "\":", "true", "aa",
                             "aaaa", "\",", "\"}", "12", "  ", "tes", "test", "te", "<think>"}) {
      entries.push_back({text, TokenKind::kNormal});
    }
    entries.push_back({"<think>", TokenKind::kControl});
    entries.push_back({"<end>", TokenKind::kControl});
    const int size = static_cast<int>(entries.size());
    return Vocabulary(std::move(entries), size + 9, {size - 1});
  }();
  return vocabulary;
}

TokenId Id(std::string_view text) {
  for (TokenId id = Words().size() - 1; id >= 0; --id) {
    if (Words().bytes(id) == text) return id;
  }
  return kNoToken;
}

const ConstraintCompiler& Compiler() {
  static const ConstraintCompiler compiler(Words());
  return compiler;
}

std::shared_ptr<const CompiledConstraint> Compile(const Spec& spec) {
  auto made = Compiler().Compile(spec);
  EXPECT_TRUE(made.has_value()) << ToString(made.error());
  return made ? *made : nullptr;
}

TEST(Compiler, SpecsAcceptWhatTheySay) {
  struct Row {
    Spec spec;
    Texts accepted;
    Texts incomplete;
    Texts refused;
  };
  const Spec word = Spec::Regex("[a-z]+");
  const Spec number = Spec::Grammar("root ::= [0-9]{1,3}");
  const std::vector<Row> rows = {
      {Spec::Choice({"yes", "no", ""}), {"yes", "no", ""}, {"y", "n"}, {"x", "yesno"}},
      {Spec::Union({word, number}), {"abc", "12"}, {""}, {"a1", "1a", "1234"}},
      {Spec::Sequence({word, number}), {"abc1", "a123"}, {"", "a"}, {"1", "a1a", "a1234"}},
      {Spec::Sequence({}), {""}, {}, {"a"}},
      {Spec::Sequence({Spec::Regex("a*"), Spec::Regex("a?b?")}),
       {"", "aaa", "aab", "b"},
       {},
       {"ba"}},
      {Spec::Intersection({word, Spec::Regex(".{3}"), Spec::Regex(".*b.*")}),
       {"abc", "xbb"},
       {"ab", ""},
       {"acdc", "ABC", "acc"}},
      {Spec::Intersection({Spec::Choice({"ab", "abc", "b"}), word}), {"ab", "b"}, {"a"}, {"c"}},
      {Spec::Tags({{"<a>", number, "</a>"}, {"<b>", word, ""}}),
       {"", "free <text", "<a>12</a>", "x<a>1</a>y<b>w and more", "<<a>1</a>", "<b>w<a>3</a>"},
       {"<a>", "x<a>1", "<a>12</a", "<b>"},
       {"<a>x", "<b>1", "<a>1</a><b>2"}},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto constraint = Compile(rows[i].spec);
    ASSERT_NE(constraint, nullptr);
    const auto verdict = [&](const std::string& text) { return constraint->Check(text)->verdict; };
    for (const auto& text : rows[i].accepted)
      EXPECT_EQ(verdict(text), Verdict::kAccepted) << i << text;
    for (const auto& text : rows[i].incomplete)
      EXPECT_EQ(verdict(text), Verdict::kIncomplete) << i << text;
    for (const auto& text : rows[i].refused)
      EXPECT_EQ(verdict(text), Verdict::kRefused) << i << text;
    const auto shortest = constraint->Shortest();
    ASSERT_TRUE(shortest.has_value() && shortest->has_value()) << i;
    EXPECT_EQ(verdict(**shortest), Verdict::kAccepted) << i;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      const auto text = constraint->Sample(seed, 20);
      ASSERT_TRUE(text.has_value());
      EXPECT_EQ(verdict(*text), Verdict::kAccepted) << i << *text;
    }
  }
}

TEST(Compiler, RefusesWithCodeAndWords) {
  struct Row {
    Spec spec;
    ErrorCode code;
    std::string words;
  };
  Spec deep = Spec::Regex("a");
  for (int i = 0; i < 60; ++i) deep = Spec::Union({deep});
  const std::vector<Row> rows = {
      {Spec::Regex("("), ErrorCode::kMalformed, "expected \")\""},
      {Spec::Regex("[]"), ErrorCode::kInvalidArgument, "no text at all"},
      {Spec::Regex("a$b"), ErrorCode::kInvalidArgument, "no text at all"},
      {Spec::Grammar("root ::= root \"a\""), ErrorCode::kInvalidArgument, "no text at all"},
      {Spec::Grammar("root ::= <nothing>"), ErrorCode::kNotFound, "<nothing>"},
      {Spec::Grammar("root ::= <[99999]>"), ErrorCode::kInvalidArgument, "99999"},
      {Spec::Grammar("root ::= <end>"), ErrorCode::kUnsupported, "stop token"},
      {Spec::Choice({}), ErrorCode::kInvalidArgument, "at least one"},
      {Spec::Union({}), ErrorCode::kInvalidArgument, "at least one"},
      {Spec::Tags({}), ErrorCode::kInvalidArgument, "at least one"},
      {Spec::Tags({{"", Spec::Regex("a"), ""}}), ErrorCode::kInvalidArgument, "begin"},
      {Spec::Intersection({Spec::Grammar("root ::= \"a\"")}), ErrorCode::kUnsupported,
       "intersected"},
      {Spec::Intersection({Spec::Regex("a"), Spec::Regex("b")}), ErrorCode::kInvalidArgument,
       "no text"},
      {Spec::Union({Spec::Grammar("root ::= <think>")}), ErrorCode::kUnsupported,
       "token terminals"},
      {deep, ErrorCode::kLimit, "max_depth"},
  };
  for (const Row& row : rows) {
    const auto made = Compiler().Compile(row.spec);
    ASSERT_FALSE(made.has_value()) << row.words;
    EXPECT_EQ(made.error().code, row.code) << ToString(made.error());
    EXPECT_NE(made.error().message.find(row.words), std::string::npos) << ToString(made.error());
  }
  EXPECT_EQ(Compiler().Compile(Spec::Choice({"a", "b"}), {.max_choices = 1}).error().code,
            ErrorCode::kLimit);
  EXPECT_EQ(Compiler().Compile(Spec::Choice({"abc"}), {.max_choice_bytes = 2}).error().code,
            ErrorCode::kLimit);
  EXPECT_TRUE(Compiler().Compile(Spec::Choice({"abc"}), {.max_choice_bytes = 3}).has_value());
}

TEST(Compiler, KeepsWhatItCompiled) {
  const ConstraintCompiler compiler(Words(), {.tokenize = nullptr, .cache_bytes = 1 << 20});
  const auto one = *compiler.Compile(Spec::Regex("a+"));
  EXPECT_EQ(one, *compiler.Compile(Spec::Regex("a+")));
  EXPECT_NE(one, *compiler.Compile(Spec::Grammar("root ::= \"a\"+")));
  SpecLimits other;
  other.constraint.work /= 2;
  EXPECT_NE(one, *compiler.Compile(Spec::Regex("a+"), other));
  const ConstraintCompiler none(Words(), {.tokenize = nullptr, .cache_bytes = 0});
  EXPECT_NE(*none.Compile(Spec::Regex("a+")), *none.Compile(Spec::Regex("a+")));
}

TEST(Matcher, AnySplitRollbackForkAndTheEnd) {
  const auto constraint =
      Compile(Spec::Grammar("root ::= \"{\\\"order\\\":\" (\"true\" | [0-9]+) \"}\""));
  std::mt19937 random(2);
  TokenMask mask(Words().width());
  for (int round = 0; round < 200; ++round) {
    auto matcher = constraint->NewMatcher();
    std::vector<TokenMask> masks;
    std::string text;
    while (!matcher->IsDone() && text.size() < 40) {
      ASSERT_TRUE(matcher->FillMask(mask).has_value());
      ASSERT_FALSE(mask.none());
      ASSERT_EQ(mask.test(Id("<end>")), matcher->CanStop());
      for (TokenId id = 0; id < mask.width(); ++id) {
        ASSERT_EQ(matcher->Fork()->Accept(id), mask.test(id)) << id;
      }
      masks.push_back(mask);
      std::vector<TokenId> ids;
      for (TokenId id = 0; id < mask.width(); ++id) {
        if (mask.test(id)) ids.push_back(id);
      }
      const TokenId id = ids[random() % ids.size()];
      ASSERT_TRUE(matcher->Accept(id));
      text += Words().bytes(id);
      if (random() % 4 == 0) {
        const int back = static_cast<int>(random() % masks.size()) + 1;
        matcher->Rollback(back);
        ASSERT_TRUE(matcher->FillMask(mask).has_value());
        ASSERT_EQ(mask, masks[masks.size() - static_cast<std::size_t>(back)]);
        masks.resize(masks.size() - static_cast<std::size_t>(back));
        text.clear();
        break;
      }
    }
    if (!matcher->IsDone()) continue;
    EXPECT_EQ(constraint->Check(text)->verdict, Verdict::kAccepted) << text;
    EXPECT_TRUE(matcher->Accept(Id("<end>")));
    EXPECT_TRUE(matcher->FillMask(mask).has_value());
    EXPECT_TRUE(mask.none());
    EXPECT_FALSE(matcher->Accept(Id("a")));
    matcher->Rollback(1);
    EXPECT_TRUE(matcher->CanStop());
  }
}

TEST(Matcher, TokenTerminals) {
  const auto constraint = Compile(Spec::Grammar("root ::= <think> (!<think>)* \"x\" <[97]>"));
  const TokenId think = Id("<think>");
  ASSERT_EQ(Words().kind(think), TokenKind::kControl);
  const auto matcher = constraint->NewMatcher();
  TokenMask mask(Words().width());
  ASSERT_TRUE(matcher->FillMask(mask).has_value());
  EXPECT_EQ(mask.count(), 1);
  EXPECT_TRUE(mask.test(think));
  EXPECT_FALSE(matcher->Accept('x'));
  ASSERT_TRUE(matcher->Accept(think));
  ASSERT_TRUE(matcher->FillMask(mask).has_value());
  EXPECT_FALSE(mask.test(think));
  EXPECT_FALSE(mask.test(Id("<end>")));
  EXPECT_EQ(mask.count(), Words().size() - 2);
  ASSERT_TRUE(matcher->Accept('x'));
  ASSERT_TRUE(matcher->Accept('a'));  // the end, or any token
  EXPECT_TRUE(matcher->CanStop());
  EXPECT_FALSE(matcher->IsDone());
  matcher->Rollback(2);
  EXPECT_FALSE(matcher->CanStop());
  // A text terminal never admits the control token of the same name.
  const auto text = Compile(Spec::Grammar("root ::= \"<think>\""))->NewMatcher();
  EXPECT_FALSE(text->Accept(think));
  EXPECT_TRUE(text->Accept(256 + 17));
}

TEST(Matcher, BudgetsAlwaysEndInTime) {
  std::mt19937 random(8);
  const Spec spec =
      Spec::Grammar("root ::= \"[\" (root (\",\" root)*)? \"]\" | [0-9]+ | \"aaaa\" [a-z]{2,}");
  const auto constraint = Compile(spec);
  EXPECT_FALSE(constraint->NewMatcher(0).has_value());
  const auto refused = Compile(Spec::Regex("(abx){10}"))->NewMatcher(19);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  EXPECT_NE(refused.error().message.find("20 tokens"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(Compile(Spec::Regex("(abx){10}"))->NewMatcher(20).has_value());
  TokenMask mask(Words().width());
  for (int round = 0; round < 150; ++round) {
    const int budget = 1 + static_cast<int>(random() % 12);
    auto matcher = *constraint->NewMatcher(budget);
    std::string text;
    int made = 0;
    while (true) {
      ASSERT_TRUE(matcher->FillMask(mask).has_value());
      ASSERT_FALSE(mask.none());
      std::vector<TokenId> ids;
      for (TokenId id = 0; id < mask.width(); ++id) {
        if (mask.test(id) && !Words().is_stop(id)) ids.push_back(id);
      }
      if (ids.empty()) break;
      ASSERT_LT(made, budget);
      const TokenId id = ids[random() % ids.size()];
      ASSERT_TRUE(matcher->Accept(id));
      text += Words().bytes(id);
      ++made;
    }
    EXPECT_EQ(constraint->Check(text)->verdict, Verdict::kAccepted) << text;
  }
}

// Greedy, longest first.
std::vector<TokenId> Greedy(std::string_view text) {
  std::vector<TokenId> ids;
  while (!text.empty()) {
    TokenId best = kNoToken;
    for (TokenId id = 0; id < Words().size(); ++id) {
      const std::string_view bytes = Words().bytes(id);
      if (Words().is_special(id) || bytes.empty() || !text.starts_with(bytes)) continue;
      if (best == kNoToken || bytes.size() > Words().bytes(best).size()) best = id;
    }
    ids.push_back(best);
    text.remove_prefix(Words().bytes(best).size());
  }
  return ids;
}

TEST(Matcher, ForcedTokensLeaveOutWhatALongerTokenCouldSpan) {
  const ConstraintCompiler compiler(Words(), {.tokenize = Greedy, .cache_bytes = 0});
  struct Row {
    std::string grammar;
    std::string bytes;
    Texts tokens;
  };
  const std::vector<Row> rows = {
      {"root ::= \"{\\\"orderId\\\":\" [0-9]", "{\"orderId\":", {"{\"", "orderId", "\":"}},
      // orderId and orderNo: "order" may begin the token orderId, so it is not forced.
      {"root ::= \"{\\\"order\" (\"Id\" | \"No\")", "{\"order", {"{\""}},
      // Of order and orderNo no token goes on.
      {"root ::= \"{\\\"order\" (\"X\" | \"No\")", "{\"order", {"{\"", "order"}},
      {"root ::= \"test\"", "test", {"test"}},
      {"root ::= \"te\" [sx]", "te", {}},
      {"root ::= \"a\" | \"b\"", "", {}},
  };
  for (const Row& row : rows) {
    const auto constraint = compiler.Compile(Spec::Grammar(row.grammar));
    ASSERT_TRUE(constraint.has_value()) << ToString(constraint.error());
    const auto matcher = (*constraint)->NewMatcher();
    EXPECT_EQ(matcher->ForcedBytes(), row.bytes);
    Texts tokens;
    for (const TokenId id : matcher->ForcedTokens()) {
      tokens.emplace_back(Words().bytes(id));
      EXPECT_TRUE(matcher->Accept(id));
    }
    EXPECT_EQ(tokens, row.tokens) << row.grammar;
  }
  // Without a tokenizer only what alone is allowed.
  const auto alone = Compile(Spec::Regex("xyz"))->NewMatcher();
  EXPECT_EQ(alone->ForcedTokens().size(), 3u);
  EXPECT_TRUE(Compile(Spec::Regex("test"))->NewMatcher()->ForcedTokens().empty());
}

TEST(Compiler, CasesOfOtherEnginesBugReports) {
  ADJUDGE_DATA_OR_SKIP(path, "constraints/cases.json");
  const auto cases = nlohmann::json::parse(testing::ReadFile(path));
  int run = 0;
  for (const auto& c : cases) {
    const std::string kind = c["kind"];
    if (kind == "json_schema") continue;
    const Spec spec = kind == "regex"     ? Spec::Regex(c["spec"])
                      : kind == "grammar" ? Spec::Grammar(c["spec"])
                                          : Spec::Choice(c["spec"].get<Texts>());
    const auto made = Compiler().Compile(spec);
    ++run;
    if (c["expect"] == "refuse") {
      EXPECT_FALSE(made.has_value()) << c["id"];
      continue;
    }
    ASSERT_TRUE(made.has_value()) << c["id"] << ToString(made.error());
    for (const std::string text : c["accept"]) {
      EXPECT_EQ((*made)->Check(text)->verdict, Verdict::kAccepted) << c["id"] << " " << text;
    }
    for (const std::string text : c["reject"]) {
      EXPECT_NE((*made)->Check(text)->verdict, Verdict::kAccepted) << c["id"] << " " << text;
    }
  }
  EXPECT_EQ(run, 14);
}

}  // namespace
}  // namespace adjudge
