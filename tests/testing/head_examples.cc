#include "tests/testing/head_examples.h"

#include "tests/testing/fake_model_file.h"
#include "tests/testing/toy_tokenizer.h"

namespace adjudge::testing {

std::shared_ptr<const Model> TinyBackbone(const std::string& architecture, int threads,
                                          BackendKind backend) {
  ModelConfig config = TinyConfig(architecture);
  config.vocab_size = ToyVocabularySize();
  config.context_length = 256;
  return MakeFakeModel(config, {.backend = backend, .threads = threads});
}

std::vector<TextAndLabel> ToyIntents(int n_labels, int each) {
  const std::vector<std::string> words = {"AAAA", "zzzz", "1111", "!!!!", "QQ QQ", "e e e"};
  std::vector<TextAndLabel> texts;
  for (int i = 0; i < n_labels * each; ++i) {
    const auto label = static_cast<std::size_t>(i % n_labels);
    texts.push_back({.text = words[label] + " number " + std::to_string(i / n_labels),
                     .label = "label " + std::to_string(label)});
  }
  return texts;
}

}  // namespace adjudge::testing
