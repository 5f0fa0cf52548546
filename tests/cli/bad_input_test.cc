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
       .in_errors = {"ids: expected ids from 0 to", "found 99999999999999999999"}},
      {.name = "TokenizeTextAndIds",
       .arguments = {"tokenize", "-m", "{tiny}", "--ids", "1,2", "x"},
       .exit_code = 2,
       .in_errors = {"expected a text or --ids, found both"}},
      {.name = "UnknownOptionBeforeVerb",
       .arguments = {"--zz"},
       .exit_code = 2,
       .in_errors = {"found --zz"}},
      {.name = "NumberInHex",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "-n", "0x10"},
       .exit_code = 2,
       .in_errors = {"expected a whole number from 1", "0x10"}},
      {.name = "NumberWithExponent",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "-n", "1e3"},
       .exit_code = 2,
       .in_errors = {"expected a whole number"}},
      {.name = "ThreadsNotANumber",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--threads", "x"},
       .exit_code = 2,
       .in_errors = {"--threads", "expected a whole number"}},
      {.name = "TopKInHex",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "--top-k", "0x10"},
       .exit_code = 2,
       .in_errors = {"expected a whole number"}},
      {.name = "EmptyModel",
       .arguments = {"tokenize", "-m", "", "a"},
       .exit_code = 2,
       .in_errors = {"--model: expected a value"}},
      {.name = "EmptyTokenizer",
       .arguments = {"tokenize", "-m", "{tiny}", "--tokenizer", "", "a"},
       .exit_code = 2,
       .in_errors = {"--tokenizer: expected a value"}},
      {.name = "EmptyTemperature",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "a", "-t", ""},
       .exit_code = 2,
       .in_errors = {"--temperature"}},
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
      {.name = "Pipe",
       .arguments = {"generate", "--model", "{temp}/pipe", "--prompt", "a"},
       .exit_code = 3,
       .in_errors = {"pipe"}},
      {.name = "PipeAsTokenizer",
       .arguments = {"tokenize", "-m", "{tiny}", "--tokenizer", "{temp}/pipe", "a"},
       .exit_code = 3,
       .in_errors = {"pipe"}},
      {.name = "PipeInFolder",
       .arguments = {"tokenize", "-m", "{temp}/piped", "a"},
       .exit_code = 3,
       .in_errors = {"tokenizer.json", "regular file"}},
      {.name = "TemplateThatIsNone",
       .arguments = {"generate", "-m", "{temp}/unparsed", "--chat", "a"},
       .exit_code = 3,
       .in_errors = {"unparsed: chat template"}},
      {.name = "TemplateThatIsNoneInDecide",
       .arguments = {"decide", "-m", "{temp}/unparsed", "--ask", "a", "--noul"},
       .exit_code = 3,
       .in_errors = {"unparsed: chat template"}},
      {.name = "TemplateThatIsNoneInCompare",
       .arguments = {"compare", "-m", "{temp}/unparsed"},
       .exit_code = 3,
       .in_errors = {"unparsed: chat template"}},
      {.name = "TemplateThatRaises",
       .arguments = {"generate", "-m", "{temp}/raising", "--chat", "a"},
       .exit_code = 1,
       .in_errors = {"chat template of raising", "no\\n\\x1b[2J\\u{202e}"}},
      {.name = "TemplateThatRaisesInDecide",
       .arguments = {"decide", "-m", "{temp}/raising", "--ask", "a", "--noul"},
       .exit_code = 1,
       .in_errors = {"chat template", "no\\n\\x1b[2J\\u{202e}"}},
      {.name = "LogitsNotFinite",
       .arguments = {"generate", "-m", "{temp}/nan", "--prompt", "a"},
       .exit_code = 3,
       .in_errors = {"nan", "a logit that is not finite"}},
      {.name = "LogitsNotFiniteInDecide",
       .arguments = {"decide", "-m", "{temp}/nan", "--ask", "a", "--noul"},
       .exit_code = 3,
       .in_errors = {"nan", "a logit that is not finite"}},
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
       .in_errors = {"standard input: byte 2: not JSON"}},
      {.name = "MessagesNestedDeeplyInObjects",
       .arguments = {"generate", "-m", "{tiny}", "--messages", "-"},
       .input = R"({"messages":[{"role":"user","content":"a"}],"tools":)" +
                std::string(100'000, '[') + std::string(100'000, ']') + "}",
       .exit_code = 1,
       .in_errors = {"nested deeper than 64"}},
      {.name = "MessagesWithKeyTwice",
       .arguments = {"generate", "-m", "{tiny}", "--messages", "-"},
       .input = R"([{"role":"user","role":"system","content":"a"}])",
       .exit_code = 1,
       .in_errors = {"/0/role: this key comes twice"}},
      {.name = "MessagesWithNul",
       .arguments = {"generate", "-m", "{tiny}", "--messages", "-"},
       .input = R"([{"role":"user","content":"a"}])" + std::string("\0x", 2),
       .exit_code = 1,
       .in_errors = {"byte 31", "NUL"}},
      {.name = "MessagesWithImagePart",
       .arguments = {"generate", "-m", "{tiny}", "--messages", "-"},
       .input = R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"image"}]}])",
       .exit_code = 1,
       .in_errors = {"/0/content/1: expected a part of type \"text\", found \"image\""}},
      {.name = "RequestWithNul",
       .arguments = {"decide", "-m", "{tiny}", "-"},
       .input = std::string("{}\0{}", 5),
       .exit_code = 1,
       .in_errors = {"byte 2", "NUL"}},
      {.name = "RequestWithImages",
       .arguments = {"decide", "-m", "{tiny}", "-"},
       .input = R"({"state":"s","images":[],"questions":{"q":{"type":"noul","instructions":"i"}}})",
       .exit_code = 1,
       .in_errors = {"/images"}},
      {.name = "RequestWithUnknownKeyInQuestion",
       .arguments = {"decide", "-m", "{tiny}", "-"},
       .input = R"({"state":"s","questions":{"q":{"type":"noul","instructions":"i","hint":1}}})",
       .exit_code = 1,
       .in_errors = {"/questions/q/hint"}},
      {.name = "RequestWithoutEnd",
       .arguments = {"decide", "-m", "{tiny}", "/dev/zero"},
       .exit_code = 1,
       .in_errors = {"larger than the limit of 16777216 bytes"}},
      {.name = "ControlCharactersInAKey",
       .arguments = {"decide", "-m", "{tiny}", "-"},
       .input = R"({"state":"s","questions":{"\u009b\u202e":{"type":"x"}}})",
       .exit_code = 1,
       .in_errors = {"\\u{9b}\\u{202e}"}},
      {.name = "QuestionsWithNul",
       .arguments = {"compare", "-m", "{tiny}", "--questions", "-"},
       .input = std::string("{}\0", 3),
       .exit_code = 1,
       .in_errors = {"line 1", "byte 2", "NUL"}},
      {.name = "ScoreLogitsNotFinite",
       .arguments = {"score", "-m", "{temp}/nan", "-"},
       .input = R"({"context":"a","continuation":"b"})",
       .exit_code = 1,
       .in_output = {"\"code\":\"not finite\"", "\"place\":\"/token_logprobs/0\""},
       .in_errors = {"1 of 1 lines are bad"}},
      {.name = "ChatRefusalAsJson",
       .arguments = {"chat", "-m", "{chat}", "--json", "--window", "8"},
       .input = std::string(300, 'x') + "\n",
       .exit_code = 1,
       .in_output = {"{\"error\":{\"code\":\"limit\""},
       .in_errors = {"refused"}},
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
