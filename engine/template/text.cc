#include "engine/template/text.h"

#include <algorithm>
#include <utility>

namespace adjudge::jinja {

void TrustMap::Append(std::size_t bytes, bool trusted) {
  if (bytes == 0) return;
  const bool last = first_ == (flips_.size() % 2 == 0);
  if (size_ == 0) {
    first_ = trusted;
  } else if (trusted != last) {
    flips_.push_back(size_);
  }
  size_ += bytes;
}

void TrustMap::Append(const TrustMap& from, std::size_t begin, std::size_t end) {
  while (begin < end) {
    const std::size_t run = std::min(end, from.RunEnd(begin));
    Append(run - begin, from.At(begin));
    begin = run;
  }
}

bool TrustMap::At(std::size_t offset) const {
  const auto passed = std::upper_bound(flips_.begin(), flips_.end(), offset) - flips_.begin();
  return first_ == (passed % 2 == 0);
}

std::size_t TrustMap::RunEnd(std::size_t offset) const {
  const auto next = std::upper_bound(flips_.begin(), flips_.end(), offset);
  return next == flips_.end() ? size_ : *next;
}

TextPtr MakeText(std::string bytes, bool trusted) {
  auto text = std::make_shared<Text>();
  text->trust.Append(bytes.size(), trusted);
  text->bytes = std::move(bytes);
  return text;
}

bool TextBuilder::Reserve(std::size_t bytes) {
  if (overflow_ || bytes > budget_->max_text_bytes() - text_->bytes.size()) overflow_ = true;
  return !overflow_;
}

void TextBuilder::Append(std::string_view bytes, bool trusted) {
  if (!Reserve(bytes.size())) return;
  text_->bytes.append(bytes);
  text_->trust.Append(bytes.size(), trusted);
}

void TextBuilder::Append(const Text& from, std::size_t begin, std::size_t end) {
  if (!Reserve(end - begin)) return;
  text_->bytes.append(from.bytes, begin, end - begin);
  text_->trust.Append(from.trust, begin, end);
}

void TextBuilder::AppendRepeated(std::string_view bytes, bool trusted, std::size_t count) {
  if (bytes.empty()) return;
  if (count > budget_->max_text_bytes() / bytes.size()) overflow_ = true;
  if (overflow_) return;
  for (std::size_t i = 0; i < count; ++i) Append(bytes, trusted);
}

Result<TextPtr> TextBuilder::Finish() {
  if (overflow_) return tl::unexpected<Error>(TextTooLong(*budget_));
  ADJUDGE_RETURN_IF_ERROR(budget_->SpendBytes(text_->bytes.size()));
  return TextPtr(std::move(text_));
}

Result<TextPtr> SubText(const TextPtr& text, std::size_t begin, std::size_t end, Budget& budget) {
  if (begin == 0 && end == text->bytes.size()) return text;
  TextBuilder part(budget);
  part.Append(*text, begin, end);
  return part.Finish();
}

}  // namespace adjudge::jinja
