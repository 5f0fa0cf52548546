// Weights that are not finite are refused at load, with the tensor's name.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/model/create_backend.h"
#include "engine/model/dequantize.h"
#include "engine/model/transformer.h"
#include "tests/testing/backend_twin.h"
#include "tests/testing/fake_model_file.h"

namespace adjudge {
namespace {

using testing::FakeModelFile;
using testing::RandomWeight;
using testing::TinyConfig;

Error LoadError(const FakeModelFile& file, BackendKind kind, Precision precision) {
  auto model = BuildTransformer(file, *CreateBackend(kind, 2, precision));
  EXPECT_FALSE(model);
  return model ? Error{} : model.error();
}

TEST(NotFiniteWeights, AreRefusedWithTheirName) {
  for (const char* name : {"token_embd.weight", "blk.0.attn_k.weight", "blk.1.ffn_up.weight",
                           "blk.2.ffn_down.weight", "blk.1.attn_norm.weight"}) {
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      for (const bool last : {false, true}) {
        FakeModelFile file(TinyConfig("llama"));
        auto& values = file.values(name);
        values[last ? values.size() - 1 : values.size() / 2] = bad;
        for (const BackendKind kind : {BackendKind::kCpu, BackendKind::kReference}) {
          const Error error = LoadError(file, kind, Precision::kDefault);
          EXPECT_EQ(error.code, ErrorCode::kMalformed) << name;
          EXPECT_EQ(error.place, name);
          EXPECT_NE(error.message.find("not finite"), std::string::npos) << error.message;
        }
      }
    }
  }
}

// Where the float16 numbers of each format lie, by what the definition makes of a bad one.
TEST(NotFiniteWeights, EveryHalfOfABlockIsLookedAt) {
  for (const TensorType type : testing::AllTensorTypes()) {
    const std::int64_t cols = BlockElements(type) == 1 ? 16 : BlockElements(type) * 2;
    RandomWeight weight(1, type, 3, cols);
    ASSERT_TRUE(AllFinite(type, weight.bytes.data(), 3 * cols)) << ToString(type);
    const auto good = weight.bytes;
    int found = 0;
    const std::size_t step = type == TensorType::kF32 ? 4 : 2;
    for (std::size_t at = 0; at + step <= weight.bytes.size(); at += step) {
      weight.bytes = good;
      const std::uint32_t bad = type == TensorType::kF32    ? 0x7F800000
                                : type == TensorType::kBF16 ? 0x7F80
                                                            : 0x7C00;
      std::memcpy(weight.bytes.data() + at, &bad, step);
      bool finite = true;
      for (int r = 0; r < 3; ++r) {
        for (const float x : weight.Row(r)) finite = finite && std::isfinite(x);
      }
      EXPECT_EQ(AllFinite(type, weight.bytes.data(), 3 * cols), finite)
          << ToString(type) << " at byte " << at;
      if (!finite) ++found;
    }
    EXPECT_GT(found, 0) << ToString(type);
  }
}

}  // namespace
}  // namespace adjudge
