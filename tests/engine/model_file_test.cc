#include "engine/model/model_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/model/model_tensors.h"
#include "engine/tokenizer.h"
#include "tests/testing/engine_cases.h"
#include "tests/testing/gguf_builder.h"
#include "tests/testing/python.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

namespace fs = std::filesystem;
using testing::GgufBuilder;

std::string Tiny(const std::string& name) {
  return testing::SourceFolder().string() + "/tests/golden/tiny/" + name;
}

struct OpenRow {
  const char* file;
  const char* architecture;
  RopePairing pairing;
  int head_dim;
  bool tied;
  RopeScalingKind scaling;
  std::vector<int> windows;
};

constexpr auto kInterleaved = RopePairing::kInterleaved;
constexpr auto kHalfSplit = RopePairing::kHalfSplit;
constexpr auto kNone = RopeScalingKind::kNone;
constexpr auto kLinear = RopeScalingKind::kLinear;
constexpr auto kYarn = RopeScalingKind::kYarn;

const std::vector<int> kNoWindows = {0, 0};
const std::vector<int> kGemmaWindows = {6, 6, 6, 6, 6, 0, 6};

const OpenRow kOpenRows[] = {
    {"llama-f32.gguf", "llama", kInterleaved, 8, false, kNone, kNoWindows},
    {"llama-f16-wide-heads.gguf", "llama", kInterleaved, 16, true, kNone, kNoWindows},
    {"llama-bf16.gguf", "llama", kInterleaved, 8, true, kNone, kNoWindows},
    {"llama-legacy-blocks.gguf", "llama", kInterleaved, 16, false, kNone, kNoWindows},
    {"llama-k-quants-1.gguf", "llama", kInterleaved, 32, true, kNone, {0}},
    {"llama-k-quants-2.gguf", "llama", kInterleaved, 32, true, kNone, {0}},
    {"llama-linear.gguf", "llama", kInterleaved, 16, true, kLinear, kNoWindows},
    {"llama-rope-freqs.gguf", "llama", kInterleaved, 16, true, kNone, kNoWindows},
    {"llama-yarn.gguf", "llama", kInterleaved, 16, true, kYarn, kNoWindows},
    {"qwen2-f16.gguf", "qwen2", kHalfSplit, 8, false, kNone, kNoWindows},
    {"qwen2-q8_0.gguf", "qwen2", kHalfSplit, 8, true, kNone, kNoWindows},
    {"qwen3-f16.gguf", "qwen3", kHalfSplit, 16, true, kNone, kNoWindows},
    {"gemma3-f16.gguf", "gemma3", kHalfSplit, 16, true, kNone, kGemmaWindows},
    {"gemma3-q4_0-linear.gguf", "gemma3", kHalfSplit, 16, true, kLinear, kGemmaWindows},
    {"llama-f32", "llama", kHalfSplit, 8, false, kNone, kNoWindows},
    {"llama-bf16-sharded", "llama", kHalfSplit, 8, true, kNone, kNoWindows},
    {"llama-linear", "llama", kHalfSplit, 16, true, kLinear, kNoWindows},
    {"llama-llama3", "llama", kHalfSplit, 16, true, RopeScalingKind::kLlama3, kNoWindows},
    {"llama-yarn", "llama", kHalfSplit, 16, true, kYarn, kNoWindows},
    {"llama-yarn-set", "llama", kHalfSplit, 16, true, kYarn, kNoWindows},
    {"mistral-f16", "mistral", kHalfSplit, 8, true, kNone, {6, 6}},
    {"mistral-bf16-sharded", "mistral", kHalfSplit, 16, true, kNone, kNoWindows},
    {"qwen2-bf16", "qwen2", kHalfSplit, 8, false, kNone, kNoWindows},
    {"qwen2-f16-sharded", "qwen2", kHalfSplit, 8, true, kNone, kNoWindows},
    {"qwen3-bf16", "qwen3", kHalfSplit, 16, true, kNone, kNoWindows},
    {"qwen3-f16-sharded", "qwen3", kHalfSplit, 16, false, kNone, kNoWindows},
    {"gemma3-f16", "gemma3", kHalfSplit, 16, true, kNone, kGemmaWindows},
    {"gemma3-bf16-sharded", "gemma3", kHalfSplit, 16, true, kLinear, kGemmaWindows},
};

