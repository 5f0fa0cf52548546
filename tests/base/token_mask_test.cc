#include "engine/base/token_mask.h"

#include <gtest/gtest.h>

namespace adjudge {
namespace {

TEST(TokenMask, SetsCountsAndFindsAtOddWidths) {
  for (int width : {0, 1, 31, 32, 33, 64, 32001}) {
    TokenMask mask(width);
    EXPECT_TRUE(mask.none()) << width;
    mask.set_all();
    EXPECT_EQ(mask.count(), width);
    for (int id = 0; id < width; id += 7) mask.clear(id);
    EXPECT_EQ(mask.count(), width - (width + 6) / 7);
    EXPECT_EQ(mask.first(), width > 1 ? 1 : kNoToken);
  }
}

}  // namespace
}  // namespace adjudge
