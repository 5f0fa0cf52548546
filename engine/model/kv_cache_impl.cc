#include "engine/model/kv_cache_impl.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "engine/model/sequence_state.h"

namespace adjudge {

CacheBlock::CacheBlock(std::shared_ptr<KvCacheImpl> owner, std::unique_ptr<KvBlock> memory)
    : cache(std::move(owner)), kv(std::move(memory)) {
  ++cache->used_blocks_;
}

CacheBlock::~CacheBlock() {
  kv.reset();
  --cache->used_blocks_;
}

Result<std::shared_ptr<KvCacheImpl>> KvCacheImpl::Create(std::shared_ptr<Backend> backend,
                                                         const CacheShape& shape,
                                                         const KvCacheOptions& options) {
  if (options.max_tokens < 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "the cache's ceiling must be 0 (16 context windows) or more, found " +
                    std::to_string(options.max_tokens),
                "KvCacheOptions.max_tokens");
  }
  const std::int64_t tokens =
      options.max_tokens == 0 ? std::int64_t{16} * shape.context_length : options.max_tokens;
  // Past any memory; keeps the sums below far from overflow.
  constexpr std::int64_t kMostBlocks = std::int64_t{1} << 48;
  const std::int64_t blocks =
      std::min(tokens / kBlockTokens + (tokens % kBlockTokens != 0 ? 1 : 0), kMostBlocks);
  return std::shared_ptr<KvCacheImpl>(new KvCacheImpl(std::move(backend), shape, blocks));
}

KvCacheImpl::KvCacheImpl(std::shared_ptr<Backend> backend, const CacheShape& shape,
                         std::int64_t max_blocks)
    : backend_(std::move(backend)), shape_(shape), max_blocks_(max_blocks) {}

Sequence KvCacheImpl::NewSequence() {
  return Sequence(std::make_shared<SequenceState>(shared_from_this()));
}

std::int64_t KvCacheImpl::bytes_per_token() const {
  return std::int64_t{2} * shape_.n_layers * shape_.kv_dim * std::int64_t{sizeof(float)};
}

std::shared_ptr<CacheBlock> KvCacheImpl::NewBlock() {
  if (used_blocks_ >= max_blocks_) return nullptr;
  try {
    auto memory = backend_->NewKvBlock(shape_.n_layers, kBlockTokens, shape_.kv_dim);
    if (memory == nullptr) return nullptr;
    return std::make_shared<CacheBlock>(shared_from_this(), std::move(memory));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace adjudge
