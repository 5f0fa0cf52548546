// Lines of results to a file that a later run can go on with, or to standard output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/outcome.h"

namespace adjudge::cli {

// One writer a file: a second one is refused while the first lives. What was written is the
// system's at once, so ending the program in any way loses none of it.
class LineOutput {
 public:
  enum class Mode {
    kNew,     // the file must not exist or be empty
    kResume,  // goes on behind the whole lines that the file holds; half a line behind them is cut
  };

  // "-" is standard output, which cannot be resumed.
  static Outcome<std::unique_ptr<LineOutput>> Open(const std::string& path_or_dash, Mode mode);
  ~LineOutput();
  LineOutput(const LineOutput&) = delete;
  LineOutput& operator=(const LineOutput&) = delete;

  // Whole lines that the file held when it was opened, and the last of them.
  std::size_t lines_there() const { return lines_there_; }
  const std::string& last_line() const { return last_line_; }

  // Whole lines with their newlines. False once writing has failed; a file is then cut back to the
  // lines before these.
  bool Write(std::string_view lines);
  int error() const { return error_; }  // errno of the first failure, or 0

 private:
  LineOutput(int fd, bool is_file) : fd_(fd), is_file_(is_file) {}
  Outcome<bool> FindLines(const std::string& name);

  int fd_;
  bool is_file_;
  std::int64_t size_ = 0;  // of the whole lines
  std::size_t lines_there_ = 0;
  std::string last_line_;
  int error_ = 0;
};

}  // namespace adjudge::cli
