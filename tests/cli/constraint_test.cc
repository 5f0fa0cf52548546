// grammar, constraint, and generation under grammars and regexes.
#include <gtest/gtest.h>

#include "tests/testing/cli_case.h"

namespace adjudge::testing {
namespace {

std::string GrammarFile(const std::string& name) {
  return (SourceFolder() / "grammars/files" / (name + ".ebnf")).string();
}

std::vector<CliCase> Cases() {
  return {
      {.name = "GrammarCheck",
       .arguments = {"grammar", "check", "-", "--json"},
       .input = "root ::= \"a\"\nb ::= \"b\"",
       .fields = {{"/rules", "2"}, {"/unused", R"(["b"])"}, {"/root", R"("root")"}}},
      {.name = "GrammarFault",
       .arguments = {"grammar", "check", "-"},
       .input = "root ::=\n  (\"a\"",
       .exit_code = 1,
       .in_errors = {"line 2, column 7", "expected ')'"}},
      {.name = "GrammarPrint",
       .arguments = {"grammar", "print", "-"},
       .input = "a = 'x', [#x41-#x43]+ ;",
       .in_output = {"a ::= \"x\" [A-C]+\n"}},
      {.name = "GrammarAbsent",
       .arguments = {"grammar", "check", "{temp}/none.ebnf"},
       .exit_code = 1,
       .in_errors = {"none.ebnf"}},
      {.name = "ConstraintCheck",
       .arguments = {"constraint", "check", "--regex", "a{3,100000}b", "--json"},
       .fields = {{"/ok", "true"}, {"/shortest", R"("aaab")"}}},
      {.name = "ConstraintRefused",
       .arguments = {"constraint", "check", "--regex", "a(?=b)"},
       .exit_code = 1,
       .in_errors = {"offset 1", "lookahead"}},
      {.name = "SchemaCheck",
       .arguments = {"constraint", "check", "--schema", "-", "--json"},
       .input = R"({"type": "string", "format": "made-up"})",
       .fields = {{"/ok", "true"}, {"/shortest", R"("\"\"")"}, {"/notes/0", "*"}}},
      {.name = "SchemaStrictFormats",
       .arguments = {"constraint", "check", "--schema", "-", "--formats", "strict"},
       .input = R"({"type": "string", "format": "made-up"})",
       .exit_code = 1,
       .in_errors = {"/format", "made-up"}},
      {.name = "SchemaRefusedByPointer",
       .arguments = {"constraint", "check", "--schema", "-"},
       .input = R"({"properties": {"a": {"pattern": "(?=a)b"}}})",
       .exit_code = 1,
       .in_errors = {"/properties/a/pattern"}},
      {.name = "SchemaValidate",
       .arguments = {"constraint", "validate", "--schema", "/dev/stdin", R"({"b":1.0, "a":"x"})",
                     R"({"a": 1})"},
       .input = R"({"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}})",
       .exit_code = 1,
       .in_output = {"accepted\nrefused at byte 6\n"}},
      {.name = "ConstraintMissing",
       .arguments = {"constraint", "check"},
       .exit_code = 2,
       .in_errors = {"expected --schema"}},
      {.name = "ConstraintTwice",
       .arguments = {"constraint", "check", "--regex", "a", "--choice", "b"},
       .exit_code = 2,
       .in_errors = {"found several"}},
      {.name = "ExplainRefused",
       .arguments = {"constraint", "explain", "--regex", "[0-9]{4}-[0-9]{2}", "2026-1x"},
       .exit_code = 1,
       .in_output = {"refused at byte 6, \"x\": expected 0 to 9"}},
      {.name = "ExplainIncomplete",
       .arguments = {"constraint", "explain", "--choice", "yes", "--choice", "no", "y"},
       .exit_code = 1,
       .in_output = {"incomplete after byte 1: expected e"}},
      {.name = "ExplainAccepted",
       .arguments = {"constraint", "explain", "--grammar", GrammarFile("json"), "[1, 2]"},
       .in_output = {"accepted"}},
      {.name = "MaskOfATinyModel",
       .arguments = {"constraint", "mask", "-m", "{tiny}", "--regex", "a|b", "--json"},
       .fields = {{"/can_stop", "false"}, {"/n", "*"}}},
      {.name = "Sample",
       .arguments = {"constraint", "sample", "--regex", "x{3}", "--count", "2"},
       .in_output = {"xxx\nxxx\n"}},
      {.name = "Validate",
       .arguments = {"constraint", "validate", "--regex", "a+", "a", "ab"},
       .exit_code = 1,
       .in_output = {"accepted\nrefused at byte 1\n"}},
      {.name = "TestRight",
       .arguments = {"constraint", "test", "-", "-m", "{tiny}"},
       .input =
           R"([{"id": "r", "kind": "regex", "spec": "a[ab]*", "accept": ["ab"], "reject": ["b", ""]},
                    {"id": "x", "kind": "regex", "spec": "(", "expect": "refuse"}])",
       .in_output = {R"({"id":"r","outcome":"right")", R"("right":2,"wrong":0)"}},
      {.name = "TestWrong",
       .arguments = {"constraint", "test", "-", "-m", "{tiny}"},
       .input = R"([{"id": "r", "kind": "choice", "spec": ["a"], "accept": ["b"], "reject": []}])",
       .exit_code = 1,
       .in_output = {R"("outcome":"wrong","why":"refuses b")"}},
      {.name = "GenerateRegex",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--regex", "(ab){2}c", "--json"},
       .fields = {{"/text", R"("ababc")"}, {"/finish_reason", R"("constraint")"}}},
      {.name = "TestOfSchemas",
       .arguments = {"constraint", "test", "-", "-m", "{tiny}"},
       .input = R"({"id": "s", "schema": {"type": "integer"}, "tests": [)"
                R"({"valid": true, "data": 2.0}, {"valid": false, "data": "a"}]})",
       .in_output = {R"({"id":"s","outcome":"right")", R"("right":1,"wrong":0)"}},
      {.name = "GenerateSchema",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--schema", "-", "--json"},
       .input = R"({"type": "object", "properties": {"a": {"const": 1}, "b": {"const": "x"}},)"
                R"("required": ["a", "b"], "additionalProperties": false})",
       .fields = {{"/text", R"("{\"a\": 1, \"b\": \"x\"}")"},
                  {"/finish_reason", R"("constraint")"}}},
      {.name = "GenerateWithinTheBudget",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--regex", "a+b", "-n", "4",
                     "--json"},
       .fields = {{"/finish_reason", R"("constraint")"}}},
      {.name = "BudgetTooSmall",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--regex", "a{30}b", "-n", "1"},
       .exit_code = 2,
       .in_errors = {"--max-tokens", "the shortest text"}},
      {.name = "GenerateBadGrammar",
       .arguments = {"generate", "-m", "{tiny}", "--prompt", "ab", "--grammar", "-"},
       .input = "root ::= x",
       .exit_code = 2,
       .in_errors = {"line 1, column 10", "\"x\" is not defined"}},
  };
}

class ConstraintCli : public ::testing::TestWithParam<CliCase> {};

TEST_P(ConstraintCli, KeepsItsPromises) { CheckCliCase(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Verbs, ConstraintCli, ::testing::ValuesIn(Cases()), CliCaseName);

}  // namespace
}  // namespace adjudge::testing
