// The cache behind the public KvCache: counted blocks of one backend, and what each cell holds.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "engine/backend.h"
#include "engine/base/result.h"
#include "engine/base/token.h"
#include "engine/kv_cache.h"

namespace adjudge {

class KvCacheImpl;

// kBlockTokens cells that any number of sequences may see. A cell is written once while somebody
// sees it: whoever reaches the fill mark first goes on in the block, everybody else starts another.
struct CacheBlock {
  CacheBlock(std::shared_ptr<KvCacheImpl> owner, std::unique_ptr<KvBlock> memory);
  ~CacheBlock();
  CacheBlock(const CacheBlock&) = delete;
  CacheBlock& operator=(const CacheBlock&) = delete;

  std::shared_ptr<KvCacheImpl> cache;
  std::unique_ptr<KvBlock> kv;
  int fill = 0;  // cells given out
  std::array<TokenId, KvCache::kBlockTokens> tokens{};
  std::array<int, KvCache::kBlockTokens> positions{};
  // Layers whose key and value the cell holds: 0 while staged, fewer than the model's after a pass
  // that stopped early.
  std::array<int, KvCache::kBlockTokens> layers_done{};
};

// What a cache needs to know of its model.
struct CacheShape {
  int n_layers = 0;
  int kv_dim = 0;
  int vocab_size = 0;
  int context_length = 0;
};

class KvCacheImpl final : public KvCache, public std::enable_shared_from_this<KvCacheImpl> {
 public:
  // Errors: kInvalidArgument for a negative ceiling.
  static Result<std::shared_ptr<KvCacheImpl>> Create(std::shared_ptr<Backend> backend,
                                                     const CacheShape& shape,
                                                     const KvCacheOptions& options);

  Sequence NewSequence() override;
  std::int64_t max_tokens() const override { return max_blocks_ * kBlockTokens; }
  std::int64_t free_tokens() const override { return (max_blocks_ - used_blocks_) * kBlockTokens; }
  std::int64_t used_blocks() const override { return used_blocks_; }
  std::int64_t bytes_per_token() const override;

  // Null when the ceiling is reached or the backend has no memory left.
  std::shared_ptr<CacheBlock> NewBlock();

  const CacheShape& shape() const { return shape_; }
  const Backend* backend() const { return backend_.get(); }

 private:
  friend struct CacheBlock;
  KvCacheImpl(std::shared_ptr<Backend> backend, const CacheShape& shape, std::int64_t max_blocks);

  std::shared_ptr<Backend> backend_;
  CacheShape shape_;
  std::int64_t max_blocks_ = 0;
  std::int64_t used_blocks_ = 0;
};

}  // namespace adjudge
