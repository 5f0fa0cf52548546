#include "tests/testing/small_tokenizers.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/text/byte_alphabet.h"
#include "engine/text/tokenizer_sources.h"

namespace adjudge::testing {
namespace {

using nlohmann::json;

struct Vocabulary {
  std::vector<std::string> tokens;
  std::vector<std::int32_t> types;
  std::vector<std::string> merges;
};

Vocabulary Bytes() {
  Vocabulary words;
  for (int byte = 0; byte < 256; ++byte) {
    words.tokens.emplace_back(ByteToLetter(static_cast<unsigned char>(byte)));
  }
  words.merges = {"t h", "th e", "\xC4\xA0 the", "i n", "in g", "! !"};
  for (const std::string& merge : words.merges) {
    const std::size_t space = merge.find(' ');
    words.tokens.push_back(merge.substr(0, space) + merge.substr(space + 1));
  }
  words.types.assign(words.tokens.size(), 1);
  for (const char* name : {"<|im_start|>", "<|im_end|>", "<|endoftext|>"}) {
    words.tokens.emplace_back(name);
    words.types.push_back(3);
  }
  words.tokens.emplace_back("<tool>");
  words.types.push_back(4);
  return words;
}

}  // namespace

json ByteTokenizerJson() {
  const Vocabulary words = Bytes();
  json vocab = json::object();
  json added = json::array();
  for (std::size_t i = 0; i < words.tokens.size(); ++i) {
    if (words.types[i] == 1) {
      vocab[words.tokens[i]] = i;
    } else {
      added.push_back({{"id", i},
                       {"content", words.tokens[i]},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", words.types[i] == 3}});
    }
  }
  const json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  return {{"version", "1.0"},
          {"added_tokens", added},
          {"normalizer", nullptr},
          {"pre_tokenizer", byte_level},
          {"post_processor", nullptr},
          {"decoder", byte_level},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", words.merges}}}};
}

std::shared_ptr<const Tokenizer> ByteTokenizer() {
  auto tokenizer = LoadJsonTokenizer(ByteTokenizerJson().dump(), {});
  EXPECT_TRUE(tokenizer) << ToString(tokenizer.error());
  return *tokenizer;
}

GgufBuilder ByteTokenizerGguf(const std::string& pre) {
  const Vocabulary words = Bytes();
  GgufBuilder builder;
  builder.Text("general.architecture", "llama")
      .Text("tokenizer.ggml.model", "gpt2")
      .Text("tokenizer.ggml.pre", pre)
      .Texts("tokenizer.ggml.tokens", words.tokens)
      .Ints("tokenizer.ggml.token_type", words.types)
      .Texts("tokenizer.ggml.merges", words.merges);
  return builder;
}

GgufBuilder SentencePieceGguf() {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<std::int32_t> types = {2, 3, 3};
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    tokens.emplace_back(name);
    types.push_back(6);
  }
  std::vector<float> scores(tokens.size(), 0.0F);
  const std::string space = "\xE2\x96\x81";
  float score = 0;
  for (const std::string& piece :
       {space + "t", std::string("he"), space + "the", std::string("en"), space + "h",
        space + space, space, std::string("t"), std::string("h"), std::string("e"),
        std::string("n"), std::string("\n")}) {
    tokens.push_back(piece);
    types.push_back(1);
    scores.push_back(score);
    score -= 1;
  }
  tokens.emplace_back("<|im_end|>");
  types.push_back(3);
  tokens.emplace_back("\n\n");
  types.push_back(4);
  scores.insert(scores.end(), {0.0F, 0.0F});
  GgufBuilder builder;
  builder.Text("general.architecture", "llama")
      .Text("tokenizer.ggml.model", "llama")
      .Texts("tokenizer.ggml.tokens", tokens)
      .Ints("tokenizer.ggml.token_type", types)
      .Floats("tokenizer.ggml.scores", scores)
      .U32("tokenizer.ggml.bos_token_id", 1)
      .U32("tokenizer.ggml.eos_token_id", 2);
  return builder;
}

std::shared_ptr<const Tokenizer> LoadGguf(const GgufBuilder& builder) {
  const auto file = GgufFile::Parse(builder.Build(), /*tensors=*/false);
  EXPECT_TRUE(file) << ToString(file.error());
  auto tokenizer = LoadGgufTokenizer(**file, {});
  EXPECT_TRUE(tokenizer) << ToString(tokenizer.error());
  return *tokenizer;
}

Error GgufError(const GgufBuilder& builder) {
  const auto file = GgufFile::Parse(builder.Build(), /*tensors=*/false);
  if (!file) return file.error();
  const auto tokenizer = LoadGgufTokenizer(**file, {});
  EXPECT_FALSE(tokenizer);
  return tokenizer ? Error{} : tokenizer.error();
}

std::shared_ptr<const Tokenizer> SmallSentencePiece() { return LoadGguf(SentencePieceGguf()); }

}  // namespace adjudge::testing
