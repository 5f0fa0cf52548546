// Output: results on standard output, words on standard error.
#pragma once

#include <string>
#include <string_view>

#include "cli/outcome.h"

namespace adjudge::cli {

// Standard output, checked: a full disk is a failure that is told, not lost text. (A reader that
// went away ends the program by SIGPIPE, quietly.)
class Output {
 public:
  Output();

  bool is_terminal() const { return is_terminal_; }

  // The bytes as they are; false once writing has failed.
  bool Write(std::string_view bytes);
  // Text of a model or a file: on a terminal its control characters are made visible, so that they
  // cannot garble it; elsewhere the bytes as they are.
  bool WriteText(std::string_view text);
  bool Flush();
  // Flushes; `code`, or kFailed with words on standard error if anything could not be written.
  int Finish(int code = kOk);

 private:
  bool is_terminal_ = false;
  int error_ = 0;  // errno of the first failure
};

// One line of words on standard error, whatever a name or a file's text in them holds: control and
// format characters and bytes that are not UTF-8 as escapes, cut after 2,000 bytes.
void Say(std::string_view words);
// The program's own text of several lines on standard error.
void SayLines(std::string_view text);
bool StderrIsTerminal();

}  // namespace adjudge::cli