TEST(ModelFile, OpensTheTinyModels) {
  for (const OpenRow& row : kOpenRows) {
    const auto file = ModelFile::Open(Tiny(row.file));
    ASSERT_TRUE(file) << row.file << ": " << ToString(file.error());
    const ModelConfig& config = (*file)->config();
    EXPECT_EQ(config.architecture, row.architecture) << row.file;
    EXPECT_EQ(config.rope_pairing, row.pairing) << row.file;
    EXPECT_EQ(config.head_dim, row.head_dim) << row.file;
    EXPECT_EQ(config.rope_dim, row.head_dim) << row.file;
    EXPECT_EQ(config.tied_output, row.tied) << row.file;
    EXPECT_EQ(config.rope.scaling.kind, row.scaling) << row.file;
    EXPECT_EQ(config.layer_window, row.windows) << row.file;
    EXPECT_NEAR(config.norm_eps, 2e-3, 1e-9) << row.file;
    EXPECT_EQ(config.context_length, 256) << row.file;
    EXPECT_GT((*file)->file_bytes(), 20000) << row.file;
    // Every tensor can be read in the shape that the config asks for.
    for (const TensorShape& tensor : ModelTensors(config)) {
      ASSERT_TRUE((*file)->Has(tensor.name)) << row.file << " " << tensor.name;
      if (tensor.shape.size() == 2) {
        EXPECT_TRUE((*file)->Matrix(tensor.name, tensor.shape[0], tensor.shape[1]))
            << row.file << " " << tensor.name;
      } else {
        EXPECT_TRUE((*file)->Vector(tensor.name, tensor.shape[0]))
            << row.file << " " << tensor.name;
      }
    }
  }
}

TEST(ModelFile, TakesRopeDetailsFromTheFile) {
  const auto freqs = *ModelFile::Open(Tiny("llama-rope-freqs.gguf"));
  ASSERT_EQ(freqs->config().rope.freq_factors.size(), 8U);
  EXPECT_EQ(freqs->config().rope.freq_factors.front(), 1.0F);
  EXPECT_FLOAT_EQ(freqs->config().rope.freq_factors.back(), 8.0F);
  EXPECT_EQ(freqs->config().rope.base, 500.0);

  const RopeScaling llama3 = (*ModelFile::Open(Tiny("llama-llama3")))->config().rope.scaling;
  EXPECT_EQ(llama3.factor, 8.0);
  EXPECT_EQ(llama3.low_freq_factor, 1.0);
  EXPECT_EQ(llama3.high_freq_factor, 4.0);
  EXPECT_EQ(llama3.original_context, 128);

  const RopeScaling yarn = (*ModelFile::Open(Tiny("llama-yarn.gguf")))->config().rope.scaling;
  EXPECT_EQ(yarn.factor, 4.0);
  EXPECT_EQ(yarn.original_context, 64);
  EXPECT_EQ(yarn.attention_factor, 0.0);
  const RopeScaling set = (*ModelFile::Open(Tiny("llama-yarn-set")))->config().rope.scaling;
  EXPECT_EQ(set.attention_factor, 1.3);
  EXPECT_EQ(set.beta_fast, 1.5);
  EXPECT_EQ(set.beta_slow, 0.25);

  const auto gemma = *ModelFile::Open(Tiny("gemma3-f16"));
  EXPECT_EQ(gemma->config().rope.base, 1e6);
  EXPECT_EQ(gemma->config().rope_local.base, 5000.0);
  EXPECT_DOUBLE_EQ(gemma->config().attention_scale, 1 / std::sqrt(24.0));
  EXPECT_DOUBLE_EQ(gemma->config().embedding_scale, std::sqrt(24.0));
  EXPECT_EQ(gemma->config().activation, Activation::kGeluTanh);
  const auto stretched = *ModelFile::Open(Tiny("gemma3-q4_0-linear.gguf"));
  EXPECT_EQ(stretched->config().rope.scaling.factor, 8.0);
  EXPECT_EQ(stretched->config().rope_local.scaling.kind, kNone);
  EXPECT_EQ(stretched->config().rope_local.base, 10000.0);
}

