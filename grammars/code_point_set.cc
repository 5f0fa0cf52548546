#include "grammars/code_point_set.h"

#include <algorithm>

#include "engine/base/check.h"

namespace adjudge {
namespace {

constexpr char32_t kBeforeSurrogates = 0xD7FF;
constexpr char32_t kAfterSurrogates = 0xE000;

}  // namespace

void CodePointSet::Add(char32_t first, char32_t last) {
  ADJUDGE_CHECK(first <= last && last <= kLastCodePoint);
  if (first <= kBeforeSurrogates) AddScalars(first, std::min(last, kBeforeSurrogates));
  if (last >= kAfterSurrogates) AddScalars(std::max(first, kAfterSurrogates), last);
}

void CodePointSet::AddScalars(char32_t first, char32_t last) {
  // The ranges that touch [first, last] become one with it.
  const auto begin = std::partition_point(
      ranges_.begin(), ranges_.end(), [&](const Range& range) { return range.last + 1 < first; });
  auto end = begin;
  while (end != ranges_.end() && end->first <= last + 1) {
    first = std::min(first, end->first);
    last = std::max(last, end->last);
    ++end;
  }
  if (begin == end) {
    ranges_.insert(begin, {first, last});
  } else {
    *begin = {first, last};
    ranges_.erase(begin + 1, end);
  }
}

void CodePointSet::Add(const CodePointSet& other) {
  for (const Range& range : other.ranges_) AddScalars(range.first, range.last);
}

CodePointSet CodePointSet::Complement() const {
  CodePointSet rest;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (next < range.first) rest.Add(next, range.first - 1);
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) rest.Add(next, kLastCodePoint);
  return rest;
}

CodePointSet CodePointSet::Intersect(const CodePointSet& other) const {
  CodePointSet both;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    const char32_t first = std::max(a->first, b->first);
    const char32_t last = std::min(a->last, b->last);
    if (first <= last) both.Add(first, last);
    a->last < b->last ? ++a : ++b;
  }
  return both;
}

bool CodePointSet::Contains(char32_t code) const {
  const auto range = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const Range& r) { return r.last < code; });
  return range != ranges_.end() && range->first <= code;
}

}  // namespace adjudge
