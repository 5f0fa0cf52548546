// Lines of standard input, one at a time, as they come.
#pragma once

#include <optional>
#include <string>

namespace adjudge::cli {

class LineInput {
 public:
  static constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

  // The next line without its newline (a carriage return before it goes too); nullopt at the end,
  // and when a signal came while waiting. A line over the limit is cut there.
  std::optional<std::string> Next();

  int error() const { return error_; }  // errno of a read that failed, or 0

 private:
  std::string pending_;
  std::size_t searched_ = 0;
  bool ended_ = false;
  int error_ = 0;
};

}  // namespace adjudge::cli
