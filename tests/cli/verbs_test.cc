// What every verb gives, on tiny random models always and on the default model where it is here.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/testing/cli_case.h"

namespace adjudge::testing {
namespace {

using nlohmann::json;

std::vector<CliCase> HelpCases() {
  std::vector<CliCase> rows = {
      {.name = "Version", .arguments = {"--version"}, .in_output = {"adjudge 0."}},
      {.name = "Help",
       .arguments = {"--help"},
       .in_output = {"generate", "decide", "trace", "score", "tokenize", "inspect", "bench", "chat",
                     "compare", "Exit codes", "Example"}},
  };
  for (const char* verb : {"generate", "decide", "trace", "score", "tokenize", "inspect", "bench",
                           "chat", "compare"}) {
    rows.push_back(
        {.name = std::string("Help_").append(verb),
         .arguments = {verb, "--help"},
         .in_output = {"Example", std::string("adjudge ").append(verb), "--model", "--json"}});
  }
  return rows;
}

std::vector<CliCase> TokenizeCases() {
  return {
      {.name = "Json",
       .arguments = {"tokenize", "-m", "{tiny}", "--json", "ab th"},
       .fields = {{"/ids", "[265,269,259,275]"},
                  {"/pieces", R"([" a","b"," t","h"])"},
                  {"/n", "4"}}},
      {.name = "Plain",
       .arguments = {"tokenize", "-m", "{tiny}", "ab th"},
       .in_output = {"265 269 259 275\n"}},
      {.name = "BosOnlyWhenAsked",
       .arguments = {"tokenize", "-m", "{tiny}", "--json", "--bos", "ab th"},
       .fields = {{"/ids", "[1,265,269,259,275]"}, {"/n", "5"}}},
      {.name = "EmptyText",
       .arguments = {"tokenize", "-m", "{tiny}", "--json", ""},
       .fields = {{"/ids", "[]"}, {"/pieces", "[]"}, {"/n", "0"}}},
      {.name = "TextThatLooksLikeAList",
       .arguments = {"tokenize", "-m", "{tiny}", "--count", "[a,b]"},
       .in_output = {"6\n"}},
      {.name = "NulByteFromInput",
       .arguments = {"tokenize", "-m", "{tiny}", "--json", "-"},
       .input = std::string("a\0", 2),
       .fields = {{"/n", "2"}, {"/pieces/1", R"("\u0000")"}}},
      {.name = "PartsOfCharactersAsHex",
       .arguments = {"tokenize", "-m", "{tiny}", "--json", "-"},
       .input = "\xc3\xa9",
       .fields = {{"/pieces/1", R"({"hex":"c3"})"}, {"/pieces/2", R"({"hex":"a9"})"}}},
      {.name = "Lossy",
       .arguments = {"tokenize", "-m", "{tiny}", "--json", "--lossy", "-"},
       .input = "a\xff",
       .fields = {{"/n", "4"}, {"/pieces/1", R"({"hex":"ef"})"}}},
      {.name = "LossyArgument",
       .arguments = {"tokenize", "-m", "{tiny}", "--count", "--lossy", "a\xff"},
       .in_output = {"4\n"}},
      {.name = "SpecialNotParsedFromText",
       .arguments = {"tokenize", "-m", "{tiny}", "--count", "</s>"},
       .in_output = {"5\n"}},
      {.name = "SpecialParsedWhenAsked",
       .arguments = {"tokenize", "-m", "{tiny}", "--json", "--special", "</s>"},
       .fields = {{"/ids", "[2]"}}},
      {.name = "IdsToText",
       .arguments = {"tokenize", "-m", "{tiny}", "--ids", "265,269,259,275", "--json"},
       .fields = {{"/text", R"("ab th")"}, {"/n", "4"}}},
      {.name = "IdsFromInput",
       .arguments = {"tokenize", "-m", "{tiny}", "--decode", "-"},
       .input = "[265, 269]\n259 275",
       .in_output = {"ab th"}},
      {.name = "BytesOfTokens",
       .arguments = {"tokenize", "-m", "{tiny}", "--bytes", "ab"},
       .in_output = {"265\t2061\t a\n", "269\t62\tb\n"}},
  };
}

std::vector<CliCase> GenerateCases() {
  return {
      {.name = "NumbersAreDecimalWhateverTheirZeros",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "-n", "010", "--ignore-eos",
                     "--json"},
       .fields = {{"/usage/forward_passes", "10"}}},
      {.name = "Json",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--max-tokens", "3",
                     "--ignore-eos", "--json"},
       .fields = {{"/text", "*"},
                  {"/finish_reason", R"("length")"},
                  {"/token_ids/2", "*"},
                  {"/seed", "0"},
                  {"/usage",
                   R"({"prompt_tokens":3,"cached_tokens":0,"generated_tokens":3,"forced_tokens":0,
                       "forward_passes":3})"},
                  {"/timings_ms/load", "*"},
                  {"/timings_ms/prefill", "*"},
                  {"/timings_ms/decode", "*"}}},
      {.name = "ThirtyStepsAreThirtyPasses",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--max-tokens", "30",
                     "--ignore-eos", "--json", "--backend", "reference"},
       .fields = {{"/usage/forward_passes", "30"}, {"/usage/generated_tokens", "30"}}},
      {.name = "EmptyPromptWithBos",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "", "--max-tokens", "1", "--json"},
       .fields = {{"/usage/prompt_tokens", "1"}}},
      {.name = "SpelledBosIsNotDoubled",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "<s>ab", "--special", "--max-tokens",
                     "1", "--json"},
       .fields = {{"/usage/prompt_tokens", "3"}}},
      {.name = "SeedIsEchoed",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--max-tokens", "2",
                     "--temperature", "0.9", "--seed", "18446744073709551615", "--json"},
       .fields = {{"/seed", "18446744073709551615"}}},
      {.name = "ChoiceAmongWords",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--choice", "same", "--choice",
                     "same", "--json"},
       .exit_code = 2,
       .in_errors = {"--choice: options[1]"}},
      {.name = "OneChoiceIsForced",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--choice", "the one", "--json"},
       .fields = {{"/text", R"("the one")"}, {"/finish_reason", R"("constraint")"}}},
      {.name = "ChoiceOfAnEmoji",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--choice", "\xf0\x9f\x99\x82",
                     "--json"},
       .fields = {{"/text", R"("🙂")"}}},
      {.name = "ChoiceThatLooksLikeAList",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--choice", "[a,b]", "--json"},
       .fields = {{"/text", R"("[a,b]")"}}},
      {.name = "ChoiceOfBraces",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--choice", "{}", "--json"},
       .fields = {{"/text", R"("{}")"}}},
      {.name = "ChatWithTemplate",
       .arguments = {"generate", "-m", "{chat}", "--chat", "hi", "--system", "be", "--max-tokens",
                     "2", "--ignore-eos", "--json"},
       .fields = {{"/usage/generated_tokens", "2"}}},
      {.name = "MessagesWithTemplate",
       .arguments = {"generate", "-m", "{chat}", "--messages", "-", "--max-tokens", "2",
                     "--ignore-eos", "--json"},
       .input = R"({"messages":[{"role":"user","content":"hi"}],"tools":[]})",
       .fields = {{"/usage/generated_tokens", "2"}}},
  };
}

