// Lines of standard input or of a file, one at a time, as they come.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/interrupt.h"
#include "cli/outcome.h"

namespace adjudge::cli {

class LineInput {
 public:
  static constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

  struct Line {
    std::string text;       // without its newline, and without a carriage return before that
    bool too_long = false;  // over the limit: the text is its first bytes
  };

  // "-" is standard input. kFailed where the file cannot be opened.
  static Outcome<std::unique_ptr<LineInput>> Open(const std::string& path_or_dash,
                                                  std::size_t max_line_bytes = kMaxLineBytes);
  ~LineInput();
  LineInput(const LineInput&) = delete;
  LineInput& operator=(const LineInput&) = delete;

  // Waits for the next line; nullopt at the end, and once `interrupt` is raised. What is behind the
  // limit of a line that is too long is passed over.
  std::optional<Line> Next(const Interrupt& interrupt);
  // Whether Next() has a whole line to give without waiting.
  bool HasLine() const { return !passing_over_ && pending_.find('\n', searched_) != pending_.npos; }

  // Bytes of the lines given so far, and of the whole file where that is known, else 0.
  std::int64_t bytes_taken() const { return taken_; }
  std::int64_t file_bytes() const { return file_bytes_; }

  int error() const { return error_; }  // errno of a read that failed, or 0

 private:
  LineInput(int fd, std::size_t max_line_bytes);

  // Adds what there is to pending_; false at the end, when interrupted and on an error.
  bool Read(const Interrupt& interrupt);
  Line Take(std::size_t end, bool too_long);

  int fd_;
  std::size_t max_line_bytes_;
  std::string pending_;
  std::size_t searched_ = 0;   // pending_ holds no newline before this
  bool passing_over_ = false;  // within a line that was too long
  bool ended_ = false;
  std::int64_t taken_ = 0;
  std::int64_t file_bytes_ = 0;
  int error_ = 0;
};

}  // namespace adjudge::cli
