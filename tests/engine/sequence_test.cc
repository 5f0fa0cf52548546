#include "engine/sequence.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "engine/batch.h"
#include "engine/kv_cache.h"
#include "engine/model.h"
#include "tests/testing/fake_model_file.h"

namespace adjudge {
namespace {

constexpr int kBlock = KvCache::kBlockTokens;

class SequenceTest : public ::testing::Test {
 protected:
  SequenceTest()
      : model_(testing::MakeFakeModel(testing::TinyConfig("llama"),
                                      {.backend = BackendKind::kReference, .threads = 1})),
        cache_(*model_->NewCache({.max_tokens = 8 * kBlock})) {}

  static std::vector<TokenId> Tokens(int n, int first = 0) {
    std::vector<TokenId> tokens(static_cast<std::size_t>(n));
    std::iota(tokens.begin(), tokens.end(), first);
    return tokens;
  }

  void Run(Sequence& sequence, std::span<const TokenId> tokens,
           std::span<const int> positions = {}) {
    Batch batch;
    const auto added = batch.Add(sequence, tokens, {}, positions);
    ASSERT_TRUE(added) << ToString(added.error());
    const auto output = model_->Forward(batch);
    ASSERT_TRUE(output) << ToString(output.error());
  }

  std::shared_ptr<const Model> model_;
  std::shared_ptr<KvCache> cache_;
};

TEST_F(SequenceTest, EmptyHandlesHaveNoTokensAndNoForks) {
  Sequence nothing;
  EXPECT_EQ(nothing.length(), 0);
  EXPECT_EQ(nothing.next_position(), 0);
  EXPECT_TRUE(nothing.tokens().empty());
  EXPECT_FALSE(nothing.Fork(0));
  EXPECT_FALSE(nothing.Truncate(0));
  Batch batch;
  EXPECT_FALSE(batch.Add(nothing, Tokens(1)));
}

TEST_F(SequenceTest, ForkSharesBlocksAndNobodySeesTheOthersTokens) {
  for (const int shared : {0, 1, 15, 16, 17, 30}) {
    Sequence parent = cache_->NewSequence();
    Run(parent, Tokens(30));
    const auto before = cache_->used_blocks();
    EXPECT_EQ(before, 2);
    Sequence fork = *parent.Fork(shared);
    EXPECT_EQ(cache_->used_blocks(), before) << "a fork copies nothing";
    EXPECT_EQ(fork.length(), shared);
    EXPECT_EQ(fork.next_position(), shared);
    Run(fork, Tokens(3, 40));
    Run(parent, Tokens(3, 50));
    std::vector<TokenId> of_fork = Tokens(shared);
    for (int i = 0; i < 3; ++i) of_fork.push_back(40 + i);
    std::vector<TokenId> of_parent = Tokens(30);
    for (int i = 0; i < 3; ++i) of_parent.push_back(50 + i);
    EXPECT_EQ(fork.tokens(), of_fork);
    EXPECT_EQ(parent.tokens(), of_parent);
  }
  EXPECT_EQ(cache_->used_blocks(), 0);
}

TEST_F(SequenceTest, BlocksGoBackWithTheLastSequenceThatSeesThem) {
  Sequence parent = cache_->NewSequence();
  Run(parent, Tokens(40));
  EXPECT_EQ(cache_->used_blocks(), 3);
  Sequence fork = *parent.Fork(20);
  parent = cache_->NewSequence();
  EXPECT_EQ(cache_->used_blocks(), 2) << "what the fork does not see is free";
  ASSERT_TRUE(fork.Truncate(16));
  EXPECT_EQ(cache_->used_blocks(), 1);
  fork = Sequence();
  EXPECT_EQ(cache_->used_blocks(), 0);
  EXPECT_EQ(cache_->free_tokens(), cache_->max_tokens());
}

TEST_F(SequenceTest, TruncateReusesCellsThatNobodyElseSees) {
  Sequence sequence = cache_->NewSequence();
  Run(sequence, Tokens(10));
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(sequence.Truncate(4));
    Run(sequence, Tokens(6));
    EXPECT_EQ(cache_->used_blocks(), 1);
  }
  Sequence fork = *sequence.Fork(10);
  ASSERT_TRUE(sequence.Truncate(4));
  Run(sequence, Tokens(6, 30));
  EXPECT_EQ(cache_->used_blocks(), 2);
  EXPECT_EQ(fork.tokens()[4], 0) << "the fork keeps its tokens";
  EXPECT_EQ(sequence.tokens()[4], 30);
}

TEST_F(SequenceTest, LengthsOutsideTheSequenceAreRefused) {
  Sequence sequence = cache_->NewSequence();
  Run(sequence, Tokens(5));
  for (const int bad : {-1, 6, 1 << 30}) {
    EXPECT_FALSE(sequence.Fork(bad)) << bad;
    EXPECT_FALSE(sequence.Truncate(bad)) << bad;
  }
  EXPECT_TRUE(sequence.Truncate(5));
  EXPECT_TRUE(sequence.Truncate(0));
  EXPECT_EQ(sequence.next_position(), 0);
}

TEST_F(SequenceTest, JoinKeepsTheOrderAndTheLargestPosition) {
  Sequence a = cache_->NewSequence();
  Run(a, Tokens(20));
  Sequence b = *a.Fork(18);
  Run(b, Tokens(4, 50));  // positions 18 to 21
  const SequenceRange ranges[] = {{&b, 18, 22}, {&a, 0, 3}, {&a, 3, 3}, {&a, 17, 20}};
  Sequence joined = *Sequence::Join(ranges);
  EXPECT_EQ(joined.tokens(), (std::vector<TokenId>{50, 51, 52, 53, 0, 1, 2, 17, 18, 19}));
  EXPECT_EQ(joined.positions(), (std::vector<int>{18, 19, 20, 21, 0, 1, 2, 17, 18, 19}));
  EXPECT_EQ(joined.next_position(), 22);
  Run(joined, Tokens(2, 7));
  EXPECT_EQ(joined.next_position(), 24);
  EXPECT_EQ(joined.Fork(10)->next_position(), 22) << "cut back to the join";
  EXPECT_EQ(joined.Fork(9)->next_position(), 19);
  ASSERT_TRUE(joined.Truncate(10));
  EXPECT_EQ(joined.next_position(), 22);
  EXPECT_EQ(a.length(), 20);
  EXPECT_EQ(b.length(), 22);
}

TEST_F(SequenceTest, JoinRefusesWhatIsNotThere) {
  Sequence a = cache_->NewSequence();
  Run(a, Tokens(3));
  auto other_cache = *model_->NewCache();
  Sequence other = other_cache->NewSequence();
  Sequence nothing;
  const SequenceRange good{&a, 0, 2};
  const struct {
    const char* name;
    std::vector<SequenceRange> ranges;
  } rows[] = {
      {"none", {}},
      {"null", {good, {nullptr, 0, 0}}},
      {"no cache", {{&nothing, 0, 0}}},
      {"begin below 0", {{&a, -1, 2}}},
      {"end past the tokens", {{&a, 0, 4}}},
      {"turned round", {{&a, 2, 1}}},
      {"another cache", {good, {&other, 0, 0}}},
  };
  for (const auto& row : rows) {
    const auto joined = Sequence::Join(row.ranges);
    ASSERT_FALSE(joined) << row.name;
    EXPECT_EQ(joined.error().code, ErrorCode::kInvalidArgument) << row.name;
  }
}

TEST_F(SequenceTest, CacheCeilingCountsWholeBlocks) {
  const struct {
    std::int64_t asked;
    std::int64_t tokens;
  } rows[] = {{1, 16}, {16, 16}, {17, 32}, {0, 16 * 256}, {INT64_MAX, std::int64_t{1} << 52}};
  for (const auto& row : rows) {
    const auto cache = model_->NewCache({.max_tokens = row.asked});
    ASSERT_TRUE(cache) << row.asked;
    EXPECT_EQ((*cache)->max_tokens(), row.tokens) << row.asked;
    EXPECT_EQ((*cache)->free_tokens(), row.tokens) << row.asked;
  }
  EXPECT_FALSE(model_->NewCache({.max_tokens = -1}));
  EXPECT_EQ(cache_->bytes_per_token(), 3 * 2 * 16 * 4);
}

TEST_F(SequenceTest, SequencesKeepTheirCacheAndModelMemoryAlive) {
  Sequence sequence = cache_->NewSequence();
  Run(sequence, Tokens(20));
  cache_.reset();
  model_.reset();
  EXPECT_EQ(sequence.tokens(), Tokens(20));
  Sequence fork = *sequence.Fork(10);
  sequence = Sequence();
  EXPECT_EQ(fork.length(), 10);
}

}  // namespace
}  // namespace adjudge
