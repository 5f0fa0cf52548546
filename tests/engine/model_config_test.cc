// ModelConfig from GGUF keys and from config.json: what is read, what is refused, by which name.
#include "engine/model_config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/model/config_reader.h"
#include "tests/testing/gguf_builder.h"

namespace adjudge {
namespace {

using nlohmann::json;
using testing::GgufBuilder;

constexpr int kLayers = 7;

// A GGUF file of this architecture without tensors: sizes are read from keys alone.
GgufBuilder Keys(const std::string& a) {
  GgufBuilder builder;
  builder.Text("general.architecture", a)
      .U32(a + ".context_length", 512)
      .U32(a + ".embedding_length", 64)
      .U32(a + ".block_count", kLayers)
      .U32(a + ".feed_forward_length", 96)
      .U32(a + ".attention.head_count", 4)
      .F32(a + ".attention.layer_norm_rms_epsilon", 1e-6F)
      .F32(a + ".rope.freq_base", 5000.0F)
      .U32(a + ".vocab_size", 100);
  if (a == "gemma3") builder.U32("gemma3.attention.sliding_window", 32);
  return builder;
}

Result<ModelConfig> ReadKeys(const GgufBuilder& builder, const ModelConfigLimits& limits = {}) {
  auto file = GgufFile::Parse(builder.Build());
  if (!file) return tl::unexpected<Error>(std::move(file).error());
  return ReadGgufConfig(**file, limits);
}

void ExpectNames(const Error& error, const std::vector<std::string>& names, const char* what) {
  for (const std::string& name : names) {
    EXPECT_NE(ToString(error).find(name), std::string::npos)
        << what << ": no \"" << name << "\" in \"" << ToString(error) << "\"";
  }
}

TEST(GgufConfig, DefaultsAreThoseOfTheFormat) {
  const auto config = ReadKeys(Keys("llama").Remove("llama.rope.freq_base"));
  ASSERT_TRUE(config) << ToString(config.error());
  EXPECT_EQ(config->n_kv_heads, 4);
  EXPECT_EQ(config->head_dim, 16);
  EXPECT_EQ(config->rope_dim, 16);
  EXPECT_EQ(config->rope.base, 10000.0);
  EXPECT_DOUBLE_EQ(config->attention_scale, 0.25);
  EXPECT_EQ(config->embedding_scale, 1.0);
  EXPECT_EQ(config->final_logit_softcap, 0.0);
  EXPECT_EQ(config->layer_window, std::vector<int>(kLayers, 0));
  EXPECT_TRUE(config->tied_output);
  EXPECT_FALSE(config->qkv_bias || config->qk_norm || config->post_norms ||
               config->norm_weight_plus_one);
}

struct ReadRow {
  const char* what;
  const char* architecture;
  std::function<void(GgufBuilder&)> change;
  std::function<bool(const ModelConfig&)> holds;
};

const ReadRow kReadRows[] = {
    {"llama pairs", "llama", [](GgufBuilder&) {},
     [](const ModelConfig& c) { return c.rope_pairing == RopePairing::kInterleaved; }},
    {"qwen2 bias", "qwen2", [](GgufBuilder&) {},
     [](const ModelConfig& c) {
       return c.qkv_bias && !c.qk_norm && c.rope_pairing == RopePairing::kHalfSplit;
     }},
    {"qwen3 norms", "qwen3", [](GgufBuilder&) {},
     [](const ModelConfig& c) { return c.qk_norm && !c.qkv_bias; }},
    {"gemma3", "gemma3", [](GgufBuilder&) {},
     [](const ModelConfig& c) {
       return c.qk_norm && c.post_norms && c.activation == Activation::kGeluTanh &&
              c.embedding_scale == 8.0 && c.rope_local.base == 10000.0 && c.rope.base == 5000.0 &&
              c.layer_window == std::vector<int>{32, 32, 32, 32, 32, 0, 32} &&
              !c.norm_weight_plus_one;
     }},
    {"gemma3 pattern", "gemma3",
     [](GgufBuilder& b) { b.U32("gemma3.attention.sliding_window_pattern", 3); },
     [](const ModelConfig& c) {
       return c.layer_window == std::vector<int>{32, 32, 0, 32, 32, 0, 32};
     }},
    {"gemma3 pattern by layer", "gemma3",
     [](GgufBuilder& b) {
       b.Bools("gemma3.attention.sliding_window_pattern",
               {true, false, false, false, false, false, true});
     },
     [](const ModelConfig& c) {
       return c.layer_window == std::vector<int>{32, 0, 0, 0, 0, 0, 32};
     }},
    {"gemma3 local base", "gemma3",
     [](GgufBuilder& b) { b.F32("gemma3.rope.freq_base_swa", 77.0F); },
     [](const ModelConfig& c) { return c.rope_local.base == 77.0 && c.rope.base == 5000.0; }},
    {"gemma3 27B scale", "gemma3",
     [](GgufBuilder& b) {
       b.Remove("gemma3.block_count").U32("gemma3.block_count", 62);
       b.U32("gemma3.attention.key_length", 32).U32("gemma3.attention.value_length", 32);
     },
     [](const ModelConfig& c) { return c.attention_scale == 0.25 && c.head_dim == 32; }},
    {"softcap", "gemma3", [](GgufBuilder& b) { b.F32("gemma3.final_logit_softcapping", 30.0F); },
     [](const ModelConfig& c) { return c.final_logit_softcap == 30.0; }},
    {"scale", "llama", [](GgufBuilder& b) { b.F32("llama.attention.scale", 0.5F); },
     [](const ModelConfig& c) { return c.attention_scale == 0.5; }},
    {"head size", "llama",
     [](GgufBuilder& b) {
       b.U32("llama.attention.key_length", 32).U32("llama.attention.value_length", 32);
     },
     [](const ModelConfig& c) { return c.head_dim == 32 && c.rope_dim == 32 && c.q_dim() == 128; }},
    {"part of the head rotated", "llama",
     [](GgufBuilder& b) { b.U32("llama.rope.dimension_count", 8); },
     [](const ModelConfig& c) { return c.head_dim == 16 && c.rope_dim == 8; }},
    {"mistral's window", "llama",
     [](GgufBuilder& b) { b.U32("llama.attention.sliding_window", 9); },
     [](const ModelConfig& c) { return c.layer_window == std::vector<int>(kLayers, 9); }},
    {"a window as long as the context", "qwen2",
     [](GgufBuilder& b) { b.U32("qwen2.attention.sliding_window", 512); },
     [](const ModelConfig& c) { return c.layer_window == std::vector<int>(kLayers, 0); }},
    {"factor without type", "llama",
     [](GgufBuilder& b) { b.F32("llama.rope.scaling.factor", 4.0F); },
     [](const ModelConfig& c) {
       return c.rope.scaling.kind == RopeScalingKind::kLinear && c.rope.scaling.factor == 4.0;
     }},
    {"older factor", "llama", [](GgufBuilder& b) { b.F32("llama.rope.scale_linear", 4.0F); },
     [](const ModelConfig& c) { return c.rope.scaling.kind == RopeScalingKind::kLinear; }},
    {"no scaling", "llama",
     [](GgufBuilder& b) {
       b.Text("llama.rope.scaling.type", "none").F32("llama.rope.scaling.factor", 4.0F);
     },
     [](const ModelConfig& c) { return c.rope.scaling.kind == RopeScalingKind::kNone; }},
    {"yarn", "qwen2",
     [](GgufBuilder& b) {
       b.Text("qwen2.rope.scaling.type", "yarn")
           .F32("qwen2.rope.scaling.factor", 4.0F)
           .U32("qwen2.rope.scaling.original_context_length", 128)
           .F32("qwen2.rope.scaling.yarn_beta_fast", 16.0F)
           .F32("qwen2.rope.scaling.attn_factor", 2.0F);
     },
     [](const ModelConfig& c) {
       const RopeScaling& s = c.rope.scaling;
       return s.kind == RopeScalingKind::kYarn && s.original_context == 128 &&
              s.beta_fast == 16.0 && s.beta_slow == 1.0 &&
              std::fabs(s.attention_factor - 2 * (0.1 * std::log(4.0) + 1)) < 1e-12;
     }},
    {"no experts", "llama", [](GgufBuilder& b) { b.U32("llama.expert_count", 0); },
     [](const ModelConfig&) { return true; }},
};

TEST(GgufConfig, ReadsItsKeys) {
  for (const ReadRow& row : kReadRows) {
    GgufBuilder builder = Keys(row.architecture);
    row.change(builder);
    const auto config = ReadKeys(builder);
    ASSERT_TRUE(config) << row.what << ": " << ToString(config.error());
    EXPECT_TRUE(row.holds(*config)) << row.what;
  }
}

struct KeyRow {
  const char* what;
  const char* architecture;
  std::function<void(GgufBuilder&)> spoil;
  std::vector<std::string> names;
};

// Replaces an integer key.
std::function<void(GgufBuilder&)> Set(const char* key, std::uint32_t value) {
  return [=](GgufBuilder& b) { b.Remove(key).U32(key, value); };
}

std::function<void(GgufBuilder&)> SetReal(const char* key, float value) {
  return [=](GgufBuilder& b) { b.Remove(key).F32(key, value); };
}

std::function<void(GgufBuilder&)> Without(const char* key) {
  return [=](GgufBuilder& b) { b.Remove(key); };
}

const KeyRow kKeyRows[] = {
    {"no architecture", "llama", Without("general.architecture"), {"general.architecture"}},
    {"architecture", "mamba", [](GgufBuilder&) {}, {"general.architecture", "\"mamba\"", "gemma3"}},
    {"architecture is empty", "", [](GgufBuilder&) {}, {"general.architecture"}},
    {"architecture is a number",
     "llama",
     [](GgufBuilder& b) { b.Remove("general.architecture").U32("general.architecture", 1); },
     {"general.architecture", "uint32"}},
    {"no layers", "llama", Without("llama.block_count"), {"llama.block_count"}},
    {"no width", "llama", Without("llama.embedding_length"), {"llama.embedding_length"}},
    {"no heads", "qwen2", Without("qwen2.attention.head_count"), {"qwen2.attention.head_count"}},
    {"no feed-forward",
     "llama",
     Without("llama.feed_forward_length"),
     {"llama.feed_forward_length"}},
    {"no context", "llama", Without("llama.context_length"), {"llama.context_length"}},
    {"no eps",
     "llama",
     Without("llama.attention.layer_norm_rms_epsilon"),
     {"llama.attention.layer_norm_rms_epsilon"}},
    {"no vocabulary", "llama", Without("llama.vocab_size"), {"llama.vocab_size"}},
    {"no base", "gemma3", Without("gemma3.rope.freq_base"), {"gemma3.rope.freq_base"}},
    {"no window",
     "gemma3",
     Without("gemma3.attention.sliding_window"),
     {"gemma3.attention.sliding_window"}},
    {"0 heads",
     "llama",
     Set("llama.attention.head_count", 0),
     {"llama.attention.head_count", "found 0"}},
    {"0 key heads",
     "llama",
     Set("llama.attention.head_count_kv", 0),
     {"llama.attention.head_count_kv", "found 0"}},
    {"key heads do not divide",
     "llama",
     Set("llama.attention.head_count_kv", 3),
     {"llama.attention.head_count_kv", "4", "3"}},
    {"more key heads",
     "llama",
     Set("llama.attention.head_count_kv", 8),
     {"llama.attention.head_count_kv", "8"}},
    {"heads by layer",
     "llama",
     [](GgufBuilder& b) {
       b.Remove("llama.attention.head_count").Ints("llama.attention.head_count", {4, 4});
     },
     {"llama.attention.head_count", "array of int32"}},
    {"0 layers", "llama", Set("llama.block_count", 0), {"llama.block_count", "found 0"}},
    {"2^32 - 1 layers", "llama", Set("llama.block_count", 0xffffffffU), {"llama.block_count"}},
    {"0 wide", "llama", Set("llama.embedding_length", 0), {"llama.embedding_length"}},
    {"heads do not divide the width",
     "llama",
     Set("llama.embedding_length", 66),
     {"llama.attention.key_length"}},
    {"head size 0", "llama", Set("llama.attention.key_length", 0), {"llama.attention.key_length"}},
    {"odd head size",
     "llama",
     [](GgufBuilder& b) {
       b.U32("llama.attention.key_length", 15).U32("llama.attention.value_length", 15);
     },
     {"llama.rope.dimension_count", "15"}},
    {"keys and values differ",
     "llama",
     Set("llama.attention.value_length", 8),
     {"llama.attention.value_length", "16", "8"}},
    {"rotated past the head",
     "llama",
     Set("llama.rope.dimension_count", 32),
     {"llama.rope.dimension_count", "32", "16"}},
    {"vocabulary 0", "llama", Set("llama.vocab_size", 0), {"llama.vocab_size"}},
    {"eps 0",
     "llama",
     SetReal("llama.attention.layer_norm_rms_epsilon", 0.0F),
     {"llama.attention.layer_norm_rms_epsilon"}},
    {"eps NaN",
     "llama",
     SetReal("llama.attention.layer_norm_rms_epsilon", NAN),
     {"llama.attention.layer_norm_rms_epsilon"}},
    {"eps is an integer",
     "llama",
     Set("llama.attention.layer_norm_rms_epsilon", 1),
     {"llama.attention.layer_norm_rms_epsilon", "uint32"}},
    {"base 0", "llama", SetReal("llama.rope.freq_base", 0.0F), {"llama.rope.freq_base"}},
    {"base infinite", "llama", SetReal("llama.rope.freq_base", INFINITY), {"llama.rope.freq_base"}},
    {"rope type",
     "llama",
     [](GgufBuilder& b) { b.Text("llama.rope.scaling.type", "longrope"); },
     {"llama.rope.scaling.type", "\"longrope\""}},
    {"no factor",
     "llama",
     [](GgufBuilder& b) { b.Text("llama.rope.scaling.type", "linear"); },
     {"llama.rope.scaling.factor"}},
    {"factor 0",
     "llama",
     SetReal("llama.rope.scaling.factor", 0.0F),
     {"llama.rope.scaling.factor"}},
    {"no original context",
     "llama",
     [](GgufBuilder& b) {
       b.Text("llama.rope.scaling.type", "yarn").F32("llama.rope.scaling.factor", 4.0F);
     },
     {"llama.rope.scaling.original_context_length"}},
    {"experts", "llama", Set("llama.expert_count", 8), {"llama.expert_count", "8"}},
    {"attention softcap",
     "gemma3",
     SetReal("gemma3.attn_logit_softcapping", 50.0F),
     {"gemma3.attn_logit_softcapping"}},
    {"not causal",
     "llama",
     [](GgufBuilder& b) { b.Bool("llama.attention.causal", false); },
     {"llama.attention.causal"}},
    {"logit scale", "llama", SetReal("llama.logit_scale", 8.0F), {"llama.logit_scale"}},
    {"an unsupported key of another type",
     "llama",
     [](GgufBuilder& b) { b.Text("llama.expert_count", "0"); },
     {"llama.expert_count", "string"}},
    {"negative softcap",
     "gemma3",
     SetReal("gemma3.final_logit_softcapping", -1.0F),
     {"gemma3.final_logit_softcapping"}},
    {"scale 0", "llama", SetReal("llama.attention.scale", 0.0F), {"scale"}},
    {"window of unknown layers",
     "qwen2",
     Set("qwen2.attention.sliding_window", 16),
     {"qwen2.attention.sliding_window", "sliding_window_pattern"}},
    {"pattern 0",
     "gemma3",
     Set("gemma3.attention.sliding_window_pattern", 0),
     {"gemma3.attention.sliding_window_pattern"}},
    {"pattern of too few layers",
     "gemma3",
     [](GgufBuilder& b) { b.Bools("gemma3.attention.sliding_window_pattern", {true}); },
     {"gemma3.attention.sliding_window_pattern", "7", "1"}},
    {"pattern of numbers",
     "gemma3",
     [](GgufBuilder& b) {
       b.Ints("gemma3.attention.sliding_window_pattern", {1, 1, 1, 1, 1, 0, 1});
     },
     {"gemma3.attention.sliding_window_pattern", "int32"}},
};

TEST(GgufConfig, RefusesByKey) {
  for (const KeyRow& row : kKeyRows) {
    GgufBuilder builder = Keys(row.architecture);
    row.spoil(builder);
    const auto config = ReadKeys(builder);
    ASSERT_FALSE(config) << row.what;
    ExpectNames(config.error(), row.names, row.what);
  }
}

struct LimitRow {
  int ModelConfigLimits::*limit;
  int value;  // of the file
  const char* gguf_key;
  const char* json_key;
};

const LimitRow kLimitRows[] = {
    {&ModelConfigLimits::max_layers, kLayers, "llama.block_count", "/num_hidden_layers"},
    {&ModelConfigLimits::max_dim, 64, "llama.embedding_length", "/hidden_size"},
    {&ModelConfigLimits::max_heads, 4, "llama.attention.head_count", "/num_attention_heads"},
    {&ModelConfigLimits::max_head_dim, 16, "llama.attention.key_length", "/head_dim"},
    {&ModelConfigLimits::max_hidden_dim, 96, "llama.feed_forward_length", "/intermediate_size"},
    {&ModelConfigLimits::max_vocab_size, 100, "llama.vocab_size", "/vocab_size"},
    {&ModelConfigLimits::max_context_length, 512, "llama.context_length",
     "/max_position_embeddings"},
};

// A config.json of this model_type.
json Json(const std::string& type) {
  json config = {{"model_type", type},
                 {"hidden_size", 64},
                 {"intermediate_size", 96},
                 {"num_hidden_layers", kLayers},
                 {"num_attention_heads", 4},
                 {"vocab_size", 100},
                 {"max_position_embeddings", 512},
                 {"rms_norm_eps", 1e-6},
                 {"rope_theta", 5000},
                 {"hidden_act", "silu"}};
  if (type == "qwen3") config["head_dim"] = 32;
  if (type == "gemma3_text") {
    config.update({{"head_dim", 32},
                   {"hidden_activation", "gelu_pytorch_tanh"},
                   {"query_pre_attn_scalar", 64},
                   {"sliding_window", 32}});
  }
  return config;
}

TEST(ModelConfig, LimitsHoldOnBothSides) {
  for (const LimitRow& row : kLimitRows) {
    ModelConfigLimits limits;
    limits.*row.limit = row.value;
    EXPECT_TRUE(ReadKeys(Keys("llama"), limits)) << row.gguf_key;
    EXPECT_TRUE(ReadJsonConfig(Json("llama").dump(), limits)) << row.json_key;
    limits.*row.limit = row.value - 1;
    const auto gguf = ReadKeys(Keys("llama"), limits);
    ASSERT_FALSE(gguf) << row.gguf_key;
    EXPECT_EQ(gguf.error().code, ErrorCode::kLimit) << row.gguf_key;
    EXPECT_EQ(gguf.error().place, row.gguf_key);
    const auto json_config = ReadJsonConfig(Json("llama").dump(), limits);
    ASSERT_FALSE(json_config) << row.json_key;
    EXPECT_EQ(json_config.error().code, ErrorCode::kLimit) << row.json_key;
    EXPECT_EQ(json_config.error().place, row.json_key);
  }
}

struct JsonRow {
  const char* what;
  const char* type;
  json patch;  // merged: null removes a key
  std::function<bool(const ModelConfig&)> holds;
};

const json kLlama3 = {{"rope_type", "llama3"},
                      {"factor", 8.0},
                      {"low_freq_factor", 1.0},
                      {"high_freq_factor", 4.0},
                      {"original_max_position_embeddings", 128}};

const JsonRow kJsonRows[] = {
    {"defaults",
     "llama",
     {{"rope_theta", nullptr}},
     [](const ModelConfig& c) {
       return c.n_kv_heads == 4 && c.head_dim == 16 && c.rope.base == 10000.0 && !c.tied_output &&
              c.rope_pairing == RopePairing::kHalfSplit && !c.norm_weight_plus_one &&
              c.attention_scale == 0.25;
     }},
    {"tied",
     "llama",
     {{"tie_word_embeddings", true}},
     [](const ModelConfig& c) { return c.tied_output; }},
    {"qwen3 head size", "qwen3", json::object(),
     [](const ModelConfig& c) { return c.head_dim == 32 && c.qk_norm; }},
    {"gemma3", "gemma3_text", json::object(),
     [](const ModelConfig& c) {
       return c.architecture == "gemma3" && c.tied_output && c.norm_weight_plus_one &&
              c.attention_scale == 0.125 && c.embedding_scale == 8.0 &&
              c.rope_local.base == 10000.0 && c.activation == Activation::kGeluTanh &&
              c.layer_window == std::vector<int>{32, 32, 32, 32, 32, 0, 32};
     }},
    {"gemma3 pattern by its newer name",
     "gemma3_text",
     {{"_sliding_window_pattern", 2}},
     [](const ModelConfig& c) {
       return c.layer_window == std::vector<int>{32, 0, 32, 0, 32, 0, 32};
     }},
    {"layer types",
     "gemma3_text",
     {{"layer_types",
       {"full_attention", "sliding_attention", "full_attention", "full_attention", "full_attention",
        "full_attention", "full_attention"}}},
     [](const ModelConfig& c) { return c.layer_window == std::vector<int>{0, 32, 0, 0, 0, 0, 0}; }},
    {"gemma3 rope by type of layer",
     "gemma3_text",
     {{"rope_theta", nullptr},
      {"rope_parameters",
       {{"full_attention", {{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 1e6}}},
        {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 9000.0}}}}}},
     [](const ModelConfig& c) {
       return c.rope.base == 1e6 && c.rope.scaling.kind == RopeScalingKind::kLinear &&
              c.rope_local.base == 9000.0 && c.rope_local.scaling.kind == RopeScalingKind::kNone;
     }},
    {"rope parameters",
     "llama",
     {{"rope_theta", nullptr},
      {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 7e5}}}},
     [](const ModelConfig& c) { return c.rope.base == 7e5; }},
    {"llama3",
     "llama",
     {{"rope_scaling", kLlama3}},
     [](const ModelConfig& c) {
       const RopeScaling& s = c.rope.scaling;
       return s.kind == RopeScalingKind::kLlama3 && s.factor == 8.0 && s.original_context == 128 &&
              s.low_freq_factor == 1.0 && s.high_freq_factor == 4.0;
     }},
    {"mistral's window",
     "mistral",
     {{"sliding_window", 9}},
     [](const ModelConfig& c) { return c.layer_window == std::vector<int>(kLayers, 9); }},
    {"mistral without",
     "mistral",
     {{"sliding_window", nullptr}},
     [](const ModelConfig& c) { return c.layer_window == std::vector<int>(kLayers, 0); }},
    {"qwen2's window not in use",
     "qwen2",
     {{"use_sliding_window", false}, {"sliding_window", 9}, {"max_window_layers", 2}},
     [](const ModelConfig& c) { return c.layer_window == std::vector<int>(kLayers, 0); }},
    {"qwen2's window in use",
     "qwen2",
     {{"use_sliding_window", true}, {"sliding_window", 9}, {"max_window_layers", 5}},
     [](const ModelConfig& c) { return c.layer_window == std::vector<int>{0, 0, 0, 0, 0, 9, 9}; }},
    {"neutral values",
     "llama",
     {{"attention_bias", false},
      {"mlp_bias", false},
      {"partial_rotary_factor", 1.0},
      {"quantization_config", nullptr},
      {"rope_scaling", nullptr}},
     [](const ModelConfig&) { return true; }},
};

