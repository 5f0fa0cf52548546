// The CPU backend's kernels: products by weight type and number of rows, attention by context.
// GB/s are bytes of packed weights (or of keys and values) read; compare with memory/read. FLOP/s
// count a multiplication and an addition as two; compare exact products with fma/peak, default with
// dot/peak/.../16 and fast with dot/peak/.../8.
//   cpu_bench --benchmark_filter=matmul/avx512-vnni/fast/Q4_1
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/thread_pool.h"
#include "engine/model/dequantize.h"

namespace adjudge {
namespace {

using benchmark::Counter;

std::vector<float> Floats(std::int64_t n) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> out(static_cast<std::size_t>(n));
  for (float& x : out) x = normal(random);
  return out;
}

// Bytes of which every two are an ordinary float16 number, so that no block decodes to infinities.
std::vector<std::byte> Blocks(std::int64_t n) {
  std::vector<std::byte> out(static_cast<std::size_t>(n));
  std::mt19937 random(1);
  for (std::byte& b : out) b = static_cast<std::byte>(random() & 0x3F);
  return out;
}

void MatMul(benchmark::State& state, CpuIsa isa, Precision precision, int threads, TensorType type,
            std::int64_t rows, std::int64_t cols, int n) {
  const auto backend = NewCpuBackend({.threads = threads, .isa = isa, .precision = precision});
  const auto bytes = Blocks(TensorBytes(type, rows * cols));
  const TensorView view{type, rows, cols, bytes.data()};
  const auto weight = (*backend)->Pack({&view, 1});
  const auto x = Floats(n * cols);
  std::vector<float> out(static_cast<std::size_t>(n * rows));
  for (auto _ : state) {
    (*backend)->MatMul(**weight, x.data(), n, {}, out.data());
    benchmark::ClobberMemory();
  }
  const auto done = static_cast<double>(state.iterations());
  state.counters["FLOP/s"] =
      Counter(done * 2.0 * static_cast<double>(n * rows * cols), Counter::kIsRate);
  state.counters["B/s"] = Counter(done * static_cast<double>(bytes.size()), Counter::kIsRate);
}

// One layer of the default model's attention (9 heads on 3, of 64): the last n of `context` tokens.
void Attention(benchmark::State& state, CpuIsa isa, int threads, int context, int n) {
  constexpr int kHeads = 9;
  constexpr int kKvHeads = 3;
  constexpr int kDim = 64;
  const auto backend = NewCpuBackend({.threads = threads, .isa = isa});
  std::vector<std::unique_ptr<KvBlock>> blocks;
  std::vector<KvRun> runs;
  for (int first = 0; first < context; first += 16) {
    blocks.push_back((*backend)->NewKvBlock(1, 16, kKvHeads * kDim));
    runs.push_back({blocks.back().get(), 0, std::min(16, context - first)});
  }
  std::vector<AttentionRow> rows;
  double keys = 0;
  for (int i = context - n; i < context; ++i) {
    rows.push_back({runs, i + 1, 0});
    keys += i + 1;
  }
  const auto q = Floats(n * kHeads * kDim);
  std::vector<float> out(q.size());
  for (auto _ : state) {
    (*backend)->Attention(0, q.data(), n, kHeads * kDim, kHeads, kKvHeads, kDim, 0.125f, rows,
                          out.data());
    benchmark::ClobberMemory();
  }
  const auto done = static_cast<double>(state.iterations());
  state.counters["FLOP/s"] = Counter(done * keys * kHeads * kDim * 4, Counter::kIsRate);
  state.counters["B/s"] = Counter(done * context * kKvHeads * kDim * 8.0, Counter::kIsRate);
}

void Decode(benchmark::State& state, CpuIsa isa, TensorType type) {
  constexpr std::int64_t kElements = 32 << 10;
  const auto bytes = Blocks(TensorBytes(type, kElements));
  std::vector<float> out(kElements);
  const DecodeFn decode = KernelsFor(isa).decode[static_cast<int>(type)];
  for (auto _ : state) {
    decode(bytes.data(), kElements, out.data());
    benchmark::ClobberMemory();
  }
  state.counters["elements/s"] =
      Counter(static_cast<double>(state.iterations() * kElements), Counter::kIsRate);
}

// The sum of n numbers (a multiple of 32), read as four streams: one alone keeps too few lines on
// their way.
std::uint64_t SumOfStreams(const std::uint64_t* data, std::int64_t n) {
  constexpr std::int64_t kAhead = 128;  // 1 KB
  const std::int64_t quarter = n / 4;
  std::uint64_t sums[4] = {};
  for (std::int64_t i = 0; i < quarter; i += 8) {
    for (int stream = 0; stream < 4; ++stream) {
      const std::uint64_t* line = data + stream * quarter + i;
      __builtin_prefetch(line + kAhead);
      for (int k = 0; k < 8; ++k) sums[stream] += line[k];
    }
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

// In pages of 2 MB, where the system gives them: those of 4 KB cost a quarter of the bandwidth.
void Read(benchmark::State& state, int threads, std::int64_t megabytes) {
  constexpr std::size_t kPage = 2 << 20;
  const std::size_t bytes = static_cast<std::size_t>(megabytes) << 20;
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(kPage, bytes + kPage),
                                                           std::free);
  madvise(memory.get(), bytes + kPage, MADV_HUGEPAGE);
  std::memset(memory.get(), 1, bytes + kPage);
  const auto* data = static_cast<const std::uint64_t*>(memory.get());
  ThreadPool pool(threads);
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(threads) * 8);
  for (auto _ : state) {
    pool.For(static_cast<std::int64_t>(bytes / 8), 32,
             [&](int thread, std::int64_t begin, std::int64_t end) {
               sums[static_cast<std::size_t>(thread) * 8] = SumOfStreams(data + begin, end - begin);
             });
    benchmark::DoNotOptimize(sums.data());
  }
  state.counters["B/s"] = Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(bytes), Counter::kIsRate);
}

