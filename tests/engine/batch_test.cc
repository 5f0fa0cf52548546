#include "engine/batch.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/kv_cache.h"
#include "engine/model.h"
#include "tests/testing/fake_model_file.h"

namespace adjudge {
namespace {

class BatchTest : public ::testing::Test {
 protected:
  BatchTest() {
    ModelConfig config = testing::TinyConfig("llama");
    config.context_length = 64;
    model_ = testing::MakeFakeModel(config, {.backend = BackendKind::kReference, .threads = 1});
    cache_ = *model_->NewCache({.max_tokens = 48});
  }

  static std::vector<TokenId> Tokens(int n) {
    std::vector<TokenId> tokens;
    for (int i = 0; i < n; ++i) tokens.push_back(i * 7 % 61);
    return tokens;
  }

  std::shared_ptr<const Model> model_;
  std::shared_ptr<KvCache> cache_;
};

TEST_F(BatchTest, RefusesWhatCannotBeStagedAndChangesNothing) {
  const struct {
    const char* name;
    std::vector<TokenId> tokens;
    Wants wants;
    std::vector<int> positions;
    ErrorCode code;
    std::vector<std::string> names;  // words of the error
  } rows[] = {
      {"no tokens", {}, {}, {}, ErrorCode::kInvalidArgument, {"none"}},
      {"id past the end", {3, 61}, {}, {}, ErrorCode::kInvalidArgument, {"60", "61", "tokens[1]"}},
      {"id below zero", {-1}, {}, {}, ErrorCode::kInvalidArgument, {"-1"}},
      {"row past the end", {1, 2}, {.rows = {2}}, {}, ErrorCode::kInvalidArgument, {"found 2"}},
      {"row below zero", {1, 2}, {.rows = {-1}}, {}, ErrorCode::kInvalidArgument, {"-1"}},
      {"rows not ascending",
       {1, 2},
       {.rows = {1, 0}},
       {},
       ErrorCode::kInvalidArgument,
       {"rows[1]"}},
      {"row twice", {1, 2}, {.rows = {1, 1}}, {}, ErrorCode::kInvalidArgument, {"rows[1]"}},
      {"logit id",
       {1},
       {.rows = {0}, .logit_ids = {0, 61}},
       {},
       ErrorCode::kInvalidArgument,
       {"logit_ids[1]", "61"}},
      {"layer",
       {1},
       {.rows = {0}, .hidden_layers = {3}},
       {},
       ErrorCode::kInvalidArgument,
       {"hidden_layers[0]", "3"}},
      {"too few positions", {1, 2}, {}, {0}, ErrorCode::kInvalidArgument, {"2", "1"}},
      {"position below zero", {1, 2}, {}, {0, -1}, ErrorCode::kInvalidArgument, {"-1"}},
      {"position past the window", {1, 2}, {}, {63, 64}, ErrorCode::kLimit, {"64", "1 of 2"}},
      {"longer than the window", Tokens(65), {}, {}, ErrorCode::kLimit, {"65", "64"}},
      {"longer than the cache", Tokens(49), {}, {}, ErrorCode::kLimit, {"49", "48"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    Sequence sequence = cache_->NewSequence();
    Batch batch;
    const auto added = batch.Add(sequence, row.tokens, row.wants, row.positions);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, row.code);
    for (const std::string& name : row.names) {
      EXPECT_NE(ToString(added.error()).find(name), std::string::npos) << ToString(added.error());
    }
    EXPECT_EQ(sequence.length(), 0);
    EXPECT_EQ(cache_->used_blocks(), 0);
    EXPECT_EQ(batch.n_entries(), 0);
    EXPECT_TRUE(batch.Add(sequence, Tokens(48), {})) << "the largest that fits";
  }
}

TEST_F(BatchTest, LimitsNameWhatStillFits) {
  auto cache = *model_->NewCache({.max_tokens = 1024});
  Sequence sequence = cache->NewSequence();
  Batch first;
  ASSERT_TRUE(first.Add(sequence, Tokens(60)));
  ASSERT_TRUE(model_->Forward(first));
  Batch second;
  const auto window = second.Add(sequence, Tokens(5));
  ASSERT_FALSE(window);
  EXPECT_NE(window.error().message.find("5 tokens given, 4 fit"), std::string::npos)
      << window.error().message;
  EXPECT_TRUE(second.Add(sequence, Tokens(4)));

  Sequence a = cache_->NewSequence();
  Batch third;
  ASSERT_TRUE(third.Add(a, Tokens(10)));
  Sequence b = cache_->NewSequence();
  const auto cache_full = third.Add(b, Tokens(33));
  ASSERT_FALSE(cache_full);
  EXPECT_NE(cache_full.error().message.find("33 tokens given, 32 fit"), std::string::npos)
      << cache_full.error().message;
  EXPECT_EQ(cache_->used_blocks(), 1) << "nothing is kept of what did not fit";
  EXPECT_TRUE(third.Add(b, Tokens(32)));
  ASSERT_TRUE(model_->Forward(third));
  Batch fourth;
  const auto own_block = fourth.Add(a, Tokens(7));
  ASSERT_FALSE(own_block);
  EXPECT_NE(own_block.error().message.find("7 tokens given, 6 fit"), std::string::npos)
      << own_block.error().message;
}

TEST_F(BatchTest, StagedTokensCountAtOnceAndGoBackWithTheBatch) {
  Sequence sequence = cache_->NewSequence();
  {
    Batch batch;
    EXPECT_EQ(*batch.Add(sequence, Tokens(20)), 0);
    EXPECT_EQ(sequence.length(), 20);
    EXPECT_EQ(sequence.next_position(), 20);
    Sequence fork = *sequence.Fork(18);
    EXPECT_EQ(*batch.Add(fork, Tokens(3)), 1);
    EXPECT_EQ(batch.n_entries(), 2);
    EXPECT_EQ(batch.n_tokens(), 23);
    EXPECT_FALSE(sequence.Truncate(10)) << "staged tokens cannot be cut";
    Batch moved(std::move(batch));
    EXPECT_EQ(sequence.length(), 20) << "moving a batch keeps its tokens";
    EXPECT_EQ(batch.n_entries(), 0);
  }
  EXPECT_EQ(sequence.length(), 0);
  EXPECT_EQ(cache_->used_blocks(), 0);
  Batch first;
  ASSERT_TRUE(first.Add(sequence, Tokens(5)));
  first = Batch();
  EXPECT_EQ(sequence.length(), 0) << "assignment drops what was staged";
}

TEST_F(BatchTest, OneSequenceOnceAndOneRunABatch) {
  Sequence sequence = cache_->NewSequence();
  Batch batch, other;
  ASSERT_TRUE(batch.Add(sequence, Tokens(2)));
  EXPECT_FALSE(batch.Add(sequence, Tokens(2)));
  EXPECT_FALSE(other.Add(sequence, Tokens(2)));
  ASSERT_TRUE(model_->Forward(batch));
  EXPECT_FALSE(model_->Forward(batch));
  Sequence more = cache_->NewSequence();
  EXPECT_FALSE(batch.Add(more, Tokens(2)));
  EXPECT_TRUE(other.Add(sequence, Tokens(2))) << "a computed sequence may go on";
  EXPECT_EQ(sequence.length(), 4);
}

TEST_F(BatchTest, TokensThatWereNeverComputedCannotBeSeen) {
  Sequence parent = cache_->NewSequence();
  Sequence orphan;
  {
    Batch dropped;
    ASSERT_TRUE(dropped.Add(parent, Tokens(5)));
    orphan = *parent.Fork(4);
  }
  Batch batch;
  ASSERT_TRUE(batch.Add(orphan, Tokens(2), Wants::LastLogits(2)));
  const auto output = model_->Forward(batch);
  ASSERT_FALSE(output);
  EXPECT_NE(ToString(output.error()).find("token 0"), std::string::npos);
  EXPECT_EQ(orphan.length(), 6) << "on error the tokens stay staged";

  // In another batch than the parent's: refused; in the same one: computed.
  Batch of_parent, of_fork;
  ASSERT_TRUE(of_parent.Add(parent, Tokens(5)));
  Sequence fork = *parent.Fork(5);
  ASSERT_TRUE(of_fork.Add(fork, Tokens(1)));
  EXPECT_FALSE(model_->Forward(of_fork));
  ASSERT_TRUE(model_->Forward(of_parent));
  EXPECT_TRUE(model_->Forward(of_fork)) << "once the parent was computed";
}

TEST_F(BatchTest, AnotherModelsSequenceIsRefused) {
  const auto other = testing::MakeFakeModel(testing::TinyConfig("llama"),
                                            {.backend = BackendKind::kReference, .threads = 1});
  Sequence sequence = cache_->NewSequence();
  Batch batch;
  ASSERT_TRUE(batch.Add(sequence, Tokens(2)));
  const auto output = other->Forward(batch);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(model_->Forward(batch));
}

TEST_F(BatchTest, AnEmptyBatchGivesNothing) {
  Batch batch;
  const auto output = model_->Forward(batch);
  ASSERT_TRUE(output);
  EXPECT_TRUE(output->entries.empty());
}

TEST_F(BatchTest, StoppedPassesReachNoFurther) {
  const struct {
    int stop;
    Wants wants;
    bool ok;
  } rows[] = {
      {0, {}, false},
      {4, {}, false},
      {2, {.rows = {0}, .logits = true}, false},
      {2, {.rows = {0}, .logit_ids = {1}}, false},
      {2, {.rows = {0}, .log_sum_exp = true}, false},
      {2, {.rows = {0}, .hidden = true}, false},
      {2, {.rows = {0}, .hidden_layers = {2}}, false},
      {2, {.rows = {0}, .hidden_layers = {1}}, true},
      {3, {.rows = {0}, .hidden_layers = {2, 0}}, true},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    Sequence sequence = cache_->NewSequence();
    Batch batch;
    ASSERT_TRUE(batch.Add(sequence, Tokens(2), rows[i].wants));
    batch.StopAfterLayers(rows[i].stop);
    EXPECT_EQ(model_->Forward(batch).has_value(), rows[i].ok) << "row " << i;
  }
  // What was computed half way can be gone on with half way alone.
  Sequence sequence = cache_->NewSequence();
  Batch half;
  ASSERT_TRUE(half.Add(sequence, Tokens(3)));
  half.StopAfterLayers(2);
  ASSERT_TRUE(model_->Forward(half));
  Batch again, whole;
  Sequence fork = *sequence.Fork(3);
  ASSERT_TRUE(again.Add(sequence, Tokens(1)));
  again.StopAfterLayers(2);
  EXPECT_TRUE(model_->Forward(again));
  ASSERT_TRUE(whole.Add(fork, Tokens(1)));
  const auto refused = model_->Forward(whole);
  ASSERT_FALSE(refused);
  EXPECT_NE(ToString(refused.error()).find("through 2 of the 3 layers"), std::string::npos);
}

}  // namespace
}  // namespace adjudge
