// TextListRecognizer: accepts the texts of a list; slow and obvious.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "constraints/automaton/recognizer.h"

namespace adjudge::testing {

// A state is a beginning of some text: its number is its place among all of them, plus one.
class TextListRecognizer final : public Recognizer {
 public:
  // REQUIRES: at least one text.
  explicit TextListRecognizer(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (const std::string& text : texts_) {
      for (std::size_t n = 0; n <= text.size(); ++n) beginnings_.push_back(text.substr(0, n));
    }
    std::sort(beginnings_.begin(), beginnings_.end());
    beginnings_.erase(std::unique(beginnings_.begin(), beginnings_.end()), beginnings_.end());
  }

  State Start() override { return 1; }
  State Next(State state, std::uint8_t byte) override {
    if (!Burn(1)) return kDead;
    const std::string longer = beginnings_[state - 1] + static_cast<char>(byte);
    const auto found = std::lower_bound(beginnings_.begin(), beginnings_.end(), longer);
    if (found == beginnings_.end() || *found != longer) return kDead;
    return static_cast<State>(found - beginnings_.begin()) + 1;
  }
  bool Accepts(State state) override {
    return std::find(texts_.begin(), texts_.end(), beginnings_[state - 1]) != texts_.end();
  }
  std::optional<std::string> ShortestEnd(State state) override {
    const std::string& begun = beginnings_[state - 1];
    std::optional<std::string> best;
    for (const std::string& text : texts_) {
      if (!text.starts_with(begun)) continue;
      if (!best || text.size() - begun.size() < best->size()) best = text.substr(begun.size());
    }
    return best;
  }

 private:
  std::vector<std::string> texts_;
  std::vector<std::string> beginnings_;  // ascending; the empty text first
};

}  // namespace adjudge::testing
