// Megabytes of text a second through tokenizers.
//
// ADJUDGE_TEST_DATA and ADJUDGE_TEST_MODELS say where texts and vocabularies lie; what is absent is
// left out. "library" is SentencePiece's own library on the same text.
#include <benchmark/benchmark.h>
#include <sentencepiece_processor.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "engine/tokenizer.h"

namespace adjudge {
namespace {

namespace fs = std::filesystem;

fs::path Under(const char* variable, const std::string& relative) {
  const char* root = std::getenv(variable);
  return root == nullptr ? fs::path() : fs::path(root) / relative;
}

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

void Encode(benchmark::State& state, const fs::path& path, const std::string& text) {
  const auto tokenizer = Tokenizer::Load(path);
  if (!tokenizer) return state.SkipWithError(ToString(tokenizer.error()).c_str());
  std::size_t n_ids = 0;
  for (auto _ : state) {
    const auto ids = (*tokenizer)->Encode(text);
    if (!ids) return state.SkipWithError(ToString(ids.error()).c_str());
    n_ids = ids->size();
    benchmark::DoNotOptimize(ids->data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  state.counters["ids"] = static_cast<double>(n_ids);
}

void EncodeByLibrary(benchmark::State& state, const fs::path& path, const std::string& text) {
  sentencepiece::SentencePieceProcessor library;
  if (!library.Load(path.string()).ok()) return state.SkipWithError("the library refuses the file");
  for (auto _ : state) {
    std::vector<int> ids;
    if (!library.Encode(text, &ids).ok())
      return state.SkipWithError("the library refuses the text");
    benchmark::DoNotOptimize(ids.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

void Load(benchmark::State& state, const fs::path& path) {
  for (auto _ : state) benchmark::DoNotOptimize(Tokenizer::Load(path).has_value());
}

std::string Repeated(const std::string& unit, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += unit;
  return text;
}

void Register() {
  const std::string book = ReadAll(Under("ADJUDGE_TEST_DATA", "tokenizers/botchan.txt"));
  std::vector<fs::path> paths;
  for (const char* name : {"SmolLM2-135M-Instruct.Q4_1.gguf", "q05.gguf", "g3.gguf"}) {
    paths.push_back(Under("ADJUDGE_TEST_MODELS", name));
  }
  for (const char* name :
       {"vocab-gguf/ggml-vocab-gpt-2.gguf", "vocab-gguf/ggml-vocab-phi-3.gguf",
        "tokenizers/mistral-v1-tokenizer.model", "tokenizers/openllama-3b-tokenizer.model",
        "tokenizers/sentencepiece-test_model.model"}) {
    paths.push_back(Under("ADJUDGE_TEST_DATA", name));
  }
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"book", book},
      {"letter_1MB", Repeated("a", 1'000'000)},
      {"spaces_1MB", Repeated(" ", 1'000'000)},
      {"newlines_1MB", Repeated("\n", 1'000'000)},
      {"digits_1MB", Repeated("7", 1'000'000)},
      {"marks_1MB", Repeated("\xCC\x81\xCC\xA3", 1'000'000)}};
  for (const fs::path& path : paths) {
    if (path.empty() || !fs::exists(path)) continue;
    const std::string stem = path.stem().string();
    benchmark::RegisterBenchmark(("load/" + stem).c_str(), Load, path)
        ->Unit(benchmark::kMillisecond);
    for (const auto& [name, text] : texts) {
      if (text.empty()) continue;
      benchmark::RegisterBenchmark((name + "/" + stem).c_str(), Encode, path, text)
          ->Unit(benchmark::kMillisecond);
      if (path.extension() == ".model" && name == "book") {
        benchmark::RegisterBenchmark((name + "/" + stem + "/library").c_str(), EncodeByLibrary,
                                     path, text)
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
}

const bool kRegistered = (Register(), true);

}  // namespace
}  // namespace adjudge
