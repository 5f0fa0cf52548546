// Option sets with tokenizers and models of real size.
#include <gtest/gtest.h>

#include <random>

#include "constraints/option_set.h"
#include "engine/generate.h"
#include "tests/testing/option_twin.h"
#include "tests/testing/test_data.h"

namespace adjudge {
namespace {

using Strings = std::vector<std::string>;

// A walk over random allowed tokens of a real vocabulary ends in an option.
void WalkVocabulary(const Vocabulary& vocabulary, const OptionSet& set, const Strings& options,
                    std::mt19937& random) {
  const auto matcher = set.NewMatcher();
  TokenMask mask(vocabulary.width());
  std::string text;
  while (!matcher->IsDone()) {
    matcher->FillMask(mask);
    std::vector<TokenId> ids;
    for (TokenId id = 0; id < mask.width(); ++id) {
      if (!mask.test(id)) continue;
      ids.push_back(id);
      if (vocabulary.is_stop(id)) continue;
      const std::string longer = text + std::string(vocabulary.bytes(id));
      ASSERT_TRUE(std::any_of(options.begin(), options.end(), [&](const std::string& option) {
        return option.starts_with(longer);
      })) << longer;
    }
    ASSERT_FALSE(ids.empty());
    const TokenId id = ids[random() % ids.size()];
    ASSERT_TRUE(matcher->Accept(id));
    if (!vocabulary.is_stop(id)) text += vocabulary.bytes(id);
  }
  EXPECT_TRUE(set.Find(text).has_value()) << text;
}

TEST(OptionGenerate, RealVocabularies) {
  const Strings options = {"Paris",         "Par",        "paris is large", "\xF0\x9F\x9A\x80 go",
                           "\xE5\xAD\x97",  " leading",   "two\nlines",     std::string("n\0l", 3),
                           "1234567890123", "caf\xC3\xA9"};
  int tried = 0;
  std::mt19937 random(5);
  for (const char* name : {"default", "q05.gguf", "g3.gguf"}) {
    const auto path = testing::ModelPath(name);
    if (!path) continue;
    ++tried;
    const auto tokenizer = Tokenizer::Load(*path);
    ASSERT_TRUE(tokenizer.has_value()) << ToString(tokenizer.error());
    const Vocabulary& vocabulary = (*tokenizer)->vocabulary();
    const auto set = *CompileOptionSet(options, vocabulary);
    for (int round = 0; round < 20; ++round) WalkVocabulary(vocabulary, *set, options, random);
    TokenMask mask(vocabulary.width());
    set->NewMatcher()->FillMask(mask);
    EXPECT_EQ(mask, testing::TwinOptionMask(vocabulary, options, "")) << name;
  }
  if (tried == 0) GTEST_SKIP() << "none of the models is here";
}

// One option comes out whatever the question and the temperature, and the better one where the
// model knows it.
TEST(OptionGenerate, OnlyAnOptionComesOut) {
  ADJUDGE_MODEL_OR_SKIP(path, "default");
  const auto model = Model::Load(path, {.threads = 2});
  ASSERT_TRUE(model.has_value()) << ToString(model.error());
  const auto tokenizer = Tokenizer::Load(path);
  ASSERT_TRUE(tokenizer.has_value()) << ToString(tokenizer.error());
  const OptionSetCompiler compiler((*tokenizer)->vocabulary());
  const Strings cities = {"London", "Paris", "Berlin", "Par"};
  Sequence sequence = (*(*model)->NewCache())->NewSequence();
  const auto prompt =
      (*tokenizer)
          ->Encode(
              "<|im_start|>user\nWhat is the capital of France? Answer with the name "
              "of the city.<|im_end|>\n<|im_start|>assistant\n",
              {.parse_special = true});
  for (const double temperature : {0.0, 1.0, 5.0, 100.0}) {
    const auto set = *compiler.Compile(cities, {.allow_leading_space = true});
    const auto matcher = set->NewMatcher();
    GenerateOptions options = {.matcher = matcher.get()};
    options.sampler = {.temperature = temperature, .seed = 1};
    const auto result = Generate(**model, **tokenizer, sequence, *prompt, options);
    ASSERT_TRUE(result.has_value()) << ToString(result.error());
    ASSERT_TRUE(set->Find(result->text).has_value()) << result->text;
    if (temperature == 0) {
      EXPECT_EQ(set->Find(result->text), 1) << result->text;
    }
    const bool may_go_on = cities[static_cast<std::size_t>(*set->Find(result->text))] == "Par";
    EXPECT_EQ(result->finish_reason, may_go_on ? FinishReason::kStop : FinishReason::kConstraint);
  }
}

}  // namespace
}  // namespace adjudge