// gemma3's norm weights: w in safetensors, 1 + w in GGUF; the gain is the same.
TEST(ModelFile, AddsGemmasOneOnlyWhereTheFormatLeavesItOut) {
  const auto folder = *ModelFile::Open(Tiny("gemma3-f16"));
  const auto gains = *folder->Vector("blk.0.attn_norm.weight", 24);
  double sum = 0;
  for (const float gain : gains) sum += static_cast<double>(gain);
  EXPECT_NEAR(sum / 24, 1.0, 0.3);
  const auto gguf = *ModelFile::Open(Tiny("gemma3-f16.gguf"));
  double gguf_sum = 0;
  const auto gguf_gains = *gguf->Vector("blk.0.attn_norm.weight", 24);
  for (const float gain : gguf_gains) gguf_sum += static_cast<double>(gain);
  EXPECT_NEAR(gguf_sum / 24, 1.0, 0.3);
}

TEST(ModelFile, NamesAreGgufsWhateverTheFormat) {
  const auto file = *ModelFile::Open(Tiny("qwen2-bf16"));
  EXPECT_EQ(file->format(), "safetensors");
  bool found = false;
  for (const TensorInfo& info : file->tensors()) {
    if (info.file_name != "model.layers.1.self_attn.q_proj.bias") continue;
    found = true;
    EXPECT_EQ(info.name, "blk.1.attn_q.bias");
    EXPECT_EQ(info.shape, (std::vector<std::int64_t>{32}));
    EXPECT_EQ(info.type, TensorType::kBF16);
    EXPECT_EQ(info.bytes, 64);
  }
  EXPECT_TRUE(found);
  EXPECT_FALSE(file->Has("model.layers.1.self_attn.q_proj.bias"));
  EXPECT_EQ((*ModelFile::Open(Tiny("llama-f32.gguf")))->format(), "gguf v3");
}

TEST(ModelFile, AnotherShapeIsRefusedWithBoth) {
  const auto file = *ModelFile::Open(Tiny("llama-f32"));
  const auto matrix = file->Matrix("blk.0.attn_q.weight", 24, 25);
  ASSERT_FALSE(matrix);
  EXPECT_EQ(ToString(matrix.error()),
            "blk.0.attn_q.weight (model.layers.0.self_attn.q_proj.weight): expected shape "
            "[24, 25], found [24, 24]");
  EXPECT_FALSE(file->Vector("blk.0.attn_q.weight", 24));
  EXPECT_FALSE(file->Matrix("blk.0.attn_norm.weight", 1, 24));
  const auto absent = file->Matrix("blk.9.attn_q.weight", 24, 24);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
}

