// Runs a program the way a shell does, for tests of the command line.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace adjudge::testing {

struct ProgramRun {
  std::vector<std::string> command;  // the program's path first
  std::string input;                 // its standard input
  // Set in its environment; an empty value takes the variable out.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string output_path;         // where standard output goes instead of ProgramResult::output
  bool close_output = false;       // the reader of standard output is gone from the start
  int interrupt_after_bytes = -1;  // >= 0: SIGINT once so much of the output has come
  int interrupt_after_error_bytes = -1;  // the same of its standard error
  // SIGINT once the program has a handler for it and sleeps, waiting for input that stays open;
  // with interrupt_after_bytes once both are so.
  bool interrupt_when_waiting = false;
  int timeout_seconds = 120;
};

struct ProgramResult {
  int exit_code = -1;  // 128 + n when signal n ended it; -1 when it ran past the timeout
  std::string output;
  std::string errors;
};

ProgramResult RunProgram(const ProgramRun& run);

}  // namespace adjudge::testing