std::vector<CliCase> TraceCases() {
  return {
      {.name = "Json",
       .arguments = {"trace", "-m", "{tiny}", "--prompt", "ab", "--max-tokens", "2", "--top", "2",
                     "--ignore-eos", "--json"},
       .fields = {{"/steps/0/step", "1"},
                  {"/steps/1/token", "*"},
                  {"/steps/1/probability", "*"},
                  {"/steps/1/ms", "*"},
                  {"/steps/1/hex", "*"},
                  {"/steps/1/alternatives/1/probability", "*"},
                  {"/usage/forward_passes", "2"}}},
      {.name = "ControlCharactersAreShownNotSent",  // id 30 is the byte 0x1b
       .arguments = {"trace", "-m", "{tiny}", "--prompt", "ab", "--max-tokens", "2", "--logit-bias",
                     "30=1000"},
       .in_output = {"\"\\x1b\"", "1b  "},
       .not_in_output = {"\x1b"}},
      {.name = "Header",
       .arguments = {"trace", "-m", "{tiny}", "--prompt", "ab", "--max-tokens", "1"},
       .in_output = {"step       id  token", "bytes", "best"}},
  };
}

std::vector<CliCase> ScoreCases() {
  return {
      {.name = "OneLine",
       .arguments = {"score", "-m", "{tiny}", "--json", "-"},
       .input = R"({"context":"ab","continuation":"th"})",
       .fields = {{"/logprob", "*"},
                  {"/token_logprobs/0", "*"},
                  {"/token_ids/0", "*"},
                  {"/is_greedy", "false"}}},
      {.name = "BadLinesAreToldAndTheRestGoesOn",
       .arguments = {"score", "-m", "{tiny}", "--json", "-"},
       .input = "{\"context\":\"ab\",\"continuation\":\"c\"}\n\nbad\n{\"context\":\"ab\"}\n"
                "{\"context\":\"ab\",\"continuation\":\"\"}\n"
                "{\"context\":\"ab\",\"continuation\":\"d\"}",
       .exit_code = 1,
       .in_output = {"\"line\":2", "a blank line", "\"line\":3", "not JSON", "\"line\":4",
                     "\"continuation\\\"", "\"line\":5", "\"token_ids\":[271]"},
       .in_errors = {"4 of 6 lines are bad"}},
      {.name = "LineLongerThanTheWindow",
       .arguments = {"score", "-m", "{tiny}", "--json", "-"},
       .input = "{\"context\":\"" + std::string(5000, 'x') +
                "\",\"continuation\":\"c\"}\n{\"context\":\"ab\",\"continuation\":\"d\"}",
       .exit_code = 1,
       .in_output = {"\"line\":1", "256", "\"token_ids\":[271]"}},
      {.name = "NoLines", .arguments = {"score", "-m", "{tiny}", "--json", "-"}},
      {.name = "NoFile",
       .arguments = {"score", "-m", "{tiny}", "--json"},
       .exit_code = 2,
       .in_errors = {"file"}},
  };
}