// A product whose operands stay in the first-level cache: what the units of one core can do.
void Peak(benchmark::State& state, CpuIsa isa) {
  constexpr int kCols = 256;
  alignas(64) static float w[8 * kCols];
  alignas(64) static float x[12 * kCols];
  alignas(64) float out[8 * 12];
  for (auto _ : state) {
    KernelsFor(isa).dots(w, 8, x, kCols, 12, kCols, out, 8);
    benchmark::ClobberMemory();
  }
  state.counters["FLOP/s"] =
      Counter(static_cast<double>(state.iterations()) * 2.0 * 8 * 12 * kCols, Counter::kIsRate);
}

// The same of integers: 8-bit weights from the first-level cache.
void DotPeak(benchmark::State& state, const QuantKernel& kernel) {
  constexpr int kCols = 256;
  constexpr int kRows = 48;
  alignas(64) static unsigned char quants[2 * 16 * kCols];
  alignas(64) static float scales[kCols / 32 * 2 * 16];
  alignas(64) static std::byte x[kRows * kCols * 2];
  alignas(64) static std::byte x_scales[kRows * kCols / 32 * 16];
  alignas(64) static float out[kRows * 32];
  const QuantTile tiles[2] = {{quants, scales, 16, out},
                              {quants + 16 * kCols, scales, 16, out + 16}};
  const QuantRows rows{x, x_scales, kRows, kCols};
  for (auto _ : state) {
    kernel.dots[0](tiles, rows, 32);
    benchmark::ClobberMemory();
  }
  state.counters["FLOP/s"] =
      Counter(static_cast<double>(state.iterations()) * 2.0 * 32 * kRows * kCols, Counter::kIsRate);
}

void Barrier(benchmark::State& state, int threads) {
  ThreadPool pool(threads);
  for (auto _ : state) pool.Run([](int) {});
}

void Register() {
  const auto add = [](const std::string& name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...)->UseRealTime();
  };
  for (int threads : {1, 2}) {
    const std::string t = "/threads:" + std::to_string(threads);
    // A small model's weights may lie in the last cache, a large one's do not.
    for (std::int64_t megabytes : {96, 1024}) {
      add("memory/read/MB:" + std::to_string(megabytes) + t, Read, threads, megabytes);
    }
    add("pool/barrier" + t, Barrier, threads);
  }
  for (CpuIsa isa : AvailableIsas()) {
    const std::string i = "/" + std::string(ToString(isa));
    add("fma/peak" + i, Peak, isa);
    const CpuKernels& kernels = KernelsFor(isa);
    for (const auto& [name, table] : {std::pair{"/16", &kernels.wide},
                                      {"/8", &kernels.bytes},
                                      {"/16/many", &kernels.wide_many},
                                      {"/8/many", &kernels.bytes_many}}) {
      const QuantKernel& kernel = table->of[1][1];
      if (kernel.group > 0) add("dot/peak" + i + name, DotPeak, kernel);
    }
    for (int type = 0; type < kTensorTypes; ++type) {
      const auto t = static_cast<TensorType>(type);
      add("decode" + i + "/" + std::string(ToString(t)), Decode, isa, t);
    }
    for (int threads : {1, 2}) {
      const std::string th = "/threads:" + std::to_string(threads);
      for (const Precision p : {Precision::kFast, Precision::kDefault, Precision::kExact}) {
        const std::string name = "matmul" + i + "/" + std::string(ToString(p)) + "/";
        for (int type = 0; type < kTensorTypes; ++type) {
          const auto t = static_cast<TensorType>(type);
          if (p != Precision::kExact && BlockElements(t) == 1) continue;
          for (int n : {1, 2, 4, 16, 128, 512}) {
            add(name + std::string(ToString(t)) + "/4096x1536/n:" + std::to_string(n) + th, MatMul,
                isa, p, threads, t, 4096, 1536, n);
          }
        }
        for (int n : {1, 128, 512}) {
          add(name + "Q4_1/3072x576/n:" + std::to_string(n) + th, MatMul, isa, p, threads,
              TensorType::kQ4_1, 3072, 576, n);
        }
      }
      for (const auto& [context, n] :
           {std::pair{128, 1}, {1024, 1}, {8192, 1}, {128, 128}, {512, 512}, {4096, 512}}) {
        add("attention" + i + "/context:" + std::to_string(context) + "/n:" + std::to_string(n) +
                th,
            Attention, isa, threads, context, n);
      }
    }
  }
}

}  // namespace
}  // namespace adjudge

int main(int argc, char** argv) {
  adjudge::Register();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
