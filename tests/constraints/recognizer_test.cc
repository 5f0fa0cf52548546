#include "constraints/automaton/recognizer.h"

#include <gtest/gtest.h>

#include "tests/testing/text_list_recognizer.h"

namespace adjudge {
namespace {

using testing::TextListRecognizer;

TEST(Recognizer, WalksAndEnds) {
  TextListRecognizer texts({"ab", "abc", "x"});
  EXPECT_TRUE(texts.Accepts(Walk(texts, texts.Start(), "ab")));
  EXPECT_FALSE(texts.Accepts(Walk(texts, texts.Start(), "a")));
  EXPECT_EQ(Walk(texts, texts.Start(), "ac"), Recognizer::kDead);
  EXPECT_EQ(texts.ShortestEnd(texts.Start()), "x");
  EXPECT_EQ(texts.ShortestEnd(Walk(texts, texts.Start(), "a")), "b");
}

TEST(Recognizer, FuelEndsInAnErrorAndComesBack) {
  TextListRecognizer texts({"abc"});
  texts.Refuel(2);
  EXPECT_EQ(Walk(texts, texts.Start(), "abc"), Recognizer::kDead);
  ASSERT_FALSE(texts.status().has_value());
  EXPECT_EQ(texts.status().error().code, ErrorCode::kLimit);
  texts.Refuel(3);
  EXPECT_TRUE(texts.status().has_value());
  EXPECT_TRUE(texts.Accepts(Walk(texts, texts.Start(), "abc")));
}

}  // namespace
}  // namespace adjudge
