// StringCase: a set of strings, read byte by byte of their decoded text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "constraints/schema/language.h"

namespace adjudge::schema {

// Positions in a sorted list of texts: those that begin with the bytes read so far.
struct TextRange {
  std::int32_t first = 0;
  std::int32_t last = 0;  // past the end
  bool empty() const { return first >= last; }
  std::int32_t size() const { return last - first; }
  friend bool operator==(const TextRange&, const TextRange&) = default;
};
// The texts of `range` that go on with `byte` after `depth` bytes.
TextRange NarrowRange(const std::vector<std::string>& texts, TextRange range, std::int32_t depth,
                      std::uint8_t byte);

// The texts of a language with a number of code points in [least, most], but for `excluded`; or
// exactly those `listed`. A value.
struct StringCase {
  LanguageId language = LanguagePool::kAll;
  std::uint32_t least = 0;
  std::uint32_t most = kNoBound;
  std::vector<std::string> excluded;               // ascending; all of them members but for this
  std::optional<std::vector<std::string>> listed;  // ascending; then nothing else is set

  // Where reading is. Equal positions have equal continuations.
  struct Position {
    Language::State state = 0;
    std::uint32_t length = 0;  // code points begun; 0 where the bounds no longer depend on it
    std::int32_t depth = 0;    // bytes; 0 where no list is followed
    TextRange range;           // of `listed` or of `excluded`
    friend bool operator==(const Position&, const Position&) = default;
  };

  bool Contains(const LanguagePool& pool, std::string_view text) const;
  // nullopt: the set is empty.
  std::optional<Position> Start(const LanguagePool& pool) const;
  // nullopt: no member goes on so. Exact.
  std::optional<Position> Step(const LanguagePool& pool, const Position& at,
                               std::uint8_t byte) const;
  bool Accepts(const LanguagePool& pool, const Position& at) const;
  // A shortest rest. REQUIRES: `at` came from Start or Step.
  std::string Shortest(const LanguagePool& pool, const Position& at) const;
  std::string Key() const;

 private:
  bool Alive(const LanguagePool& pool, const Position& at) const;
  std::uint32_t LeastLeft(const Position& at) const {
    return at.length >= least ? 0 : least - at.length;
  }
  std::uint32_t MostLeft(const Position& at) const {
    return most == kNoBound ? kNoBound : most - at.length;
  }
};

// Both at once; nullopt: empty. Errors: the product of their languages is too large.
Result<std::optional<StringCase>> Intersect(LanguagePool& pool, const StringCase& a,
                                            const StringCase& b);

}  // namespace adjudge::schema