std::vector<std::string> WithOptions(std::vector<std::string> arguments,
                                     const std::vector<std::string>& options) {
  for (const std::string& option : options) {
    arguments.push_back("--choice");
    arguments.push_back(option);
  }
  return arguments;
}

std::vector<CliCase> DecideCases() {
  const std::vector<std::string> ask = {"decide", "-m", "{tiny}", "--ask", "ab?", "--json"};
  std::vector<std::string> many;
  for (int i = 0; i < 300; ++i) many.push_back(std::string("o").append(std::to_string(i)));
  return {
      {.name = "Choice",
       .arguments = WithOptions(ask, {"ab", "cd"}),
       .fields = {{"/answers/q/type", R"("choice")"},
                  {"/answers/q/probabilities/ab", "*"},
                  {"/answers/q/confidence", "*"},
                  {"/x_cost/forward_passes", "1"},
                  {"/x_cost/load", "*"}}},
      {.name = "Noul",
       .arguments = {"decide", "-m", "{tiny}", "--ask", "ab?", "--json", "--noul"},
       .fields = {{"/answers/q/noul", "*"}}},
      {.name = "Levels",
       .arguments = {"decide", "-m", "{tiny}", "--ask", "ab?", "--json", "--level", "low",
                     "--level", "high"},
       .fields = {{"/answers/q/legend", R"({"0":"low","1":"high"})"}}},
      {.name = "StrictHasNoExtras",
       .arguments = {"decide", "-m", "{tiny}", "--ask", "ab?", "--json", "--strict", "--noul"},
       .not_in_output = {"x_"}},
      {.name = "NoOptions", .arguments = ask, .exit_code = 2, .in_errors = {"--choice"}},
      {.name = "OneOption",
       .arguments = WithOptions(ask, {"only"}),
       .fields = {{"/answers/q/probabilities", R"({"only":1.0})"}}},
      {.name = "SameOptionTwice",
       .arguments = WithOptions(ask, {"ab", "ab"}),
       .exit_code = 2,
       .in_errors = {"--choice \"ab\""}},
      {.name = "EmptyOption",
       .arguments = WithOptions(ask, {"ab", ""}),
       .exit_code = 2,
       .in_errors = {"--choice", "empty"}},
      {.name = "EmptyQuestion",
       .arguments = {"decide", "-m", "{tiny}", "--ask", "", "--noul"},
       .exit_code = 2,
       .in_errors = {"--ask: expected a question"}},
      {.name = "OptionsThatBeginEachOther",
       .arguments =
           WithOptions({"decide", "-m", "{tiny}", "--ask", "ab?", "--json", "--head", "likelihood"},
                       {"new", "new york"}),
       .fields = {{"/x_answers/q/end", R"("stop")"}}},
      {.name = "OptionsOfSeveralTokensAndEmoji",
       .arguments = WithOptions({"decide", "-m", "{tiny}", "--ask", "ab?", "--json", "--head",
                                 "likelihood", "--end", "none"},
                                {"a long answer", "\xf0\x9f\x99\x82"}),
       .fields = {{"/answers/q/probabilities/🙂", "*"}, {"/x_answers/q/end", R"("none")"}}},
      {.name = "ThreeHundredOptions",
       .arguments = WithOptions(ask, many),
       .fields = {{"/answers/q/probabilities/o299", "*"}}},
      {.name = "QuestionLongerThanTheWindow",
       .arguments = {"decide", "-m", "{tiny}", "--ask", std::string(5000, 'x'), "--noul"},
       .exit_code = 1,
       .in_errors = {"256"}},
      {.name = "Request",
       .arguments = {"decide", "-m", "{tiny}", "-", "--json"},
       .input = R"({"model":"any","state":"ab","questions":
           {"q 1":{"type":"noul","instructions":"is it?"},
            "🎯":{"type":"choice","instructions":"which?","criteria":{"x":null,"y":null}}}})",
       .fields = {{"/answers/q 1/noul", "*"},
                  {"/answers/🎯/choice", "*"},
                  {"/x_cost/forward_passes", "1"}}},
      {.name = "RequestNotJson",
       .arguments = {"decide", "-m", "{tiny}", "-", "--json"},
       .input = "{",
       .exit_code = 1,
       .in_errors = {"standard input", "JSON"}},
      {.name = "RequestOfAnUnknownType",
       .arguments = {"decide", "-m", "{tiny}", "-", "--json"},
       .input = R"({"state":"ab","questions":{"q":{"type":"boolean"}}})",
       .exit_code = 1,
       .in_errors = {"/questions/q/type", "boolean"}},
      {.name = "RequestAndQuestion",
       .arguments = {"decide", "-m", "{tiny}", "-", "--ask", "ab?", "--noul"},
       .exit_code = 2,
       .in_errors = {"REQUEST"}},
      {.name = "Neither",
       .arguments = {"decide", "-m", "{tiny}"},
       .exit_code = 2,
       .in_errors = {"REQUEST"}},
  };
}

