// Languages: sets of strings as explicit automata over the bytes of valid UTF-8.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/result.h"

namespace adjudge::schema {

// A set of texts of valid UTF-8. Minimal and without dead states: every state lies on the way to
// some word. States are numbered from 0 = the start; kNone is the way out. Immutable but for what
// it has computed of lengths (one thread at a time).
class Language {
 public:
  using State = std::int32_t;
  static constexpr State kNone = -1;

  // Rows of a complete or partial automaton; `next` by byte. Trims and minimises.
  struct Table {
    std::vector<std::array<State, 256>> next;
    std::vector<bool> accepts;
  };
  static Language FromTable(const Table& table);

  bool empty() const { return accepts_.empty(); }
  State start() const { return empty() ? kNone : 0; }
  int n_states() const { return static_cast<int>(accepts_.size()); }
  State Next(State q, std::uint8_t byte) const {
    return next_[static_cast<std::size_t>(q) * static_cast<std::size_t>(n_classes_) +
                 classes_[byte]];
  }
  bool Accepts(State q) const { return accepts_[static_cast<std::size_t>(q)]; }
  bool Contains(std::string_view text) const;
  // Some word has q's continuation with from `least` to `most` further code points.
  bool CanEnd(State q, std::uint32_t least, std::uint32_t most) const;
  // How many texts of so many code points continue q; at most `cap`.
  std::uint64_t Count(State q, std::uint32_t least, std::uint32_t most, std::uint64_t cap) const;
  bool infinite() const { return !empty() && cyclic_[0]; }
  // A continuation of q of fewest bytes, with so many code points. REQUIRES: CanEnd.
  std::string Shortest(State q, std::uint32_t least, std::uint32_t most) const;

  std::string Key() const;  // equal for equal sets

 private:
  friend class LanguagePool;
  const std::vector<std::uint64_t>& Words(std::uint32_t k) const;
  void FindCycles();

  int n_classes_ = 0;
  std::array<std::uint8_t, 256> classes_{};
  std::vector<int> class_size_;        // bytes of each class
  std::vector<std::uint8_t> example_;  // one byte of each class, a letter where there is one
  std::vector<State> next_;            // [n_states, n_classes]
  std::vector<bool> accepts_;
  std::vector<bool> cyclic_;  // endlessly many words continue the state
  mutable std::vector<std::vector<std::uint64_t>> words_;  // [k][q], saturating
};

using LanguageId = std::int32_t;

// Owns languages; equal ones have one id. One thread at a time.
class LanguagePool {
 public:
  static constexpr LanguageId kAll = 0;
  static constexpr LanguageId kEmpty = 1;

  explicit LanguagePool(std::size_t max_states);

  const Language& Get(LanguageId id) const { return *languages_[static_cast<std::size_t>(id)]; }
  LanguageId Add(Language language);
  // Errors: more states than the limit.
  Result<LanguageId> And(LanguageId a, LanguageId b);
  Result<LanguageId> Or(LanguageId a, LanguageId b);
  Result<LanguageId> Not(LanguageId a);
  Result<LanguageId> OfLength(std::uint32_t least, std::uint32_t most);
  Result<LanguageId> OfTexts(const std::vector<std::string>& texts);

  std::size_t bytes() const { return bytes_; }

 private:
  Result<LanguageId> Product(LanguageId a, LanguageId b, bool (*accept)(bool, bool));

  std::size_t max_states_;
  std::size_t bytes_ = 0;
  std::vector<std::unique_ptr<Language>> languages_;
  std::unordered_map<std::string, LanguageId> ids_;
  std::unordered_map<std::uint64_t, LanguageId> memo_;
};

inline constexpr std::uint32_t kNoBound = ~std::uint32_t{0};

// Bytes that begin a code point (counted as its length), as opposed to those that continue one.
inline bool IsLead(std::uint8_t byte) { return (byte & 0xC0) != 0x80; }

}  // namespace adjudge::schema
