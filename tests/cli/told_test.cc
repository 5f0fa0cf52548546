// What the program tells rather than passes over.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/testing/cli_case.h"

namespace adjudge::testing {
namespace {

using nlohmann::json;

// The file calls the options 1 and 2, the prompt A and B.
constexpr const char* kNumbered =
    R"({"id":"i","question":{"stem":"ab?","choices":[{"text":"xx","label":"1"},)"
    R"({"text":"yy","label":"2"}]},"answerKey":"2"})"
    "\n";

std::string LongQuestion() {
  return R"({"id":"j","question":{"stem":")" + std::string(3000, 'x') +
         R"(","choices":[{"text":"xx","label":"1"},{"text":"yy","label":"2"}]}})" + "\n";
}

std::vector<CliCase> Cases() {
  return {
      {.name = "LongPromptIsOnePass",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "-", "-n", "3", "--ignore-eos",
                     "--json"},
       .input = std::string(200, 'x'),
       .fields = {{"/usage/forward_passes", "3"}}},
      {.name = "ChoiceCutShort",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--choice", "one two three",
                     "--choice", "four five six", "-n", "2", "--json"},
       .exit_code = 1,
       .in_errors = {"ended by --max-tokens before the text satisfied the constraint"},
       .fields = {{"/finish_reason", R"("length")"}}},
      {.name = "ChoiceCutShortInTrace",
       .arguments = {"trace", "-m", "{tiny}", "--prompt", "ab", "--choice", "one two three", "-n",
                     "2"},
       .exit_code = 1,
       .in_errors = {"before the text satisfied the constraint"}},
      {.name = "ChoiceComplete",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--choice", "one two three",
                     "--json"},
       .fields = {{"/finish_reason", R"("constraint")"}}},
      {.name = "ScoreKeyTwice",
       .arguments = {"score", "-m", "{tiny}", "-"},
       .input = R"({"context":"a","context":"b","continuation":"c"})",
       .exit_code = 1,
       .in_output = {"/context: this key comes twice in one object"}},
      {.name = "ScoreBlankLines",
       .arguments = {"score", "-m", "{tiny}", "-"},
       .input = "\n \t\n",
       .exit_code = 1,
       .in_output = {"\"line\":1", "\"line\":2", "a blank line"},
       .in_errors = {"2 of 2 lines are bad"}},
      {.name = "ScoreHelpTellsOfEmptyContexts",
       .arguments = {"score", "--help"},
       .in_output = {"An empty context is the BOS id"}},
      {.name = "ChatUnknownCommand",
       .arguments = {"chat", "-m", "{chat}", "-n", "2"},
       .input = "/help me\n",
       .exit_code = 1,
       .in_errors = {"no command /help"}},
      {.name = "ChatPathIsNoCommand",
       .arguments = {"chat", "-m", "{chat}", "-n", "2", "--json"},
       .input = "/usr/bin ?\n",
       .fields = {{"/seed", "0"}, {"/model", R"("chat")"}, {"/timings_ms/load", "*"}}},
      {.name = "EndWithLabels",
       .arguments = {"decide", "-m", "{tiny}", "--ask", "a", "--noul", "--head", "label", "--end",
                     "stop"},
       .exit_code = 2,
       .in_errors = {"--end", "--head is label"}},
      {.name = "LabelsWithLikelihood",
       .arguments = {"decide", "-m", "{tiny}", "--ask", "a", "--noul", "--head", "likelihood",
                     "--labels", "words"},
       .exit_code = 2,
       .in_errors = {"--labels", "--head is likelihood"}},
      {.name = "StrictWithoutJson",
       .arguments = {"decide", "-m", "{tiny}", "--ask", "a", "--noul", "--strict"},
       .exit_code = 2,
       .in_errors = {"--strict goes with --json"}},
      {.name = "NoKnownTokenizerFormat",
       .arguments = {"tokenize", "--tokenizer", "{temp}/text.gguf", "a"},
       .exit_code = 3,
       .in_errors = {"text.gguf: neither GGUF, tokenizer.json nor a SentencePiece model\n"}},
      {.name = "InspectTokenizer",
       .arguments = {"inspect", "{chat}/tokenizer.model", "--json"},
       .fields = {{"/format", R"("tokenizer")"},
                  {"/supported", "false"},
                  {"/tokenizer/size", "*"},
                  {"/template", "null"}}},
      {.name = "InspectTokenizerInWords",
       .arguments = {"inspect", "{chat}/tokenizer.model"},
       .in_output = {"tokenizer alone", "stop ids"}},
      {.name = "CompareRefusedQuestion",
       .arguments = {"compare", "-m", "{tiny}", "--questions", "-", "--steps", "2"},
       .input = kNumbered + LongQuestion(),
       .exit_code = 1,
       .in_output = {"2=B", "refused"},
       .in_errors = {"compare: 1 of 2", "compare: 2 of 2", "1 of 2 questions were refused"}},
      {.name = "CompareTellsLabels",
       .arguments = {"compare", "-m", "{tiny}", "--questions", "-", "--steps", "2", "--json"},
       .input = kNumbered,
       .fields = {{"/items/0/labels", R"(["A","B"])"},
                  {"/items/0/exam_labels", R"(["1","2"])"},
                  {"/items/0/options", R"(["xx","yy"])"}}},
  };
}