std::vector<CliCase> OtherCases() {
  return {
      {.name = "InspectJson",
       .arguments = {"inspect", "{tiny}", "--json"},
       .fields = {{"/architecture", R"("llama")"},
                  {"/supported", "true"},
                  {"/format", R"("gguf v3")"},
                  {"/tokenizer/wants_bos", "true"},
                  {"/tensors/count", "*"},
                  {"/memory/cache_bytes_per_1000_tokens", "128000"},
                  {"/template", "null"}}},
      {.name = "InspectFolderWithTemplate",
       .arguments = {"inspect", "{chat}", "--json"},
       .fields = {{"/format", R"("safetensors")"}, {"/template", "*"}}},
      {.name = "InspectTemplate",
       .arguments = {"inspect", "{chat}", "--template"},
       .in_output = {"{% for m in messages %}"}},
      {.name = "InspectTemplateAbsent",
       .arguments = {"inspect", "{tiny}", "--template"},
       .exit_code = 1,
       .in_errors = {"no chat template"}},
      {.name = "InspectTensors",
       .arguments = {"inspect", "{tiny}", "--tensors"},
       .in_output = {"blk.0.attn_q.weight", "F32"}},
      {.name = "BenchJson",
       .arguments = {"bench", "-m", "{tiny}", "-p", "4,8", "-n", "3", "-d", "2", "-r", "2",
                     "--json"},
       .fields = {{"/precision", R"("default")"},
                  {"/threads", "*"},
                  {"/cancelled", "false"},
                  {"/rows/0/what", R"("prefill")"},
                  {"/rows/1/tokens", "8"},
                  {"/rows/2/what", R"("decode")"},
                  {"/rows/2/tokens_per_second/median", "*"}}},
      {.name = "BenchNamesThePrecisionAsked",
       .arguments = {"bench", "-m", "{tiny}", "-p", "4", "-n", "0", "-r", "1", "--json",
                     "--precision", "fast"},
       .fields = {{"/precision", R"("fast")"}}},
      {.name = "BenchOnAWeakerInstructionSet",
       .arguments = {"bench", "-m", "{tiny}", "-p", "4", "-n", "0", "-r", "1", "--cpu-isa",
                     "baseline"},
       .in_output = {"cpu (baseline"}},
      {.name = "BenchOfTheReferenceIsExact",
       .arguments = {"bench", "-m", "{tiny}", "-p", "4", "-n", "0", "-r", "1", "--backend",
                     "reference"},
       .in_output = {"precision exact"}},
      {.name = "ChatKeepsItsSequence",
       .arguments = {"chat", "-m", "{chat}", "--max-tokens", "2", "--ignore-eos"},
       .input = "hello\nagain\n",
       .in_errors = {"reused 0,", "reused 21,", "window 256: system ", "history 0,", "room left "}},
      {.name = "ChatQuitAndReset",
       .arguments = {"chat", "-m", "{chat}", "--max-tokens", "2"},
       .input = "hello\n\n/reset\n/quit\nnever\n",
       .in_errors = {"forgotten"}},
      {.name = "ChatRefusesWhatDoesNotFit",
       .arguments = {"chat", "-m", "{chat}", "--max-tokens", "8", "--window", "40"},
       .input = "hello there\nand then some more words\n",
       .exit_code = 1,
       .in_errors = {"refused: this turn needs", "the window has 40"}},
      {.name = "ChatDropsTheOldest",
       .arguments = {"chat", "-m", "{chat}", "--max-tokens", "8", "--window", "60", "--on-overflow",
                     "drop-oldest", "--ignore-eos"},
       .input = "hello there\nhow are you\n",
       .in_errors = {"[drop-oldest: 2 oldest messages dropped to fit]"}},
      {.name = "ChatWindowLargerThanTheModels",
       .arguments = {"chat", "-m", "{chat}", "--window", "1000"},
       .exit_code = 2,
       .in_errors = {"--window", "256", "1000"}},
      {.name = "ChatWithoutTemplate",
       .arguments = {"chat", "-m", "{tiny}"},
       .exit_code = 2,
       .in_errors = {"no chat template"}},
      {.name = "CompareNoQuestions",
       .arguments = {"compare", "-m", "{tiny}", "--questions", "-"},
       .exit_code = 1,
       .in_errors = {"no questions"}},
      {.name = "CompareBadFile",
       .arguments = {"compare", "-m", "{tiny}", "--questions", "-"},
       .input = "{\"id\":\"i\"}\n",
       .exit_code = 1,
       .in_errors = {"standard input", "line 1"}},
      {.name = "CompareOneQuestion",
       .arguments = {"compare", "-m", "{tiny}", "--questions", "-", "--steps", "3", "--json"},
       .input = R"({"id":"i","question":{"stem":"ab?","choices":[{"text":"a","label":"A"},)"
                R"({"text":"b","label":"B"}]},"answerKey":"A"})",
       .fields = {{"/items/0/one_pass/verdict", "*"}, {"/extraction_rule", "*"}}},
  };
}

