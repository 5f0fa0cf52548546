// Text: a string that remembers which of its bytes the template itself wrote.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/template/budget.h"

namespace adjudge::jinja {

// Anything that a Value shares by pointer.
struct Object {
  Object() = default;
  Object(const Object&) = default;
  Object(Object&&) = default;
  Object& operator=(const Object&) = default;
  Object& operator=(Object&&) = default;
  virtual ~Object() = default;
};

// The trust of each byte of a text, as the offsets where it changes: texts are mostly of one kind.
class TrustMap {
 public:
  void Append(std::size_t bytes, bool trusted);
  void Append(const TrustMap& from, std::size_t begin, std::size_t end);
  bool At(std::size_t offset) const;
  // The end of the run of equal trust that holds `offset`. REQUIRES: offset < size().
  std::size_t RunEnd(std::size_t offset) const;
  bool AllTrusted() const { return flips_.empty() && (first_ || size_ == 0); }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
  bool first_ = false;              // trust of byte 0
  std::vector<std::size_t> flips_;  // ascending; the trust changes at each
};

struct Text : Object {
  std::string bytes;  // UTF-8
  TrustMap trust;
  bool markup = false;  // marked by |safe or |escape: a Markup object in Python

  std::string_view view() const { return bytes; }
};
using TextPtr = std::shared_ptr<const Text>;

TextPtr MakeText(std::string bytes, bool trusted);

// Grows a text up to the budget's limit; past it appends nothing more and Finish() is the error.
class TextBuilder {
 public:
  explicit TextBuilder(Budget& budget) : budget_(&budget), text_(std::make_shared<Text>()) {}

  void Append(std::string_view bytes, bool trusted);
  void Append(const Text& from) { Append(from, 0, from.bytes.size()); }
  void Append(const Text& from, std::size_t begin, std::size_t end);
  void AppendRepeated(std::string_view bytes, bool trusted, std::size_t count);
  bool overflow() const { return overflow_; }
  std::size_t size() const { return text_->bytes.size(); }
  Result<TextPtr> Finish();

 private:
  bool Reserve(std::size_t bytes);

  Budget* budget_;
  std::shared_ptr<Text> text_;
  bool overflow_ = false;
};

// text[begin, end) in bytes, on code point borders.
Result<TextPtr> SubText(const TextPtr& text, std::size_t begin, std::size_t end, Budget& budget);

}  // namespace adjudge::jinja
