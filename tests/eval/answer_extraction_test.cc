#include "eval/answer_extraction.h"

#include <gtest/gtest.h>

namespace adjudge {
namespace {

TEST(AnswerExtractionTest, LabelOrOptionText) {
  const std::vector<std::string> letters = {"A", "B", "C", "D"};
  const std::vector<std::string> cities = {"Lyon", "Paris", "New York", "York"};
  const std::vector<std::string> phrases = {"A plant cell", "an animal cell", "It is B", "no."};
  const std::vector<std::string> digits = {"0", "1", "2", "3"};
  const std::vector<std::string> levels = {"calm", "cross", "furious", "3.5"};
  constexpr int kInvalid = -1;
  const struct {
    const char* text;
    const std::vector<std::string>& labels;
    const std::vector<std::string>& texts;
    int expected;
  } cases[] = {
      {" B", letters, cities, 1},
      {"B.", letters, cities, 1},
      {" (C) Marseille", letters, cities, 2},
      {"**D**", letters, cities, 3},
      {"The answer is B because D is wrong", letters, cities, 1},
      {"B) Paris", letters, cities, 1},
      {"答案是C。", letters, cities, 2},
      {"A", letters, cities, 0},
      {"A.\nBecause", letters, cities, 0},
      {"A good question. The answer is C", letters, cities, 2},
      {"I think it is D", letters, cities, 3},
      {"Band C", letters, cities, 2},
      {"paris.", letters, cities, 1},
      {"The capital is PARIS", letters, cities, 1},
      {"It is New York", letters, cities, 2},
      {"It is York, not New York", letters, cities, 3},
      {"Parisian", letters, cities, kInvalid},
      {"b", letters, cities, kInvalid},
      {"E", letters, cities, kInvalid},
      {"", letters, cities, kInvalid},
      {" \n", letters, cities, kInvalid},
      {"I'm not sure", letters, cities, kInvalid},
      {"A plant cell", letters, phrases, 0},
      {"It is B", letters, phrases, 2},
      {"No", letters, phrases, 3},
      {"2", digits, levels, 2},
      {"about 2.5 or 1", digits, levels, 1},
      {"12", digits, levels, kInvalid},
      {"3.5", digits, levels, 3},
      {"0.3 is furious", digits, levels, 2},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(ExtractAnswer(c.text, c.labels, c.texts).value_or(kInvalid), c.expected) << c.text;
  }
}

}  // namespace
}  // namespace adjudge
