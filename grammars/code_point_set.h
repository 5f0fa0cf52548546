// CodePointSet: a set of Unicode scalar values (code points without surrogates).
#pragma once

#include <string>
#include <vector>

namespace adjudge {

inline constexpr char32_t kLastCodePoint = 0x10FFFF;

// A value. Surrogates never belong, whatever is added.
class CodePointSet {
 public:
  struct Range {
    char32_t first;
    char32_t last;  // inclusive
    friend bool operator==(const Range&, const Range&) = default;
  };

  CodePointSet() = default;
  CodePointSet(char32_t first, char32_t last) { Add(first, last); }
  static CodePointSet All() { return {0, kLastCodePoint}; }

  // REQUIRES: first <= last <= kLastCodePoint.
  void Add(char32_t first, char32_t last);
  void Add(char32_t code) { Add(code, code); }
  void Add(const CodePointSet& other);
  CodePointSet Complement() const;
  CodePointSet Intersect(const CodePointSet& other) const;

  bool Contains(char32_t code) const;
  bool empty() const { return ranges_.empty(); }
  // Ascending, apart (no two touch but where the surrogates lie between).
  const std::vector<Range>& ranges() const { return ranges_; }

  friend bool operator==(const CodePointSet&, const CodePointSet&) = default;

 private:
  void AddScalars(char32_t first, char32_t last);

  std::vector<Range> ranges_;
};

}  // namespace adjudge
