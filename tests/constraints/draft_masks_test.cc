// Draft trees: the masks of a tree's nodes are those of walking to each node alone.
#include <gtest/gtest.h>

#include <random>

#include "constraints/option_set.h"

namespace adjudge {
namespace {

Vocabulary Letters() {
  std::vector<Vocabulary::Entry> entries;
  for (const char* text : {"a", "b", "c", "ab", "bc", "abc", "<end>"}) entries.push_back({text});
  entries.back().kind = TokenKind::kControl;
  return Vocabulary(std::move(entries), 9, {6});
}

TEST(DraftMasks, EqualWalkingToEachNodeAlone) {
  const Vocabulary vocabulary = Letters();
  const auto set = *CompileOptionSet({"abcabc", "abcab", "bca", "bcb", "c"}, vocabulary);
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const int n = static_cast<int>(random() % 12);
    std::vector<TokenId> tokens;
    std::vector<int> parents;
    for (int i = 0; i < n; ++i) {
      tokens.push_back(static_cast<TokenId>(random() % 8));
      parents.push_back(static_cast<int>(random() % static_cast<unsigned>(i + 1)) - 1);
    }
    std::vector<TokenMask> masks(tokens.size(), TokenMask(vocabulary.width()));
    const auto matcher = set->NewMatcher();
    TokenMask before(vocabulary.width());
    TokenMask after(vocabulary.width());
    ASSERT_TRUE(matcher->FillMask(before).has_value());
    ASSERT_TRUE(FillDraftMasks(*matcher, tokens, parents, masks).has_value());
    ASSERT_TRUE(matcher->FillMask(after).has_value());
    EXPECT_EQ(before, after);
    for (int i = 0; i < n; ++i) {
      std::vector<TokenId> path;
      for (int at = i; at >= 0; at = parents[static_cast<std::size_t>(at)]) {
        path.insert(path.begin(), tokens[static_cast<std::size_t>(at)]);
      }
      const auto alone = set->NewMatcher();
      bool allowed = true;
      for (const TokenId id : path) allowed = allowed && alone->Accept(id);
      TokenMask expected(vocabulary.width());
      ASSERT_TRUE(!allowed || alone->FillMask(expected).has_value());
      EXPECT_EQ(masks[static_cast<std::size_t>(i)], expected) << round << " node " << i;
    }
  }
}

}  // namespace
}  // namespace adjudge
