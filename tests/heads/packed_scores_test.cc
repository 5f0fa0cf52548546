#include "heads/packed_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "engine/batch.h"
#include "heads/answer.h"
#include "heads/readout/token_trie.h"
#include "tests/testing/fake_model_file.h"
#include "tests/testing/toy_model.h"

namespace adjudge {
namespace {

using Tokens = std::vector<TokenId>;

TEST(TokenTrieTest, EachSharedBeginningOnce) {
  struct Case {
    const char* name;
    std::vector<Tokens> continuations;
    bool end;
    std::size_t computed;  // tokens, the tail's 2 included
    std::size_t segments;
  };
  const Case cases[] = {
      {"single tokens need nothing but the tail", {{5}, {6}, {7}}, false, 2, 1},
      {"with ends each is computed", {{5}, {6}, {7}}, true, 5, 4},
      {"one long text rides in the tail's fork", {{5, 6, 7, 8}}, false, 5, 1},
      {"shared beginning", {{5, 6, 7}, {5, 6, 8}}, false, 4, 1},
      {"branches", {{5, 6, 7}, {5, 8, 9}, {10, 11}}, false, 6, 5},
      {"one begins another", {{5}, {5, 6}}, false, 3, 1},
      {"one begins another, ends", {{5}, {5, 6}}, true, 4, 1},
      {"the same twice", {{5, 6}, {5, 6}}, false, 3, 1},
      {"cut after many rows", {Tokens(300, 5)}, false, 301, 3},
  };
  for (const Case& c : cases) {
    ContinuationSet set{.tail = {1, 2}, .continuations = c.continuations};
    if (c.end) set.end_ids = {3};
    const TokenTrie trie = BuildTokenTrie(set);
    std::size_t computed = 0;
    for (std::size_t i = 0; i < trie.segments.size(); ++i) {
      computed += trie.segments[i].tokens.size();
      EXPECT_LT(trie.segments[i].parent, static_cast<int>(i)) << c.name;
    }
    EXPECT_EQ(computed, c.computed) << c.name;
    EXPECT_EQ(trie.segments.size(), c.segments) << c.name;
    EXPECT_EQ(LongestPath(0, set), [&] {
      std::size_t longest = 0;
      for (const Tokens& t : c.continuations) longest = std::max(longest, t.size());
      return static_cast<int>(2 + longest - (c.end ? 0 : 1));
    }()) << c.name;
  }
}

// One continuation alone on a fresh cache, a single sequence, whole rows of logits.
ContinuationScores Twin(const Model& model, const Tokens& prefix, const ContinuationSet& set) {
  ContinuationScores scores;
  for (const Tokens& continuation : set.continuations) {
    const auto cache = *model.NewCache();
    Sequence sequence = cache->NewSequence();
    Tokens all = prefix;
    all.insert(all.end(), set.tail.begin(), set.tail.end());
    const std::size_t begin = all.size();
    all.insert(all.end(), continuation.begin(), continuation.end());
    Wants wants{.logits = true, .log_sum_exp = true};
    for (std::size_t i = 0; i < all.size(); ++i) wants.rows.push_back(static_cast<int>(i));
    Batch batch;
    EXPECT_TRUE(batch.Add(sequence, all, wants));
    const auto output = model.Forward(batch);
    const EntryOutput& entry = output->entries[0];
    const std::size_t width = static_cast<std::size_t>(model.config().vocab_size);
    const auto logprob = [&](std::size_t row, TokenId id) {
      return static_cast<double>(entry.logits[row * width + static_cast<std::size_t>(id)]) -
             entry.log_sum_exp[row];
    };
    std::vector<double>& tokens = scores.token_logprobs.emplace_back();
    for (std::size_t i = begin; i < all.size(); ++i) tokens.push_back(logprob(i - 1, all[i]));
    if (!set.end_ids.empty()) {
      std::vector<double> ends;
      for (const TokenId id : set.end_ids) ends.push_back(logprob(all.size() - 1, id));
      scores.end_logprobs.push_back(LogSumExp(ends));
    }
  }
  return scores;
}

Tokens RandomTokens(std::mt19937& random, std::size_t n, int vocab_size) {
  Tokens tokens;
  for (std::size_t i = 0; i < n; ++i) {
    tokens.push_back(static_cast<TokenId>(random() % static_cast<unsigned>(vocab_size)));
  }
  return tokens;
}

std::vector<ContinuationSet> RandomSets(std::mt19937& random, int n) {
  std::vector<ContinuationSet> sets;
  for (int s = 0; s < n; ++s) {
    ContinuationSet set{.tail = RandomTokens(random, 1 + random() % 20, 61)};
    if (random() % 2 == 0) set.end_ids = {3, 17};
    const unsigned alphabet = 2 + random() % 4;  // few tokens, so that beginnings are shared
    for (unsigned i = 0; i < 1 + random() % 9; ++i) {
      Tokens text;
      for (unsigned k = 0; k < 1 + random() % 6; ++k) {
        text.push_back(static_cast<TokenId>(20 + random() % alphabet));
      }
      set.continuations.push_back(text);
    }
    sets.push_back(set);
  }
  return sets;
}

void ExpectSame(const ContinuationScores& a, const ContinuationScores& b, const std::string& what) {
  EXPECT_EQ(a.token_logprobs, b.token_logprobs) << what;
  EXPECT_EQ(a.end_logprobs, b.end_logprobs) << what;
}

class PackedScoresTest : public ::testing::TestWithParam<const char*> {};

TEST_P(PackedScoresTest, BitsDoNotDependOnCompanyPackingOrCache) {
  const auto model = testing::MakeFakeModel(testing::TinyConfig(GetParam()),
                                            {.backend = BackendKind::kReference, .threads = 1});
  std::mt19937 random(11);
  auto session = *DecisionSession::Make(model);
  for (int round = 0; round < 6; ++round) {
    const Tokens prefix = RandomTokens(random, random() % 40, 61);
    std::vector<ContinuationSet> sets = RandomSets(random, 5);
    std::vector<ContinuationScores> expected;
    for (const ContinuationSet& set : sets) expected.push_back(Twin(*model, prefix, set));

    for (const PackOptions& options :
         {PackOptions{}, PackOptions{.max_pass_tokens = 1}, PackOptions{.max_pass_tokens = 7},
          PackOptions{.max_pass_tokens = 64, .max_pass_rows = 3}}) {
      const auto packed = ScorePacked(session, prefix, sets, options);
      ASSERT_TRUE(packed) << ToString(packed.error());
      for (std::size_t i = 0; i < sets.size(); ++i) {
        ExpectSame(packed->sets[i], expected[i],
                   "packed, passes of " + std::to_string(options.max_pass_tokens));
      }
      if (options.max_pass_tokens > 1000) {
        EXPECT_EQ(packed->usage.forward_passes, 1);
      } else {
        EXPECT_GT(packed->usage.forward_passes, 1);
        EXPECT_EQ(packed->usage.cached_tokens, static_cast<int>(prefix.size()));
      }
    }
    // Alone, and from the middle of a state that was kept.
    for (std::size_t i = 0; i < sets.size(); ++i) {
      Tokens other(prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(prefix.size() / 2));
      other.push_back(7);
      ASSERT_TRUE(ScorePacked(session, other, std::span(&sets[0], 1)));
      const auto alone = ScorePacked(session, prefix, std::span(&sets[i], 1));
      ASSERT_TRUE(alone);
      ExpectSame(alone->sets[0], expected[i], "alone");
    }
    std::reverse(sets.begin(), sets.end());
    session.Forget();
    const auto reversed = ScorePacked(session, prefix, sets);
    ASSERT_TRUE(reversed);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      ExpectSame(reversed->sets[i], expected[sets.size() - 1 - i], "reversed");
    }
  }
}

TEST_P(PackedScoresTest, ManyPrefixesInOnePassGiveTheBitsOfEachAlone) {
  const auto model = testing::MakeFakeModel(testing::TinyConfig(GetParam()),
                                            {.backend = BackendKind::kReference, .threads = 1});
  std::mt19937 random(13);
  for (const std::size_t n : {std::size_t{2}, std::size_t{9}, std::size_t{64}}) {
    // Beginnings shared by all, by some for longer than a block, by some for less, and by none; the
    // same prefix twice and one that begins another among them.
    std::vector<Tokens> prefixes = {{}};
    while (prefixes.size() < n) {
      Tokens prefix = prefixes[random() % prefixes.size()];
      prefix.resize(random() % (prefix.size() + 1));
      const Tokens more = RandomTokens(random, random() % 40, 61);
      prefix.insert(prefix.end(), more.begin(), more.end());
      prefixes.push_back(prefix);
    }
    prefixes[0] = prefixes.back();
    if (n == 9) {
      for (Tokens& prefix : prefixes) prefix.insert(prefix.begin(), {5, 6, 7});
    }
    std::shuffle(prefixes.begin(), prefixes.end(), random);
    std::vector<std::vector<ContinuationSet>> sets;
    std::vector<ScoredPrompt> prompts;
    for (std::size_t i = 0; i < n; ++i) {
      sets.push_back(RandomSets(random, 1 + static_cast<int>(random() % 3)));
    }
    for (std::size_t i = 0; i < n; ++i) prompts.push_back({prefixes[i], sets[i]});
    auto session = *DecisionSession::Make(model);
    for (const PackOptions& options :
         {PackOptions{}, PackOptions{.max_pass_tokens = 7}, PackOptions{.max_pass_tokens = 300}}) {
      const int passes_before = session.passes();
      const auto packed = ScorePrompts(session, prompts, options);
      ASSERT_TRUE(packed) << ToString(packed.error());
      ASSERT_EQ(packed->size(), n);
      if (options.max_pass_tokens > 1000 && n < 64) {
        EXPECT_EQ(session.passes() - passes_before, 1);
      }
      for (std::size_t i = 0; i < n; ++i) {
        auto own = *DecisionSession::Make(model);
        const auto alone = ScorePacked(own, prefixes[i], sets[i]);
        ASSERT_TRUE(alone);
        EXPECT_EQ((*packed)[i].usage.prompt_tokens, alone->usage.prompt_tokens);
        EXPECT_LE((*packed)[i].usage.cached_tokens, static_cast<int>(prefixes[i].size()));
        for (std::size_t s = 0; s < sets[i].size(); ++s) {
          ExpectSame((*packed)[i].sets[s], alone->sets[s], "prompt " + std::to_string(i));
        }
      }
    }
  }
}

TEST_P(PackedScoresTest, SmallCacheTakesMorePassesAndGivesTheSame) {
  const auto model = testing::MakeFakeModel(testing::TinyConfig(GetParam()),
                                            {.backend = BackendKind::kReference, .threads = 1});
  std::mt19937 random(12);
  const Tokens prefix = RandomTokens(random, 30, 61);
  const std::vector<ContinuationSet> sets = RandomSets(random, 12);
  auto roomy = *DecisionSession::Make(model);
  auto narrow = *DecisionSession::Make(model, {.max_tokens = 16 * 14});
  const auto expected = ScorePacked(roomy, prefix, sets);
  const auto found = ScorePacked(narrow, prefix, sets);
  ASSERT_TRUE(expected);
  ASSERT_TRUE(found) << ToString(found.error());
  for (std::size_t i = 0; i < sets.size(); ++i) {
    ExpectSame(found->sets[i], expected->sets[i], "narrow");
  }
  EXPECT_GT(found->usage.forward_passes, expected->usage.forward_passes);
  EXPECT_EQ(found->usage.prompt_tokens, expected->usage.prompt_tokens);
  EXPECT_EQ(narrow.cache().used_blocks(), 2) << "only the prefix is kept";
}

INSTANTIATE_TEST_SUITE_P(Architectures, PackedScoresTest,
                         ::testing::ValuesIn(testing::kArchitectures));

std::shared_ptr<const Model> UniformToy(int context_length = 64) {
  return testing::MakeToyModel(10, context_length,
                               [](std::span<const TokenId>) { return std::vector<float>(10, 0); });
}

TEST(PackedScoresErrorTest, NamesWhatIsWrong) {
  struct Case {
    ContinuationSet set;
    ErrorCode code;
    std::string named;
  };
  const Case cases[] = {
      {{.continuations = {{1}}}, ErrorCode::kInvalidArgument, "tail is empty"},
      {{.tail = {1}}, ErrorCode::kInvalidArgument, "no continuation"},
      {{.tail = {1}, .continuations = {{1}, {}}},
       ErrorCode::kInvalidArgument,
       "continuation is empty"},
      {{.tail = {10}, .continuations = {{1}}}, ErrorCode::kInvalidArgument, "vocabulary of 10"},
      {{.tail = {1}, .continuations = {{-1}}}, ErrorCode::kInvalidArgument, "vocabulary of 10"},
      {{.tail = {1}, .continuations = {{1}}, .end_ids = {99}},
       ErrorCode::kInvalidArgument,
       "vocabulary of 10"},
      {{.tail = Tokens(63, 1), .continuations = {{1, 2}}}, ErrorCode::kLimit, "65 tokens"},
  };
  auto session = *DecisionSession::Make(UniformToy());
  const Tokens prefix = {1};
  for (const Case& c : cases) {
    const ContinuationSet sets[] = {{.tail = {1}, .continuations = {{1}}}, c.set};
    const auto scores = ScorePacked(session, prefix, sets);
    ASSERT_FALSE(scores) << c.named;
    EXPECT_EQ(scores.error().code, c.code) << c.named;
    EXPECT_EQ(scores.error().place, "set 1");
    EXPECT_NE(scores.error().message.find(c.named), std::string::npos) << ToString(scores.error());
  }
  EXPECT_FALSE(ScorePacked(session, prefix, {}));
  const ContinuationSet fits{.tail = Tokens(63, 1), .continuations = {{2}}};
  EXPECT_TRUE(ScorePacked(session, prefix, std::span(&fits, 1))) << "exactly the window";
}

TEST(PackedScoresErrorTest, NamesThePromptAmongMany) {
  auto session = *DecisionSession::Make(UniformToy());
  const Tokens short_prefix = {1};
  const Tokens long_prefix(64, 1);
  const ContinuationSet set{.tail = {1}, .continuations = {{2}}};
  const ScoredPrompt prompts[] = {{short_prefix, std::span(&set, 1)},
                                  {long_prefix, std::span(&set, 1)}};
  EXPECT_EQ(ScorePrompts(session, prompts).error().place, "prompt 1, set 0");
  EXPECT_FALSE(ScorePrompts(session, {}));
  const ScoredPrompt nothing[] = {{short_prefix, std::span(&set, 1)}, {long_prefix, {}}};
  EXPECT_EQ(ScorePrompts(session, nothing).error().place, "prompt 1");
}

TEST(PackedScoresErrorTest, LogitsThatAreNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const auto model = testing::MakeToyModel(10, 64, [bad](std::span<const TokenId> visible) {
      std::vector<float> logits(10, 0);
      if (visible.size() == 3) logits[4] = bad;
      return logits;
    });
    auto session = *DecisionSession::Make(model);
    const ContinuationSet sets[] = {{.tail = {1}, .continuations = {{2}}},
                                    {.tail = {1, 2}, .continuations = {{3}}}};
    const auto scores = ScorePacked(session, Tokens{1}, sets);
    ASSERT_FALSE(scores);
    EXPECT_EQ(scores.error().code, ErrorCode::kNotFinite);
    EXPECT_EQ(scores.error().place, "set 1");
  }
}