class CliTold : public ::testing::TestWithParam<CliCase> {};

TEST_P(CliTold, InWords) { CheckCliCase(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Rows, CliTold, ::testing::ValuesIn(Cases()), CliCaseName);

TEST(CliChat, LoadIsTheFirstTurnsAlone) {
  ProgramRun run;
  run.command = {AdjudgePath(), "chat", "-m", FilledArgument("{chat}"), "-n", "2", "--json"};
  run.input = "ab\ncd\n";
  std::istringstream lines(RunProgram(run).output);
  std::string first, second;
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_GT(json::parse(first)["timings_ms"]["load"], 0);
  EXPECT_EQ(json::parse(second)["timings_ms"]["load"], 0);
}

// A llama2.c file brings no tokenizer, and a vocabulary of its own must have the same ids.
TEST(CliTokenizer, OfAnotherModelIsRefused) {
  ADJUDGE_DATA_OR_SKIP(folder, "models/stories260K");
  const std::string stories = folder / "stories260K.bin";
  const std::string pieces = folder / "tok512.model";
  ProgramRun run;
  run.command = {AdjudgePath(), "generate", "-m", stories, "--prompt", "a"};
  ProgramResult result = RunProgram(run);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("give --tokenizer FILE"), std::string::npos) << result.errors;

  run.command = {AdjudgePath(), "generate", "-m", stories, "--tokenizer",
                 pieces,        "--prompt", "a",  "-n",    "2"};
  EXPECT_EQ(RunProgram(run).exit_code, 0);
  run.command[3] = TinyModel();
  result = RunProgram(run);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.errors.find("has 512 ids, the model's own vocabulary "), std::string::npos)
      << result.errors;

  run.command = {AdjudgePath(), "bench", "-m", stories, "-p", "4", "-n", "1", "-r", "1"};
  EXPECT_EQ(RunProgram(run).exit_code, 0) << "bench needs no tokenizer";
  run.command = {AdjudgePath(), "inspect", pieces};
  EXPECT_NE(RunProgram(run).output.find("512 tokens"), std::string::npos);
}

TEST(CliInspect, UnknownArchitectureNamesMistralToo) {
  ADJUDGE_DATA_OR_SKIP(file, "vocab-gguf/ggml-vocab-gpt-2.gguf");
  ProgramRun run;
  run.command = {AdjudgePath(), "inspect", file};
  EXPECT_NE(RunProgram(run).output.find("mistral"), std::string::npos);
}

}  // namespace
}  // namespace adjudge::testing