// One layer, 8 wide, 2 heads on 1 of 4, feed-forward 12, 10 tokens.
GgufBuilder OneLayer(const std::string& architecture = "llama") {
  const auto key = [&](const char* name) { return architecture + "." + name; };
  GgufBuilder builder;
  builder.Text("general.architecture", architecture)
      .U32(key("context_length"), 64)
      .U32(key("embedding_length"), 8)
      .U32(key("block_count"), 1)
      .U32(key("feed_forward_length"), 12)
      .U32(key("attention.head_count"), 2)
      .U32(key("attention.head_count_kv"), 1)
      .F32(key("attention.layer_norm_rms_epsilon"), 1e-5F);
  const auto tensor = [&](const char* name, std::vector<std::int64_t> shape) {
    std::int64_t n = 1;
    for (const std::int64_t dim : shape) n *= dim;
    builder.Tensor(name, shape, std::vector<float>(static_cast<std::size_t>(n), 0.5F));
  };
  tensor("token_embd.weight", {10, 8});
  tensor("blk.0.attn_norm.weight", {8});
  tensor("blk.0.attn_q.weight", {8, 8});
  tensor("blk.0.attn_k.weight", {4, 8});
  tensor("blk.0.attn_v.weight", {4, 8});
  tensor("blk.0.attn_output.weight", {8, 8});
  tensor("blk.0.ffn_norm.weight", {8});
  tensor("blk.0.ffn_gate.weight", {12, 8});
  tensor("blk.0.ffn_up.weight", {12, 8});
  tensor("blk.0.ffn_down.weight", {8, 12});
  tensor("output_norm.weight", {8});
  return builder;
}

struct TensorRow {
  const char* what;
  std::function<void(GgufBuilder&)> spoil;
  std::vector<std::string> names;
};

const std::vector<float> kHundred(100, 1.0F);

const TensorRow kTensorRows[] = {
    {"missing",
     [](GgufBuilder& b) { b.RemoveTensor("blk.0.ffn_up.weight"); },
     {"blk.0.ffn_up.weight", "no such tensor", "[12, 8]"}},
    {"missing embedding with vocab_size",
     [](GgufBuilder& b) { b.RemoveTensor("token_embd.weight").U32("llama.vocab_size", 10); },
     {"token_embd.weight"}},
    {"missing embedding without vocab_size",
     [](GgufBuilder& b) { b.RemoveTensor("token_embd.weight"); },
     {"llama.vocab_size"}},
    {"other vocab_size",
     [](GgufBuilder& b) { b.U32("llama.vocab_size", 11); },
     {"token_embd.weight", "[11, 8]", "[10, 8]"}},
    {"other shape",
     [](GgufBuilder& b) {
       b.RemoveTensor("blk.0.attn_k.weight").Tensor("blk.0.attn_k.weight", {10, 10}, kHundred);
     },
     {"blk.0.attn_k.weight", "[4, 8]", "[10, 10]"}},
    {"transposed",
     [](GgufBuilder& b) {
       b.RemoveTensor("blk.0.ffn_up.weight")
           .Tensor("blk.0.ffn_up.weight", {8, 12}, std::vector<float>(96));
     },
     {"blk.0.ffn_up.weight", "[12, 8]", "[8, 12]"}},
    {"three dimensions",
     [](GgufBuilder& b) {
       b.RemoveTensor("blk.0.ffn_up.weight")
           .Tensor("blk.0.ffn_up.weight", {1, 12, 8}, std::vector<float>(96));
     },
     {"blk.0.ffn_up.weight", "[12, 8]", "[1, 12, 8]"}},
    {"a bias that llama has no use for",
     [](GgufBuilder& b) { b.Tensor("blk.0.attn_q.bias", {8}, std::vector<float>(8)); },
     {"blk.0.attn_q.bias", "llama", "no use"}},
    {"a layer too many",
     [](GgufBuilder& b) { b.Tensor("blk.1.attn_norm.weight", {8}, std::vector<float>(8)); },
     {"blk.1.attn_norm.weight", "1 layers"}},
    {"unknown type",
     [](GgufBuilder& b) { b.TypeOf("blk.0.attn_q.weight", 16); },
     {"blk.0.attn_q.weight", "IQ2_XXS"}},
    {"unknown type without a name",
     [](GgufBuilder& b) { b.TypeOf("blk.0.attn_q.weight", 99); },
     {"blk.0.attn_q.weight", "type 99"}},
    {"rope_freqs of another size",
     [](GgufBuilder& b) { b.Tensor("rope_freqs.weight", {3}, std::vector<float>(3, 1.0F)); },
     {"rope_freqs.weight", "[2]", "[3]"}},
    {"rope_freqs of zero",
     [](GgufBuilder& b) {
       b.Tensor("rope_freqs.weight", {2}, std::vector<float>{1, 0});
     },
     {"rope_freqs.weight", "positive"}},
};

