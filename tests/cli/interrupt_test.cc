// Ctrl-C: every verb ends with exit code 1 and a word.
#include <gtest/gtest.h>

#include "tests/testing/cli_case.h"

namespace adjudge::testing {
namespace {

struct Row {
  std::string name;
  std::vector<std::string> arguments;
  std::string input;
};

class CliInterrupt : public ::testing::TestWithParam<Row> {};

TEST_P(CliInterrupt, WhileWaitingForInput) {
  ProgramRun run;
  run.command = {AdjudgePath()};
  for (const std::string& argument : GetParam().arguments) {
    run.command.push_back(FilledArgument(argument));
  }
  run.input = GetParam().input;
  run.interrupt_when_waiting = true;
  const ProgramResult result = RunProgram(run);
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  EXPECT_NE(result.errors.find("cancelled"), std::string::npos) << result.errors;
}

INSTANTIATE_TEST_SUITE_P(
    Verbs, CliInterrupt,
    ::testing::Values(
        Row{"Tokenize", {"tokenize", "-m", "{tiny}", "-"}, "ab"},
        Row{"Score", {"score", "-m", "{tiny}", "-"}, "{}\n"},
        Row{"DecideState", {"decide", "-m", "{tiny}", "--ask", "a", "--noul", "--state", "-"}, ""},
        Row{"DecideRequest", {"decide", "-m", "{tiny}", "-"}, "{"},
        Row{"Generate", {"generate", "-m", "{tiny}", "--prompt", "-"}, "ab"},
        Row{"Compare", {"compare", "-m", "{tiny}", "--questions", "-"}, ""},
        Row{"Chat", {"chat", "-m", "{chat}"}, ""}),
    [](const auto& row) { return row.param.name; });

// A reader that sends a line and waits for its answer gets it.
TEST(CliScore, AnswersEachLineAsItComes) {
  ProgramRun run;
  run.command = {AdjudgePath(), "score", "-m", TinyModel(), "-"};
  run.input = "{\"context\":\"a\",\"continuation\":\"b\"}\n{}\nhalf a line";
  run.interrupt_when_waiting = true;
  run.interrupt_after_bytes = 1;
  const ProgramResult result = RunProgram(run);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.output.find("\"logprob\""), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("\"line\":2"), std::string::npos) << result.output;
  EXPECT_NE(result.errors.find("cancelled after 2 lines"), std::string::npos) << result.errors;
}

TEST(CliInterruptBench, TellsHowFarItCame) {
  ADJUDGE_MODEL_OR_SKIP(model, "default");
  ProgramRun run;
  run.command = {AdjudgePath(), "bench", "-m", model, "-r", "10000", "-p", "64", "-n", "16"};
  run.interrupt_after_error_bytes = 1;  // the first line of progress
  for (const bool json : {false, true}) {
    if (json) run.command.push_back("--json");
    const ProgramResult result = RunProgram(run);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.errors.find("adjudge bench: cancelled"), std::string::npos) << result.errors;
    EXPECT_EQ(result.output.find("10000 repeats"), std::string::npos) << result.output;
    const char* part = json ? "\"cancelled\":true" : "repeat";
    EXPECT_NE(result.output.find(part), std::string::npos) << result.output;
  }
}

}  // namespace
}  // namespace adjudge::testing
