// FuzzInput: values taken off the front of a fuzzer's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace adjudge {

// Gives zeros once the bytes are used up.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::size_t Byte() { return at_ < size_ ? data_[at_++] : 0; }
  std::string Text(std::size_t most) {
    std::string text;
    for (std::size_t n = Byte() % (most + 1); n > 0; --n) text.push_back(static_cast<char>(Byte()));
    return text;
  }
  bool empty() const { return at_ >= size_; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

}  // namespace adjudge
