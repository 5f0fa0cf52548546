// Bytes that are not UTF-8: refused with their offset, or with --lossy replaced, in every verb.
#include <gtest/gtest.h>

#include "tests/testing/cli_case.h"

namespace adjudge::testing {
namespace {

constexpr const char* kMessages = "[{\"role\":\"user\",\"content\":\"a\xff\"}]";
constexpr const char* kRequest =
    "{\"state\":\"a\xff\",\"questions\":{\"q\":{\"type\":\"noul\",\"instructions\":\"b\"}}}";
constexpr const char* kScoreLines =
    "{\"context\":\"ab\",\"continuation\":\"c\"}\n{\"context\":\"a\xff\",\"continuation\":\"c\"}\n";
constexpr const char* kExam = "{\"id\":\"i\",\"question\":{\"stem\":\"\xff\",\"choices\":[]}}\n";

// Standard input and files end with 1, arguments with 2.
std::vector<CliCase> RefusedCases() {
  return {
      {.name = "ChatFromInput",
       .arguments = {"generate", "-m", "{chat}", "--chat", "-"},
       .input = "ab\xff",
       .exit_code = 1,
       .in_errors = {"standard input: not UTF-8 at byte 2"}},
      {.name = "SystemFromInput",
       .arguments = {"trace", "-m", "{chat}", "--chat", "a", "--system", "-"},
       .input = "\xff",
       .exit_code = 1,
       .in_errors = {"standard input: not UTF-8 at byte 0"}},
      {.name = "Messages",
       .arguments = {"generate", "-m", "{chat}", "--messages", "-"},
       .input = kMessages,
       .exit_code = 1,
       .in_errors = {"standard input: not UTF-8 at byte 28"}},
      {.name = "State",
       .arguments = {"decide", "-m", "{tiny}", "--ask", "a", "--noul", "--state", "-"},
       .input = "abc\xc3",
       .exit_code = 1,
       .in_errors = {"standard input: not UTF-8 at byte 3"}},
      {.name = "Ask",
       .arguments = {"decide", "-m", "{tiny}", "--ask", "-", "--noul"},
       .input = "\xed\xa0\x80",
       .exit_code = 1,
       .in_errors = {"standard input: not UTF-8 at byte 0"}},
      {.name = "StateArgument",
       .arguments = {"decide", "-m", "{tiny}", "--ask", "a", "--noul", "--state", "a\xff"},
       .exit_code = 2,
       .in_errors = {"argument 8: not UTF-8 at byte 1 (after --state)"}},
      {.name = "Request",
       .arguments = {"decide", "-m", "{tiny}", "-"},
       .input = kRequest,
       .exit_code = 1,
       .in_errors = {"standard input: not UTF-8 at byte 11"}},
      {.name = "ScoreLine",
       .arguments = {"score", "-m", "{tiny}", "-"},
       .input = kScoreLines,
       .exit_code = 1,
       .in_output = {"\"line\":2", "not UTF-8 at byte 13", "\"token_ids\":"},
       .in_errors = {"1 of 2 lines are bad"}},
      {.name = "ScoreLoneSurrogate",
       .arguments = {"score", "-m", "{tiny}", "-"},
       .input = R"({"context":"a\ud800","continuation":"c"})",
       .exit_code = 1,
       .in_output = {"\"line\":1", "not JSON"}},
      {.name = "ChatTurn",
       .arguments = {"chat", "-m", "{chat}"},
       .input = "ab\xff\n",
       .exit_code = 1,
       .in_errors = {"refused", "2"}},
      {.name = "CompareQuestions",
       .arguments = {"compare", "-m", "{tiny}", "--questions", "-"},
       .input = kExam,
       .exit_code = 1,
       .in_errors = {"standard input: not UTF-8 at byte 30"}},
      {.name = "Tokenize",
       .arguments = {"tokenize", "-m", "{tiny}", "-"},
       .input = "ok\xff",
       .exit_code = 1,
       .in_errors = {"standard input: not UTF-8 at byte 2"}},
  };
}

std::vector<CliCase> LossyCases() {
  return {
      {.name = "ChatFromInput",
       .arguments = {"generate", "-m", "{chat}", "--chat", "-", "--lossy", "-n", "2",
                     "--ignore-eos", "--json"},
       .input = "ab\xff",
       .fields = {{"/usage/generated_tokens", "2"}}},
      {.name = "ChatArguments",
       .arguments = {"generate", "-m", "{chat}", "--chat", "a\xff", "--system", "\xff", "--lossy",
                     "-n", "2", "--ignore-eos", "--json"},
       .fields = {{"/usage/generated_tokens", "2"}}},
      {.name = "TraceSystemFromInput",
       .arguments = {"trace", "-m", "{chat}", "--chat", "a", "--system", "-", "--lossy", "-n", "2",
                     "--ignore-eos", "--json"},
       .input = "\xff",
       .fields = {{"/usage/generated_tokens", "2"}}},
      {.name = "Messages",
       .arguments = {"generate", "-m", "{chat}", "--messages", "-", "--lossy", "-n", "2",
                     "--ignore-eos", "--json"},
       .input = kMessages,
       .fields = {{"/usage/generated_tokens", "2"}}},
      {.name = "ChatTurns",
       .arguments = {"chat", "-m", "{chat}", "--system", "\xff", "--lossy", "-n", "2", "--json",
                     "--ignore-eos"},
       .input = "ab\xff\n",
       .fields = {{"/usage/generated_tokens", "2"}}},
      {.name = "State",
       .arguments = {"decide", "-m", "{tiny}", "--ask", "a\xff", "--choice", "b\xff", "--choice",
                     "c", "--state", "-", "--lossy", "--json"},
       .input = "abc\xc3",
       .fields = {{"/answers/q/probabilities/b\xef\xbf\xbd", "*"}}},
      {.name = "Request",
       .arguments = {"decide", "-m", "{tiny}", "-", "--lossy", "--json"},
       .input = kRequest,
       .fields = {{"/answers/q/noul", "*"}}},
      {.name = "Score",
       .arguments = {"score", "-m", "{tiny}", "-", "--lossy"},
       .input = "{\"context\":\"a\xff\",\"continuation\":\"c\"}",
       .fields = {{"/token_ids", "[270]"}}},
      {.name = "ScoreLoneSurrogates",
       .arguments = {"score", "-m", "{tiny}", "-", "--lossy"},
       .input = R"({"context":"a\udc00\ud800","continuation":"\ud800c"})",
       .fields = {{"/token_ids/3", "*"}}},
      {.name = "ScorePairsStay",
       .arguments = {"score", "-m", "{tiny}", "-", "--lossy"},
       .input = R"({"context":"a\\ud800","continuation":"\ud83d\ude42"})",
       .fields = {{"/token_ids/3", "*"}}},
  };
}

class CliTextBytes : public ::testing::TestWithParam<CliCase> {};

TEST_P(CliTextBytes, AreHandled) { CheckCliCase(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Refused, CliTextBytes, ::testing::ValuesIn(RefusedCases()), CliCaseName);
INSTANTIATE_TEST_SUITE_P(Lossy, CliTextBytes, ::testing::ValuesIn(LossyCases()), CliCaseName);

}  // namespace
}  // namespace adjudge::testing
