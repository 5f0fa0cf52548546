// What the program does with command lines and files that are wrong: clear words, the right exit
// code, never a crash.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/testing/cli_case.h"

namespace adjudge::testing {
namespace {

std::vector<CliCase> UsageCases() {
  return {
      {.name = "NoVerb", .arguments = {}, .exit_code = 2, .in_errors = {"generate", "decide"}},
      {.name = "UnknownVerb",
       .arguments = {"generat"},
       .exit_code = 2,
       .in_errors = {"no verb \"generat\"", "did you mean \"generate\"?"}},
      {.name = "UnknownVerbFarFromAll",
       .arguments = {"xylophone"},
       .exit_code = 2,
       .in_errors = {"no verb \"xylophone\" (see adjudge --help)"}},
      {.name = "UnknownVerbWithControlCharacters",
       .arguments = {"\x1b[2J"},
       .exit_code = 2,
       .in_errors = {"\\x1b[2J"}},
      {.name = "UnknownOption",
       .arguments = {"generate", "--promt", "x"},
       .exit_code = 2,
       .in_errors = {"--promt", "did you mean \"--prompt\"?"}},
      {.name = "NoPrompt",
       .arguments = {"generate", "-m", "{tiny}"},
       .exit_code = 2,
       .in_errors = {"expected one of --prompt, --chat and --messages, found 0"}},
      {.name = "TwoPrompts",
       .arguments = {"trace", "-m", "{tiny}", "--prompt", "a", "--chat", "b"},
       .exit_code = 2,
       .in_errors = {"found 2"}},
      {.name = "SystemWithoutChat",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--system", "b"},
       .exit_code = 2,
       .in_errors = {"--system goes with --chat"}},
      {.name = "ChatWithoutTemplate",
       .arguments = {"generate", "-m", "{tiny}", "--chat", "a"},
       .exit_code = 2,
       .in_errors = {"no chat template", "use --prompt"}},
      {.name = "NegativeTemperature",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--temperature", "-1"},
       .exit_code = 2,
       .in_errors = {"temperature"}},
      {.name = "TemperatureNotANumber",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--temperature", "warm"},
       .exit_code = 2,
       .in_errors = {"--temperature", "warm"}},
      {.name = "TemperatureNan",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--temperature", "nan"},
       .exit_code = 2,
       .in_errors = {"temperature"}},
      {.name = "NoTokens",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--max-tokens", "0"},
       .exit_code = 2,
       .in_errors = {"--max-tokens"}},
      {.name = "NegativeSeed",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--seed", "-1"},
       .exit_code = 2,
       .in_errors = {"--seed"}},
      {.name = "SeedPast64Bits",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--seed", "18446744073709551616"},
       .exit_code = 2,
       .in_errors = {"--seed", "2^64 - 1"}},
      {.name = "UnknownBackend",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--backend", "abacus"},
       .exit_code = 2,
       .in_errors = {"--backend", "abacus"}},
      {.name = "UnknownPrecision",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--precision", "rough"},
       .exit_code = 2,
       .in_errors = {"--precision", "rough"}},
      {.name = "BadLogitBias",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--logit-bias", "7"},
       .exit_code = 2,
       .in_errors = {"expected ID=VALUE, found \"7\""}},
      {.name = "LogitBiasOutsideVocabulary",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--logit-bias", "999999=1"},
       .exit_code = 2,
       .in_errors = {"expected an id from 0 to", "found 999999"}},
      {.name = "EmptyStop",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--stop", ""},
       .exit_code = 2,
       .in_errors = {"--stop: expected some text"}},
      {.name = "EmptyChoice",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--choice", "x", "--choice", ""},
       .exit_code = 2,
       .in_errors = {"--choice: options[1]"}},
      {.name = "SameChoiceTwice",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--choice", "x", "--choice", "y",
                     "--choice", "x"},
       .exit_code = 2,
       .in_errors = {"--choice: options[2]"}},
      {.name = "ArgumentNotUtf8",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab\xff"},
       .exit_code = 2,
       .in_errors = {"argument 5: not UTF-8 at byte 2 (after --prompt)"}},
      {.name = "TokenizeNothing",
       .arguments = {"tokenize", "-m", "{tiny}"},
       .exit_code = 2,
       .in_errors = {"expected a text"}},
      {.name = "TokenizeBadIds",
       .arguments = {"tokenize", "-m", "{tiny}", "--ids", "1,two"},
       .exit_code = 2,
       .in_errors = {"found \"two\" at byte 2"}},
      {.name = "TokenizeIdOutsideVocabulary",
       .arguments = {"tokenize", "-m", "{tiny}", "--ids", "1,99999999"},
       .exit_code = 2,
       .in_errors = {"found 99999999"}},
      {.name = "TokenizeIdPastInt",
       .arguments = {"tokenize", "-m", "{tiny}", "--ids", "99999999999999999999"},
       .exit_code = 2,
       .in_errors = {"ids: expected"}},
      {.name = "BenchLongerThanWindow",
       .arguments = {"bench", "-m", "{tiny}", "-p", "100000"},
       .exit_code = 2,
       .in_errors = {"window has", "100000"}},
  };
}

std::vector<CliCase> ModelCases() {
  return {
      {.name = "NoSuchFile",
       .arguments = {"generate", "--model", "{temp}/absent.gguf", "--prompt", "a"},
       .exit_code = 3,
       .in_errors = {"absent.gguf", "no such file"}},
      {.name = "FolderWithoutModel",
       .arguments = {"generate", "--model", "{temp}", "--prompt", "a"},
       .exit_code = 3,
       .in_errors = {"{temp}"}},
      {.name = "FolderWithoutModelInspected",
       .arguments = {"inspect", "{temp}"},
       .exit_code = 3,
       .in_errors = {"{temp}"}},
      {.name = "EmptyFile",
       .arguments = {"generate", "--model", "{temp}/empty.gguf", "--prompt", "a"},
       .exit_code = 3,
       .in_errors = {"empty.gguf"}},
      {.name = "TruncatedFile",
       .arguments = {"generate", "--model", "{temp}/short.gguf", "--prompt", "a"},
       .exit_code = 3,
       .in_errors = {"short.gguf"}},
      {.name = "TruncatedHead",
       .arguments = {"inspect", "{temp}/head.gguf"},
       .exit_code = 3,
       .in_errors = {"head.gguf", "byte"}},
      {.name = "TextFile",
       .arguments = {"tokenize", "--model", "{temp}/text.gguf", "a"},
       .exit_code = 3,
       .in_errors = {"text.gguf"}},
      {.name = "NullDevice",
       .arguments = {"generate", "--model", "/dev/null", "--prompt", "a"},
       .exit_code = 3,
       .in_errors = {"/dev/null"}},
      {.name = "NoSuchTokenizer",
       .arguments = {"tokenize", "--tokenizer", "{temp}/absent.model", "a"},
       .exit_code = 3,
       .in_errors = {"absent.model"}},
  };
}

std::vector<CliCase> TextCases() {
  return {
      {.name = "InputNotUtf8",
       .arguments = {"tokenize", "-m", "{tiny}", "-"},
       .input = "ok\xff",
       .exit_code = 1,
       .in_errors = {"byte 2"}},
      {.name = "PromptFromInputNotUtf8",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "-"},
       .input = "\xc0\xaf",
       .exit_code = 1,
       .in_errors = {"byte 0"}},
      {.name = "MessagesNotJson",
       .arguments = {"generate", "-m", "{tiny}", "--messages", "-"},
       .input = "[{",
       .exit_code = 1,
       .in_errors = {"standard input: not JSON"}},
      {.name = "MessagesWithoutContent",
       .arguments = {"generate", "-m", "{tiny}", "--messages", "-"},
       .input = R"([{"role":"user","content":"a"},{"role":"user"}])",
       .exit_code = 1,
       .in_errors = {"message 2: expected a string \"content\""}},
      {.name = "MessagesNestedDeeply",
       .arguments = {"generate", "-m", "{tiny}", "--messages", "-"},
       .input = std::string(100'000, '[') + std::string(100'000, ']'),
       .exit_code = 1,
       .in_errors = {"nested deeper than 64"}},
      {.name = "NoMessages",
       .arguments = {"generate", "-m", "{tiny}", "--messages", "-"},
       .input = "[]",
       .exit_code = 1,
       .in_errors = {"at least one message"}},
      {.name = "MessagesFileAbsent",
       .arguments = {"generate", "-m", "{tiny}", "--messages", "{temp}/absent.json"},
       .exit_code = 1,
       .in_errors = {"absent.json", "No such file"}},
      {.name = "PromptLongerThanWindow",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "-"},
       .input = std::string(20'000, 'x'),
       .exit_code = 1,
       .in_errors = {"window"}},
  };
}

class CliBadInput : public ::testing::TestWithParam<CliCase> {};

TEST_P(CliBadInput, IsRefusedWithWords) { CheckCliCase(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Usage, CliBadInput, ::testing::ValuesIn(UsageCases()), CliCaseName);
INSTANTIATE_TEST_SUITE_P(Model, CliBadInput, ::testing::ValuesIn(ModelCases()), CliCaseName);
INSTANTIATE_TEST_SUITE_P(Text, CliBadInput, ::testing::ValuesIn(TextCases()), CliCaseName);

TEST(CliModel, DefaultModelAbsentSaysWhatToDo) {
  const TempFolder home;
  ProgramRun run;
  run.command = {AdjudgePath(), "generate", "--prompt", "a"};
  run.environment = {{"HOME", home.path()}, {"XDG_CACHE_HOME", ""}, {"ADJUDGE_MODEL", ""}};
  const ProgramResult result = RunProgram(run);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "");
  EXPECT_NE(result.errors.find("scripts/fetch-model"), std::string::npos) << result.errors;
  EXPECT_NE(result.errors.find("--model FILE"), std::string::npos) << result.errors;
}

TEST(CliModel, EnvironmentNamesTheModel) {
  ProgramRun run;
  run.command = {AdjudgePath(), "tokenize", "--count", "ab"};
  run.environment = {{"ADJUDGE_MODEL", "/nowhere/x.gguf"}};
  const ProgramResult absent = RunProgram(run);
  EXPECT_EQ(absent.exit_code, 3);
  EXPECT_NE(absent.errors.find("ADJUDGE_MODEL"), std::string::npos) << absent.errors;
  run.environment = {{"ADJUDGE_MODEL", TinyModel()}};
  EXPECT_EQ(RunProgram(run).exit_code, 0);
}

TEST(CliOutput, FullDeviceIsAFailure) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--help"},
           {"--version"},
           {"tokenize", "-m", TinyModel(), "ab"},
           {"generate", "-m", TinyModel(), "--prompt", "ab", "--max-tokens", "3"}}) {
    ProgramRun run;
    run.command = arguments;
    run.command.insert(run.command.begin(), AdjudgePath());
    run.output_path = "/dev/full";
    const ProgramResult result = RunProgram(run);
    EXPECT_EQ(result.exit_code, 1) << arguments[0];
    EXPECT_NE(result.errors.find("cannot write to standard output"), std::string::npos)
        << arguments[0] << ": " << result.errors;
  }
}

TEST(CliOutput, ReaderThatIsGoneEndsItQuietly) {
  ProgramRun run;
  run.command = {AdjudgePath(), "tokenize", "-m", TinyModel(), "--bytes", "-"};
  run.input = std::string(200'000, 'x');
  run.close_output = true;
  const ProgramResult result = RunProgram(run);
  EXPECT_EQ(result.exit_code, 128 + SIGPIPE);
  EXPECT_EQ(result.errors, "");
}

}  // namespace
}  // namespace adjudge::testing