TEST(PackedScoresErrorTest, CacheTooSmallForOnePath) {
  auto session = *DecisionSession::Make(UniformToy(), {.max_tokens = 16});
  const ContinuationSet set{.tail = Tokens(20, 1), .continuations = {{2}}};
  const auto scores = ScorePacked(session, Tokens{1}, std::span(&set, 1));
  ASSERT_FALSE(scores);
  EXPECT_EQ(scores.error().code, ErrorCode::kLimit);
}

TEST(PackedScoresTest, CancelledSessionGivesTheSameBitsLater) {
  const auto model = testing::MakeFakeModel(testing::TinyConfig("llama"));
  const Tokens prefix = {1, 2, 3, 4};
  const ContinuationSet set{.tail = {5, 6}, .continuations = {{7, 8}, {9}}};
  DecisionSession whole = *DecisionSession::Make(model);
  const auto expected = ScorePacked(whole, prefix, std::span(&set, 1));
  ASSERT_TRUE(expected);

  std::atomic<bool> cancel{true};
  DecisionSession session = *DecisionSession::Make(model);
  session.CancelWith(&cancel);
  const auto cancelled = ScorePacked(session, prefix, std::span(&set, 1));
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(session.kept().length(), 0);
  cancel = false;
  const auto later = ScorePacked(session, prefix, std::span(&set, 1));
  ASSERT_TRUE(later) << ToString(later.error());
  EXPECT_EQ(later->sets[0].token_logprobs, expected->sets[0].token_logprobs);
  EXPECT_EQ(later->usage.forward_passes, 1);
}

}  // namespace
}  // namespace adjudge