TEST(ModelFile, TensorsMustBeThoseOfTheConfig) {
  const testing::TempFolder folder;
  const auto good = ModelFile::Open(folder.Write("good.gguf", OneLayer().Build()));
  ASSERT_TRUE(good) << ToString(good.error());
  EXPECT_EQ((*good)->config().vocab_size, 10);
  EXPECT_EQ((*good)->format(), "gguf v3");
  const auto older = ModelFile::Open(folder.Write("v2.gguf", OneLayer().Version(2).Build()));
  ASSERT_TRUE(older) << ToString(older.error());
  EXPECT_EQ((*older)->format(), "gguf v2");
  for (const TensorRow& row : kTensorRows) {
    GgufBuilder builder = OneLayer();
    row.spoil(builder);
    const auto file = ModelFile::Open(folder.Write("bad.gguf", builder.Build()));
    ASSERT_FALSE(file) << row.what;
    for (const std::string& name : row.names) {
      EXPECT_NE(ToString(file.error()).find(name), std::string::npos)
          << row.what << ": no \"" << name << "\" in \"" << ToString(file.error()) << "\"";
    }
  }
}

TEST(ModelFile, TheViewIsTheFilesBytes) {
  const testing::TempFolder folder;
  GgufBuilder builder = OneLayer();
  std::vector<float> values(96);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  builder.RemoveTensor("blk.0.ffn_up.weight").Tensor("blk.0.ffn_up.weight", {12, 8}, values);
  const auto file = *ModelFile::Open(folder.Write("good.gguf", builder.Build()));
  const auto view = *file->Matrix("blk.0.ffn_up.weight", 12, 8);
  EXPECT_EQ(view.rows, 12);
  EXPECT_EQ(view.cols, 8);
  EXPECT_EQ(std::memcmp(view.data, values.data(), 96 * sizeof(float)), 0);
  file->ReleasePages();
  EXPECT_EQ(std::memcmp(view.data, values.data(), 96 * sizeof(float)), 0);
}

TEST(ModelFile, PathsThatAreNoModelAreRefused) {
  const testing::TempFolder folder;
  EXPECT_EQ(ModelFile::Open(folder.path() / "absent.gguf").error().code, ErrorCode::kNotFound);
  EXPECT_NE(ToString(ModelFile::Open(folder.path()).error()).find("model.safetensors"),
            std::string::npos);
  EXPECT_NE(ToString(ModelFile::Open(folder.Write("a.safetensors", "x")).error()).find("folder"),
            std::string::npos);
  EXPECT_NE(ToString(ModelFile::Open(folder.Write("a.txt", "hello")).error()).find("GGUF"),
            std::string::npos);
  EXPECT_NE(ToString(ModelFile::Open(folder.Write("e.gguf", "")).error()).find("size 0"),
            std::string::npos);
}

TEST(ModelFile, OpensTheDefaultModel) {
  ADJUDGE_MODEL_OR_SKIP(path, "default");
  const auto file = ModelFile::Open(path);
  ASSERT_TRUE(file) << ToString(file.error());
  const ModelConfig& config = (*file)->config();
  EXPECT_EQ(config.n_layers, 30);
  EXPECT_EQ(config.n_kv_heads, 3);
  EXPECT_EQ(config.vocab_size, 49152);
  EXPECT_EQ(config.context_length, 8192);
  EXPECT_EQ(config.rope.base, 100000.0);
  EXPECT_TRUE(config.tied_output);
  EXPECT_EQ((*file)->tensors().size(), 272U);
}