std::vector<CliCase> DefaultModelCases() {
  std::string long_prompt;
  for (int i = 0; i < 9000; ++i) long_prompt += "word ";
  return {
      {.name = "ParisIsTheCapital",
       .arguments = {"generate", "-m", "{default}", "--chat", "What is the capital of France?"},
       .in_output = {"Paris"},
       .in_errors = {"stopped by the model"}},
      {.name = "OnlyTheOptionsComeOut",
       .arguments = {"decide", "-m", "{default}", "--ask", "Which letter comes fifth?", "--choice",
                     "A", "--choice", "B", "--choice", "C", "--choice", "D"},
       .not_in_output = {"E"}},
      {.name = "ThreeHundredOptions",
       .arguments =
           [] {
             std::vector<std::string> options;
             for (int i = 0; i < 300; ++i)
               options.push_back(std::string("o").append(std::to_string(i)));
             return WithOptions({"decide", "-m", "{default}", "--ask", "Which?", "--json"},
                                options);
           }(),
       .fields = {{"/answers/q/probabilities/o299", "*"}}},
      {.name = "TraceShowsEachStep",
       .arguments = {"trace", "-m", "{default}", "--chat", "What is the capital of France?"},
       .in_output = {"\" Paris\""}},
      {.name = "PromptOf9000TokensIsRefused",
       .arguments = {"generate", "-m", "{default}", "--prompt", "-"},
       .input = long_prompt,
       .exit_code = 1,
       .in_errors = {"9001", "8192"}},
      {.name = "EmptyPromptWithoutBos",
       .arguments = {"generate", "-m", "{default}", "--prompt", ""},
       .exit_code = 2,
       .in_errors = {"the prompt is empty"}},
      {.name = "UserTextForgesNoSpecialToken",
       .arguments = {"generate", "-m", "{default}", "--prompt", "<|im_end|>", "--max-tokens", "1",
                     "--json"},
       .fields = {{"/usage/prompt_tokens", "7"}}},
      {.name = "CompareThreeQuestions",
       .arguments = {"compare", "-m", "{default}", "--limit", "1", "--steps", "4", "--all-steps"},
       .in_output = {"one pass", "right"}},
  };
}

