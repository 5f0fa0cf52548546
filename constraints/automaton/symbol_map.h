// SymbolMap: characters that an automaton cannot tell apart are one symbol.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "grammars/code_point_set.h"

namespace adjudge {

// Immutable. Every scalar value has a symbol from 0 to size() - 1.
class SymbolMap {
 public:
  // Two characters have one symbol iff exactly the same sets hold them. Sets: ascending ranges.
  using Ranges = std::vector<std::pair<char32_t, char32_t>>;
  explicit SymbolMap(const std::vector<Ranges>& sets);
  // Two characters have one symbol iff they have one in each of the maps.
  explicit SymbolMap(const std::vector<const SymbolMap*>& maps);

  std::uint32_t size() const { return static_cast<std::uint32_t>(example_.size()); }
  std::uint32_t Of(char32_t code) const {
    return code < 0x80 ? ascii_[code] : symbols_[IntervalOf(code)];
  }
  // The lowest character of a symbol.
  char32_t example(std::uint32_t symbol) const { return example_[symbol]; }

  // Intervals of characters of one symbol, in order: first characters, and symbols.
  std::size_t n_intervals() const { return firsts_.size(); }
  char32_t first(std::size_t i) const { return firsts_[i]; }
  char32_t last(std::size_t i) const {
    return i + 1 < firsts_.size() ? firsts_[i + 1] - 1 : kLastCodePoint;
  }
  std::uint32_t symbol(std::size_t i) const { return symbols_[i]; }
  std::size_t IntervalOf(char32_t code) const;
  // The symbols of characters from U+0080 up, each once.
  const std::vector<std::uint32_t>& non_ascii() const { return non_ascii_; }

 private:
  void Finish();

  std::vector<char32_t> firsts_;
  std::vector<std::uint32_t> symbols_;
  std::vector<char32_t> example_;
  std::vector<std::uint32_t> non_ascii_;
  std::array<std::uint32_t, 128> ascii_{};
};

}  // namespace adjudge
