// A pass that is cancelled on its way leaves everything as it was.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "engine/batch.h"
#include "engine/generate.h"
#include "engine/kv_cache.h"
#include "engine/model.h"
#include "engine/model/transformer.h"
#include "engine/reference/reference_backend.h"
#include "tests/testing/fake_model_file.h"

namespace adjudge {
namespace {

using testing::FakeModelFile;
using testing::TinyConfig;

constexpr int kLayers = 3;   // of TinyConfig
constexpr int kTokens = 40;  // of the prompt

// When a flag is raised: at the n-th write of keys and values, once for each layer of a chunk.
struct Trigger {
  std::atomic<bool> flag{false};
  int writes_left = -1;  // -1 = never
};

// The reference, which raises the flag in the middle of its work.
class RaisingBackend final : public Backend {
 public:
  explicit RaisingBackend(Trigger& trigger) : trigger_(trigger), inner_(NewReferenceBackend(1)) {}

  std::string_view name() const override { return inner_->name(); }
  std::unique_ptr<Buffer> NewBuffer(std::int64_t n) override { return inner_->NewBuffer(n); }
  Result<std::unique_ptr<PackedWeight>> Pack(std::span<const TensorView> stacked) override {
    return inner_->Pack(stacked);
  }
  std::unique_ptr<KvBlock> NewKvBlock(int n_layers, int block_tokens, int kv_dim) override {
    return inner_->NewKvBlock(n_layers, block_tokens, kv_dim);
  }
  void Embed(const PackedWeight& weight, std::span<const int> ids, float scale,
             float* out) override {
    inner_->Embed(weight, ids, scale, out);
  }
  void RmsNorm(const float* x, std::span<const float> gain, float eps, int n, float* out) override {
    inner_->RmsNorm(x, gain, eps, n, out);
  }
  void MatMul(const PackedWeight& weight, const float* x, int n, std::span<const float> bias,
              float* out) override {
    inner_->MatMul(weight, x, n, bias, out);
  }
  void MatMulRows(const PackedWeight& weight, std::span<const int> row_ids, const float* x, int n,
                  float* out) override {
    inner_->MatMulRows(weight, row_ids, x, n, out);
  }
  void Rope(float* x, int n, int stride, int n_heads, int head_dim, int rope_dim,
            RopePairing pairing, const RopeTable& table) override {
    inner_->Rope(x, n, stride, n_heads, head_dim, rope_dim, pairing, table);
  }
  void WriteKv(int layer, const float* k, const float* v, int n, int stride, int kv_dim,
               std::span<const KvCell> cells) override {
    if (trigger_.writes_left >= 0 && trigger_.writes_left-- == 0) trigger_.flag = true;
    inner_->WriteKv(layer, k, v, n, stride, kv_dim, cells);
  }
  void Attention(int layer, const float* q, int n, int stride, int n_heads, int n_kv_heads,
                 int head_dim, float scale, std::span<const AttentionRow> rows,
                 float* out) override {
    inner_->Attention(layer, q, n, stride, n_heads, n_kv_heads, head_dim, scale, rows, out);
  }
  void GatedActivation(const float* gate_up, Activation activation, int n, int width,
                       float* out) override {
    inner_->GatedActivation(gate_up, activation, n, width, out);
  }
  void Add(float* x, const float* y, int n, int width) override { inner_->Add(x, y, n, width); }
  void GatherRows(const float* x, std::span<const int> rows, int width, float* out) override {
    inner_->GatherRows(x, rows, width, out);
  }
  void LogSumExp(const float* logits, int n, int width, double* out) override {
    inner_->LogSumExp(logits, n, width, out);
  }
  void SoftCap(float* logits, int n, int width, float cap) override {
    inner_->SoftCap(logits, n, width, cap);
  }

 private:
  Trigger& trigger_;
  std::unique_ptr<Backend> inner_;
};

std::shared_ptr<const Model> MakeModel(Trigger& trigger) {
  const FakeModelFile file(TinyConfig("llama"));
  auto model = BuildTransformer(file, std::make_unique<RaisingBackend>(trigger));
  EXPECT_TRUE(model.has_value());
  return *model;
}

std::vector<TokenId> Tokens(int n, int first) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < n; ++i) tokens.push_back((first + 7 * i) % 61);
  return tokens;
}

Result<std::vector<float>> LastLogits(const Model& model, Sequence& sequence,
                                      const std::vector<TokenId>& tokens,
                                      const std::atomic<bool>* cancel) {
  Batch batch;
  batch.CancelWith(cancel);
  const int n = static_cast<int>(tokens.size());
  ADJUDGE_RETURN_IF_ERROR(batch.Add(sequence, tokens, Wants::LastLogits(n)));
  ADJUDGE_ASSIGN_OR_RETURN(ForwardOutput output, model.Forward(batch));
  return std::move(output.entries[0].logits);
}

TEST(ForwardCancel, LeavesTheSequenceAsItWas) {
  Trigger trigger;
  const auto model = MakeModel(trigger);
  const auto cache = *model->NewCache();
  const std::vector<TokenId> before = Tokens(9, 3);
  const std::vector<TokenId> after = Tokens(kTokens, 5);
  Sequence whole = cache->NewSequence();
  ASSERT_TRUE(LastLogits(*model, whole, before, nullptr).has_value());
  const auto expected = LastLogits(*model, whole, after, nullptr);
  ASSERT_TRUE(expected.has_value());

  // 0: raised before the pass; the last layer of a pass is not followed by a look.
  for (int raise_at = 0; raise_at < kLayers; ++raise_at) {
    Sequence sequence = cache->NewSequence();
    trigger.flag = false;
    trigger.writes_left = -1;
    ASSERT_TRUE(LastLogits(*model, sequence, before, &trigger.flag).has_value());
    if (raise_at == 0) trigger.flag = true;
    if (raise_at > 0) trigger.writes_left = raise_at - 1;
    const auto cancelled = LastLogits(*model, sequence, after, &trigger.flag);
    ASSERT_FALSE(cancelled.has_value()) << raise_at;
    EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
    EXPECT_EQ(sequence.tokens(), before);
    EXPECT_EQ(sequence.next_position(), 9);
    trigger.flag = false;
    const auto again = LastLogits(*model, sequence, after, &trigger.flag);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(*again, *expected) << raise_at;
  }
}

TEST(ForwardCancel, OfABatchOfForksTakesAllBack) {
  Trigger trigger;
  const auto model = MakeModel(trigger);
  const auto cache = *model->NewCache();
  Sequence parent = cache->NewSequence();
  {
    Batch batch;
    batch.CancelWith(&trigger.flag);
    trigger.writes_left = 0;
    ASSERT_TRUE(batch.Add(parent, Tokens(20, 1)).has_value());
    Sequence fork = *parent.Fork(20);
    ASSERT_TRUE(batch.Add(fork, Tokens(4, 2), Wants::LastLogits(4)).has_value());
    const auto output = model->Forward(batch);
    ASSERT_FALSE(output.has_value());
    EXPECT_EQ(output.error().code, ErrorCode::kCancelled);
    // A moved batch keeps its flag.
    Batch moved = std::move(batch);
    EXPECT_TRUE(moved.cancelled());
    moved.CancelWith(nullptr);
    EXPECT_TRUE(model->Forward(moved).has_value()) << "it was still staged";
  }
  EXPECT_EQ(parent.length(), 20);
}

}  // namespace
}  // namespace adjudge
