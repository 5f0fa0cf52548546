// Small labelled texts and backbones for tests of trained heads.
#pragma once

#include <string>
#include <vector>

#include "engine/model.h"

namespace adjudge::testing {

// A tiny random model whose vocabulary is the toy tokenizer's.
std::shared_ptr<const Model> TinyBackbone(const std::string& architecture, int threads = 1,
                                          BackendKind backend = BackendKind::kCpu);

// Texts of `n_labels` labels that a few words tell apart, `each` of each.
struct TextAndLabel {
  std::string text;
  std::string label;
};
std::vector<TextAndLabel> ToyIntents(int n_labels, int each);

}  // namespace adjudge::testing
