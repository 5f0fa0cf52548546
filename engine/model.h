// Model: config and weights on a backend, and the one forward pass.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/batch.h"
#include "engine/kv_cache.h"
#include "engine/model_config.h"
#include "engine/precision.h"

namespace adjudge {

enum class BackendKind {
  kReference,  // scalar, double accumulators: the definition
  kCpu,        // threads and vectors
};

Result<BackendKind> ParseBackendKind(std::string_view name);
std::string_view ToString(BackendKind kind);

struct ModelOptions {
  BackendKind backend = BackendKind::kCpu;
  static constexpr int kMaxThreads = 256;
  int threads = 0;  // 0 = physical cores that this process may use; more than kMaxThreads: kLimit
  Precision precision = Precision::kDefault;  // of the cpu backend
  // The cpu backend's instruction set, weaker than the machine's best for tests and comparisons:
  // baseline, avx2, avx-vnni, avx512, avx512-vnni, avx512-bf16, amx, neon; empty = the best.
  // kInvalidArgument for another name, kUnsupported for one that the machine lacks.
  std::string cpu_isa;
};

// Immutable; shared between threads (Forward of one cache at a time, see kv_cache.h).
class Model {
 public:
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // A GGUF file, a folder with config.json and safetensors, or a llama2.c file (.bin). Errors name
  // the architecture, tensor, type or key that was unexpected.
  static Result<std::shared_ptr<const Model>> Load(const std::filesystem::path& path,
                                                   const ModelOptions& options = {});

  virtual const ModelConfig& config() const = 0;
  virtual std::string_view backend_name() const = 0;
  virtual std::int64_t weight_bytes() const = 0;  // held in memory for weights
  virtual int n_threads() const { return 1; }     // that Forward computes with

  virtual Result<std::shared_ptr<KvCache>> NewCache(const KvCacheOptions& options = {}) const = 0;

  // Computes every staged token of the batch: at each layer the keys and values of all new tokens
  // are written before attention is taken, so a fork sees its parent's tokens of the same pass and
  // nothing of its siblings. The bits of a row depend on the tokens it sees and their positions
  // alone. On error (kCancelled by the batch's flag among them) nothing counts as computed and the
  // batch's tokens stay staged. A batch is run once.
  virtual Result<ForwardOutput> Forward(Batch& batch) const = 0;

 protected:
  Model() = default;
};

}  // namespace adjudge
