#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "engine/model/model_file.h"
#include "engine/model/model_readers.h"
#include "tests/testing/gguf_builder.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using testing::LittleEndian;

struct Header {
  std::int32_t dim = 8;
  std::int32_t hidden = 12;
  std::int32_t layers = 2;
  std::int32_t heads = 2;
  std::int32_t kv_heads = 1;
  std::int32_t vocab = 5;
  std::int32_t context = 16;

  std::string Bytes() const {
    return LittleEndian(dim) + LittleEndian(hidden) + LittleEndian(layers) + LittleEndian(heads) +
           LittleEndian(kv_heads) + LittleEndian(vocab) + LittleEndian(context);
  }
};

// The header and `n` floats: 0, 1, 2, ...
std::string File(const Header& header, int n) {
  std::string bytes = header.Bytes();
  for (int i = 0; i < n; ++i) bytes += LittleEndian(static_cast<float>(i));
  return bytes;
}

Result<std::unique_ptr<ModelFile>> Open(const std::string& bytes) {
  return OpenLlama2cModel(MappedFile::FromBytes(bytes), "test");
}

// Embedding 40; per layer norms 8 + 8, q 64, k 32, v 32, o 64, w1 96, w2 96, w3 96; final norm 8;
// angles 2 x 16 x 2.
constexpr int kLayerFloats = 8 + 64 + 32 + 32 + 64 + 8 + 96 + 96 + 96;
constexpr int kTiedFloats = 40 + 2 * kLayerFloats + 8 + 64;

TEST(Llama2c, TensorsLieInTheLayoutsOrder) {
  const auto opened = Open(File({}, kTiedFloats));
  ASSERT_TRUE(opened) << ToString(opened.error());
  const ModelFile& file = **opened;
  EXPECT_EQ(file.format(), "llama2.c");
  EXPECT_EQ(file.config().head_dim, 4);
  EXPECT_EQ(file.config().rope_pairing, RopePairing::kInterleaved);
  EXPECT_TRUE(file.config().tied_output);
  EXPECT_EQ(file.config().layer_window, (std::vector<int>{0, 0}));
  const auto first = [&](const char* name, std::int64_t rows, std::int64_t cols) {
    const auto view = file.Matrix(name, rows, cols);
    EXPECT_TRUE(view) << name;
    float value = -1;
    if (view) std::memcpy(&value, view->data, sizeof value);
    return static_cast<int>(value);
  };
  EXPECT_EQ(first("token_embd.weight", 5, 8), 0);
  EXPECT_EQ((*file.Vector("blk.0.attn_norm.weight", 8))[0], 40.0F);
  EXPECT_EQ((*file.Vector("blk.1.attn_norm.weight", 8))[0], 48.0F);
  EXPECT_EQ(first("blk.0.attn_q.weight", 8, 8), 56);
  EXPECT_EQ(first("blk.1.attn_q.weight", 8, 8), 120);
  EXPECT_EQ(first("blk.0.attn_k.weight", 4, 8), 184);
  EXPECT_EQ(first("blk.0.attn_v.weight", 4, 8), 248);
  EXPECT_EQ(first("blk.0.attn_output.weight", 8, 8), 312);
  EXPECT_EQ((*file.Vector("blk.0.ffn_norm.weight", 8))[0], 440.0F);
  EXPECT_EQ(first("blk.0.ffn_gate.weight", 12, 8), 456);
  EXPECT_EQ(first("blk.0.ffn_down.weight", 8, 12), 648);
  EXPECT_EQ(first("blk.1.ffn_up.weight", 12, 8), 936);
  EXPECT_EQ((*file.Vector("output_norm.weight", 8))[0], 1032.0F);
  EXPECT_FALSE(file.Has("output.weight"));
}