TEST(ModelFile, OpensQwen2) {
  ADJUDGE_MODEL_OR_SKIP(path, "q05.gguf");
  const auto file = ModelFile::Open(path);
  ASSERT_TRUE(file) << ToString(file.error());
  EXPECT_EQ((*file)->config().vocab_size, 151936);
  EXPECT_EQ((*file)->config().head_dim, 64);
  EXPECT_TRUE((*file)->config().qkv_bias);
  EXPECT_FALSE((*file)->config().tied_output);
}

TEST(ModelFile, OpensGemma3) {
  ADJUDGE_MODEL_OR_SKIP(path, "g3.gguf");
  const auto file = ModelFile::Open(path);
  ASSERT_TRUE(file) << ToString(file.error());
  const ModelConfig& config = (*file)->config();
  EXPECT_EQ(config.head_dim, 256);
  EXPECT_EQ(config.layer_window[0], 512);
  EXPECT_EQ(config.layer_window[5], 0);
  EXPECT_EQ(config.layer_window[17], 0);
  EXPECT_EQ(config.rope.base, 1e6);
  EXPECT_EQ(config.rope_local.base, 1e4);
  EXPECT_DOUBLE_EQ(config.attention_scale, 1.0 / 16);
}

// The engine-cases about files: recipes are Python that writes the file.
class FileCase : public ::testing::TestWithParam<const char*> {};

// What loading a model looks at: weights, and the tokenizer of a GGUF file.
Status OpenAll(const fs::path& path) {
  ADJUDGE_RETURN_IF_ERROR(ModelFile::Open(path));
  if (path.extension() == ".gguf") ADJUDGE_RETURN_IF_ERROR(Tokenizer::Load(path));
  return {};
}

bool Names(const std::string& error, const std::string& wanted) {
  // "a or b": either will do.
  const std::size_t either = wanted.find(" or ");
  if (either == std::string::npos) return error.find(wanted) != std::string::npos;
  return Names(error, wanted.substr(0, either)) || Names(error, wanted.substr(either + 4));
}

TEST_P(FileCase, IsRefusedByNameOrOpens) {
  ADJUDGE_CASE_OR_SKIP(item, GetParam());
  const auto python = testing::PythonWith("numpy");
  if (!python) GTEST_SKIP() << "no python3 with numpy";
  const testing::TempFolder folder;
  fs::copy_file(*testing::DataPath("engine-cases/base.py"), folder.path() / "base.py");
  std::string recipes;
  for (const auto& file : item["input"]["files"]) {
    recipes += file["recipe"].get<std::string>() + "\n";
  }
  folder.Write("recipes.py", recipes);
  ASSERT_TRUE(
      testing::RunCommand("cd " + folder.path().string() + " && " + *python + " -B recipes.py"));
  for (const auto& file : item["input"]["files"]) {
    const std::string name = file["file"];
    // One file's cases give their expectation at once, those of several by the file's name.
    const auto& all = item["expected"];
    const auto& expected = all.contains(name) ? all[name] : all;
    const auto opened = OpenAll(folder.path() / name);
    const bool refuse = expected["refuse"].is_boolean() && expected["refuse"].get<bool>();
    EXPECT_EQ(!opened, refuse) << name << (opened ? "" : ": " + ToString(opened.error()));
    if (opened || !refuse) continue;
    for (const auto& wanted : expected["names"]) {
      EXPECT_TRUE(Names(ToString(opened.error()), wanted))
          << name << ": no \"" << wanted << "\" in \"" << ToString(opened.error()) << "\"";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, FileCase,
                         ::testing::Values("file-truncated", "file-zero-dim",
                                           "file-array-element-type", "file-alignment",
                                           "file-overlapping-regions", "file-tied-output",
                                           "file-head-dim", "file-missing-shard",
                                           "file-padded-vocab"),
                         [](const auto& param) {
                           std::string name = param.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace adjudge