TEST(JsonConfig, ReadsItsKeys) {
  for (const JsonRow& row : kJsonRows) {
    json text = Json(row.type);
    text.merge_patch(row.patch);
    const auto config = ReadJsonConfig(text.dump());
    ASSERT_TRUE(config) << row.what << ": " << ToString(config.error());
    EXPECT_TRUE(row.holds(*config)) << row.what;
  }
}

struct BadJsonRow {
  const char* what;
  const char* type;
  json patch;
  std::vector<std::string> names;
};

json Rope(json patch) {
  json scaling = kLlama3;
  scaling.merge_patch(patch);
  return {{"rope_scaling", scaling}};
}

const BadJsonRow kBadJsonRows[] = {
    {"no type", "llama", {{"model_type", nullptr}}, {"/model_type"}},
    {"type", "mixtral", json::object(), {"/model_type", "\"mixtral\"", "qwen3"}},
    {"a model of pictures and text", "gemma3", json::object(), {"/model_type", "\"gemma3\""}},
    {"no layers", "llama", {{"num_hidden_layers", nullptr}}, {"/num_hidden_layers"}},
    {"no width", "llama", {{"hidden_size", nullptr}}, {"/hidden_size"}},
    {"no heads", "llama", {{"num_attention_heads", nullptr}}, {"/num_attention_heads"}},
    {"no feed-forward", "llama", {{"intermediate_size", nullptr}}, {"/intermediate_size"}},
    {"no vocabulary", "llama", {{"vocab_size", nullptr}}, {"/vocab_size"}},
    {"no context", "llama", {{"max_position_embeddings", nullptr}}, {"/max_position_embeddings"}},
    {"no eps", "llama", {{"rms_norm_eps", nullptr}}, {"/rms_norm_eps"}},
    {"no activation", "llama", {{"hidden_act", nullptr}}, {"/hidden_act"}},
    {"activation", "llama", {{"hidden_act", "relu"}}, {"/hidden_act", "\"relu\""}},
    {"exact gelu",
     "gemma3_text",
     {{"hidden_activation", "gelu"}},
     {"/hidden_activation", "\"gelu\""}},
    {"no head size", "qwen3", {{"head_dim", nullptr}}, {"/head_dim"}},
    {"no head size in gemma3", "gemma3_text", {{"head_dim", nullptr}}, {"/head_dim"}},
    {"no base in gemma3", "gemma3_text", {{"rope_theta", nullptr}}, {"/rope_theta"}},
    {"no scalar", "gemma3_text", {{"query_pre_attn_scalar", nullptr}}, {"/query_pre_attn_scalar"}},
    {"scalar 0", "gemma3_text", {{"query_pre_attn_scalar", 0}}, {"/query_pre_attn_scalar"}},
    {"no window", "gemma3_text", {{"sliding_window", nullptr}}, {"/sliding_window"}},
    {"size is a string", "llama", {{"hidden_size", "64"}}, {"/hidden_size", "string"}},
    {"size is real", "llama", {{"hidden_size", 64.0}}, {"/hidden_size", "integer"}},
    {"size is negative", "llama", {{"hidden_size", -64}}, {"/hidden_size", "-64"}},
    {"size 2^64 - 1", "llama", {{"hidden_size", 18446744073709551615ULL}}, {"/hidden_size"}},
    {"heads 0", "llama", {{"num_attention_heads", 0}}, {"/num_attention_heads", "found 0"}},
    {"key heads do not divide", "llama", {{"num_key_value_heads", 3}}, {"/num_key_value_heads"}},
    {"eps is a string", "llama", {{"rms_norm_eps", "x"}}, {"/rms_norm_eps", "string"}},
    {"tied is a number", "llama", {{"tie_word_embeddings", 1}}, {"/tie_word_embeddings"}},
    {"attention bias", "llama", {{"attention_bias", true}}, {"/attention_bias"}},
    {"attention bias in qwen3", "qwen3", {{"attention_bias", true}}, {"/attention_bias"}},
    {"feed-forward bias", "llama", {{"mlp_bias", true}}, {"/mlp_bias"}},
    {"experts", "llama", {{"num_local_experts", 8}}, {"/num_local_experts"}},
    {"partly rotated", "llama", {{"partial_rotary_factor", 0.5}}, {"/partial_rotary_factor"}},
    {"quantized", "llama", {{"quantization_config", {{"bits", 4}}}}, {"/quantization_config"}},
    {"attention softcap",
     "gemma3_text",
     {{"attn_logit_softcapping", 50.0}},
     {"/attn_logit_softcapping"}},
    {"both directions",
     "gemma3_text",
     {{"use_bidirectional_attention", true}},
     {"/use_bidirectional_attention"}},
    {"window in llama", "llama", {{"sliding_window", 8}}, {"/sliding_window"}},
    {"window 0", "mistral", {{"sliding_window", 0}}, {"/sliding_window"}},
    {"window without its layers",
     "qwen2",
     {{"use_sliding_window", true}, {"sliding_window", 9}},
     {"/max_window_layers"}},
    {"type of layer",
     "gemma3_text",
     {{"layer_types", {"chunked_attention", "", "", "", "", "", ""}}},
     {"/layer_types/0", "chunked_attention"}},
    {"too few types of layers",
     "gemma3_text",
     {{"layer_types", {"full_attention"}}},
     {"/layer_types", "7", "1"}},
    {"rope type",
     "llama",
     Rope({{"rope_type", "dynamic"}}),
     {"/rope_scaling/rope_type", "\"dynamic\""}},
    {"no rope type", "llama", Rope({{"rope_type", nullptr}}), {"/rope_scaling/rope_type"}},
    {"older name of the rope type",
     "llama",
     Rope({{"rope_type", nullptr}, {"type", "su"}}),
     {"/rope_scaling/type", "\"su\""}},
    {"rope scaling is a string",
     "llama",
     {{"rope_scaling", "llama3"}},
     {"/rope_scaling", "string"}},
    {"no factor", "llama", Rope({{"factor", nullptr}}), {"/rope_scaling/factor"}},
    {"no original context",
     "llama",
     Rope({{"original_max_position_embeddings", nullptr}}),
     {"/rope_scaling/original_max_position_embeddings"}},
    {"no low factor",
     "llama",
     Rope({{"low_freq_factor", nullptr}}),
     {"/rope_scaling/low_freq_factor"}},
    {"no band", "llama", Rope({{"high_freq_factor", 1.0}}), {"high_freq_factor"}},
    {"factor below 1", "llama", Rope({{"factor", 0.5}}), {"/rope_scaling/factor"}},
    {"unknown key of rope",
     "llama",
     Rope({{"mrope_section", {1, 2}}}),
     {"/rope_scaling/mrope_section"}},
    {"yarn's attention 0",
     "llama",
     Rope({{"rope_type", "yarn"}, {"attention_factor", 0.0}}),
     {"/rope_scaling/attention_factor"}},
    {"yarn's betas", "llama", Rope({{"rope_type", "yarn"}, {"beta_fast", 0.5}}), {"beta_fast"}},
    {"rope of one type of layer",
     "gemma3_text",
     {{"rope_parameters", {{"full_attention", {{"rope_type", "default"}, {"rope_theta", 1e6}}}}}},
     {"/rope_parameters/sliding_attention"}},
};

TEST(JsonConfig, RefusesByKey) {
  for (const BadJsonRow& row : kBadJsonRows) {
    json text = Json(row.type);
    text.merge_patch(row.patch);
    const auto config = ReadJsonConfig(text.dump());
    ASSERT_FALSE(config) << row.what;
    ExpectNames(config.error(), row.names, row.what);
  }
  for (const char* text : {"", "[]", "3", "{\"model_type\":\"llama\"", "null"}) {
    EXPECT_FALSE(ReadJsonConfig(text)) << text;
  }
}

}  // namespace
}  // namespace adjudge