TEST(Llama2c, ANegativeVocabularyMeansAnOutputMatrixAfterTheAngles) {
  Header header;
  header.vocab = -5;
  EXPECT_FALSE(Open(File(header, kTiedFloats)));
  const auto opened = Open(File(header, kTiedFloats + 40));
  ASSERT_TRUE(opened) << ToString(opened.error());
  EXPECT_FALSE((*opened)->config().tied_output);
  const auto view = *(*opened)->Matrix("output.weight", 5, 8);
  float value = 0;
  std::memcpy(&value, view.data, sizeof value);
  EXPECT_EQ(value, static_cast<float>(kTiedFloats));
}

struct BadRow {
  const char* what;
  std::function<void(Header&)> spoil;
  std::vector<std::string> names;
};

constexpr std::int32_t kMost = 0x7fffffff;

const BadRow kBadRows[] = {
    {"dim 0", [](Header& h) { h.dim = 0; }, {"header dim", "found 0"}},
    {"dim negative", [](Header& h) { h.dim = -8; }, {"header dim", "-8"}},
    {"dim huge", [](Header& h) { h.dim = kMost; }, {"header dim", "2147483647"}},
    {"hidden 0", [](Header& h) { h.hidden = 0; }, {"header hidden_dim"}},
    {"hidden huge", [](Header& h) { h.hidden = kMost; }, {"header hidden_dim"}},
    {"layers 0", [](Header& h) { h.layers = 0; }, {"header n_layers"}},
    {"layers huge", [](Header& h) { h.layers = kMost; }, {"header n_layers"}},
    {"heads 0", [](Header& h) { h.heads = 0; }, {"header n_heads"}},
    {"heads that do not divide", [](Header& h) { h.heads = 3; }, {"header n_heads", "found 3"}},
    {"odd head size",
     [](Header& h) {
       h.heads = 8;
       h.kv_heads = 8;
     },
     {"header dim / n_heads"}},
    {"kv heads 0", [](Header& h) { h.kv_heads = 0; }, {"header n_kv_heads"}},
    {"more kv heads", [](Header& h) { h.kv_heads = 4; }, {"header n_kv_heads", "found 4"}},
    {"vocabulary 0", [](Header& h) { h.vocab = 0; }, {"header vocab_size"}},
    {"vocabulary least", [](Header& h) { h.vocab = -kMost - 1; }, {"header vocab_size"}},
    {"context 0", [](Header& h) { h.context = 0; }, {"header seq_len"}},
    {"context huge", [](Header& h) { h.context = kMost; }, {"header seq_len"}},
    {"another size", [](Header& h) { h.context = 17; }, {"file size", "bytes"}},
};

TEST(Llama2c, BadHeadersAreRefusedByField) {
  for (const BadRow& row : kBadRows) {
    Header header;
    row.spoil(header);
    const auto opened = Open(File(header, kTiedFloats));
    ASSERT_FALSE(opened) << row.what;
    for (const std::string& name : row.names) {
      EXPECT_NE(ToString(opened.error()).find(name), std::string::npos)
          << row.what << ": no \"" << name << "\" in \"" << ToString(opened.error()) << "\"";
    }
  }
  EXPECT_FALSE(Open(""));
  EXPECT_FALSE(Open(Header().Bytes().substr(0, 27)));
  EXPECT_FALSE(Open(Header().Bytes()));
  EXPECT_FALSE(Open(File({}, kTiedFloats - 1)));
  EXPECT_FALSE(Open(File({}, kTiedFloats + 1)));
}

TEST(Llama2c, OpensStories260K) {
  ADJUDGE_DATA_OR_SKIP(path, "models/stories260K/stories260K.bin");
  const auto opened = ModelFile::Open(path);
  ASSERT_TRUE(opened) << ToString(opened.error());
  EXPECT_EQ((*opened)->config().n_layers, 5);
  EXPECT_EQ((*opened)->config().vocab_size, 512);
  EXPECT_EQ((*opened)->config().n_kv_heads, 4);
}

}  // namespace
}  // namespace adjudge
