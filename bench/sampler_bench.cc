// Sampling and option masks over vocabularies of real size.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <string>

#include "constraints/option_set.h"
#include "engine/log_softmax.h"
#include "engine/sampler.h"

namespace adjudge {
namespace {

// Logits with a language model's spread: most ids far below a few.
std::vector<float> MakeLogits(int n) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 2.5F);
  std::vector<float> logits(static_cast<std::size_t>(n));
  for (float& x : logits) x = normal(random);
  for (int i = 0; i < 20; ++i) logits[random() % logits.size()] = 10 + static_cast<float>(i) / 4;
  return logits;
}

void RunSampler(benchmark::State& state, const SamplerOptions& options) {
  const std::vector<float> logits = MakeLogits(static_cast<int>(state.range(0)));
  TokenMask mask(static_cast<int>(logits.size()));
  mask.set_all();
  auto sampler = Sampler::Make(options);
  for (auto _ : state) benchmark::DoNotOptimize(sampler->Sample(logits, &mask));
}

void BM_Greedy(benchmark::State& state) { RunSampler(state, {}); }
void BM_Temperature(benchmark::State& state) { RunSampler(state, {.temperature = 1}); }
void BM_TopK40(benchmark::State& state) { RunSampler(state, {.temperature = 1, .top_k = 40}); }
void BM_TopK5000(benchmark::State& state) { RunSampler(state, {.temperature = 1, .top_k = 5000}); }
void BM_TopP95(benchmark::State& state) { RunSampler(state, {.temperature = 1, .top_p = 0.95}); }
void BM_TopPFlat(benchmark::State& state) {
  RunSampler(state, {.temperature = 100, .top_p = 0.95});
}
void BM_Usual(benchmark::State& state) {
  RunSampler(
      state,
      {.temperature = 0.7, .top_k = 40, .top_p = 0.95, .min_p = 0.05, .repetition_penalty = 1.1});
}
BENCHMARK(BM_Greedy)->Arg(49'152)->Arg(262'144);
BENCHMARK(BM_Temperature)->Arg(49'152)->Arg(262'144);
BENCHMARK(BM_TopK40)->Arg(49'152)->Arg(262'144);
BENCHMARK(BM_TopK5000)->Arg(49'152)->Arg(262'144);
BENCHMARK(BM_TopP95)->Arg(49'152)->Arg(262'144);
BENCHMARK(BM_TopPFlat)->Arg(49'152)->Arg(262'144);
BENCHMARK(BM_Usual)->Arg(49'152)->Arg(262'144);

void BM_LogProb(benchmark::State& state) {
  const std::vector<float> logits = MakeLogits(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(LogProb(logits, 5));
}
BENCHMARK(BM_LogProb)->Arg(49'152)->Arg(262'144);

// All bytes, and words of a made-up language up to the size.
Vocabulary MakeVocabulary(int n) {
  std::vector<Vocabulary::Entry> entries;
  for (int byte = 0; byte < 256; ++byte) {
    entries.push_back({std::string(1, static_cast<char>(byte)), TokenKind::kNormal});
  }
  std::mt19937 random(2);
  while (static_cast<int>(entries.size()) < n) {
    std::string word(random() % 2, ' ');
    for (std::size_t k = 1 + random() % 9; k > 0; --k) word += "etaoinshrdlucmfw"[random() % 16];
    entries.push_back({word, TokenKind::kNormal});
  }
  return Vocabulary(std::move(entries), n, {0});
}

std::vector<std::string> MakeOptions(int n) {
  std::mt19937 random(3);
  std::vector<std::string> options;
  for (int i = 0; i < n; ++i) {
    std::string option;
    for (int k = 0; k < 20; ++k) option += "etaoinshrdlucmfw "[random() % 17];
    options.push_back(option + std::to_string(i));
  }
  return options;
}

void BM_SortVocabulary(benchmark::State& state) {
  const Vocabulary vocabulary = MakeVocabulary(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(OptionSetCompiler(vocabulary));
}
BENCHMARK(BM_SortVocabulary)->Arg(49'152)->Arg(262'144)->Unit(benchmark::kMillisecond);

void BM_CompileOptions(benchmark::State& state) {
  const OptionSetCompiler compiler(MakeVocabulary(262'144));
  const auto options = MakeOptions(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(compiler.Compile(options));
}
BENCHMARK(BM_CompileOptions)->Arg(4)->Arg(150)->Arg(10'000)->Unit(benchmark::kMicrosecond);

// The first mask of a set just compiled, and the same one again.
void BM_FirstMask(benchmark::State& state) {
  const OptionSetCompiler compiler(MakeVocabulary(262'144));
  const auto options = MakeOptions(static_cast<int>(state.range(0)));
  TokenMask mask(262'144);
  for (auto _ : state) {
    state.PauseTiming();
    const auto set = *compiler.Compile(options);
    state.ResumeTiming();
    set->NewMatcher()->FillMask(mask);
  }
}
BENCHMARK(BM_FirstMask)->Arg(4)->Arg(150)->Arg(10'000)->Unit(benchmark::kMicrosecond);

void BM_NextMask(benchmark::State& state) {
  const auto set =
      *CompileOptionSet(MakeOptions(static_cast<int>(state.range(0))), MakeVocabulary(262'144));
  TokenMask mask(262'144);
  const auto matcher = set->NewMatcher();
  for (auto _ : state) matcher->FillMask(mask);
}
BENCHMARK(BM_NextMask)->Arg(4)->Arg(150)->Arg(10'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace adjudge
