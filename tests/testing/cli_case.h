// Tables of command lines of the program, each row with what it must do.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/testing/program.h"
#include "tests/testing/test_data.h"

namespace adjudge::testing {

// One row. Everywhere in it "{tiny}" is a tiny random model with a tokenizer and no template,
// "{chat}" one with a template, "{default}" the default model (the row skips without it), "{temp}"
// a folder with the bad files empty.gguf, short.gguf, head.gguf, text.gguf and pipe (a FIFO), and
// the bad models unparsed (its template), raising (its template), nan (its weights) and piped (a
// FIFO as tokenizer.json).
struct CliCase {
  std::string name;
  std::vector<std::string> arguments;
  std::string input;
  int exit_code = 0;
  std::vector<std::string> in_output;      // each is part of standard output
  std::vector<std::string> not_in_output;  // none is
  std::vector<std::string> in_errors;      // each is part of standard error
  // JSON pointer into the output (one JSON value) -> the value there as JSON; "*" for any.
  std::vector<std::pair<std::string, std::string>> fields;
};

void PrintTo(const CliCase& row, std::ostream* out);
std::string CliCaseName(const ::testing::TestParamInfo<CliCase>& info);

// Runs the row and holds it to its promises; whatever the row, the exit code is 0 to 3, a failing
// run has words on standard error, and no control character reaches standard error.
void CheckCliCase(const CliCase& row);

// The program as built beside the tests, and the models of the table.
std::string AdjudgePath();
std::string TinyModel();
// An argument of a table with its {names} filled in.
std::string FilledArgument(std::string argument);

}  // namespace adjudge::testing