class CliVerbs : public ::testing::TestWithParam<CliCase> {};

TEST_P(CliVerbs, GivesWhatIsPromised) { CheckCliCase(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Help, CliVerbs, ::testing::ValuesIn(HelpCases()), CliCaseName);
INSTANTIATE_TEST_SUITE_P(Tokenize, CliVerbs, ::testing::ValuesIn(TokenizeCases()), CliCaseName);
INSTANTIATE_TEST_SUITE_P(Generate, CliVerbs, ::testing::ValuesIn(GenerateCases()), CliCaseName);
INSTANTIATE_TEST_SUITE_P(Trace, CliVerbs, ::testing::ValuesIn(TraceCases()), CliCaseName);
INSTANTIATE_TEST_SUITE_P(Score, CliVerbs, ::testing::ValuesIn(ScoreCases()), CliCaseName);
INSTANTIATE_TEST_SUITE_P(Decide, CliVerbs, ::testing::ValuesIn(DecideCases()), CliCaseName);
INSTANTIATE_TEST_SUITE_P(Other, CliVerbs, ::testing::ValuesIn(OtherCases()), CliCaseName);
INSTANTIATE_TEST_SUITE_P(DefaultModel, CliVerbs, ::testing::ValuesIn(DefaultModelCases()),
                         CliCaseName);

// The same seed draws the same text; another seed another one.
TEST(CliGenerate, SeedDecidesTheText) {
  const auto text = [](const std::string& seed) {
    ProgramRun run;
    run.command = {AdjudgePath(),   "generate", "-m",           TinyModel(), "--prompt", "ab",
                   "--temperature", "1",        "--max-tokens", "40",        "--seed",   seed,
                   "--json"};
    return json::parse(RunProgram(run).output)["token_ids"].dump();
  };
  EXPECT_EQ(text("7"), text("7"));
  EXPECT_NE(text("7"), text("8"));
}

// The text that streams is the text of the JSON, and a newline.
TEST(CliGenerate, StreamsTheTextOfTheJson) {
  ProgramRun run;
  run.command = {AdjudgePath(), "generate",     "-m", TinyModel(),   "--prompt",
                 "ab",          "--max-tokens", "40", "--ignore-eos"};
  const std::string streamed = RunProgram(run).output;
  run.command.push_back("--json");
  EXPECT_EQ(streamed, json::parse(RunProgram(run).output)["text"].get<std::string>() + "\n");
}

TEST(CliGenerate, InterruptKeepsWhatThereIs) {
  ADJUDGE_MODEL_OR_SKIP(model, "default");
  ProgramRun run;
  run.command = {AdjudgePath(),      "generate",     "-m",           model, "--prompt",
                 "Once upon a time", "--ignore-eos", "--max-tokens", "5000"};
  run.interrupt_after_bytes = 10;
  const ProgramResult result = RunProgram(run);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_GE(result.output.size(), 10U);
  EXPECT_NE(result.errors.find("cancelled"), std::string::npos) << result.errors;
}

// Vocabulary-only files and unknown architectures are described, and their tokenizer works.
TEST(CliInspect, DescribesWhatItCannotRun) {
  ADJUDGE_DATA_OR_SKIP(file, "vocab-gguf/ggml-vocab-gpt-2.gguf");
  ProgramRun run;
  run.command = {AdjudgePath(), "inspect", file, "--json"};
  const ProgramResult result = RunProgram(run);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const json inspected = json::parse(result.output);
  EXPECT_EQ(inspected["supported"], false);
  EXPECT_NE(inspected["config"]["error"]["message"].get<std::string>().find("gpt2"),
            std::string::npos);
  EXPECT_EQ(inspected["tokenizer"]["size"], 50257);
  run.command = {AdjudgePath(), "generate", "-m", file, "--prompt", "a"};
  EXPECT_EQ(RunProgram(run).exit_code, 3);
  run.command = {AdjudgePath(), "tokenize", "-m", file, "--count", "Hello world"};
  EXPECT_EQ(RunProgram(run).output, "2\n");
}

}  // namespace
}  // namespace adjudge::testing
