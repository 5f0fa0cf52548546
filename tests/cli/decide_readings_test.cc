// decide's debiasing, multi-select, abstention, cut states and explanations, from the command line.
#include <gtest/gtest.h>

#include "tests/testing/cli_case.h"

namespace adjudge::testing {
namespace {

std::vector<std::string> Quick(std::vector<std::string> more, const char* verb = "decide") {
  std::vector<std::string> arguments = {verb,    "-m",       "{tiny}",   "--state", "ab. cd",
                                        "--ask", "which?",   "--choice", "one",     "--choice",
                                        "two",   "--choice", "three"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<CliCase> Cases() {
  return {
      {.name = "Cyclic",
       .arguments = Quick({"--debias", "cyclic", "--json"}),
       .fields = {{"/x_answers/q/debias", R"("cyclic")"}, {"/x_answers/q/forwards", "3"}}},
      {.name = "CyclicInWords",
       .arguments = Quick({"--debias", "cyclic"}),
       .in_output = {"debias cyclic in 3 forwards"}},
      {.name = "Adaptive",
       .arguments = Quick({"--debias", "all", "--adaptive", "0.5", "--json"}),
       .fields = {{"/x_answers/q/disagreement_bound", "*"}}},
      {.name = "Pmi",
       .arguments = Quick({"--debias", "pmi", "--x0", "nothing", "--json"}),
       .fields = {{"/x_answers/q/x0", R"("nothing")"}, {"/x_answers/q/forwards", "2"}}},
      {.name = "FallBack",
       .arguments = Quick({"--min-label-mass", "1", "--json"}),
       .fields = {{"/x_answers/q/head", R"("likelihood")"}, {"/x_answers/q/fallback", "*"}}},
      {.name = "Codes",
       .arguments = Quick({"--labels", "codes", "--json"}),
       .fields = {{"/x_answers/q/labels", R"(["0","1","2"])"}}},
      {.name = "PerCharacter",
       .arguments = Quick({"--head", "likelihood", "--norm", "mean_per_character", "--json"}),
       .fields = {{"/x_answers/q/normalization", R"("mean_per_character")"}}},
      {.name = "None",
       .arguments = Quick({"--none-option", "none of these", "--json"}),
       .fields = {{"/x_answers/q/none", "*"}}},
      {.name = "AbstainsByProbability",
       .arguments = Quick({"--abstain-below", "probability=1", "--json"}),
       .in_output = {R"("abstained":"probability 0.)"}},
      {.name = "AbstainsByCosts",
       .arguments = Quick({"--cost-wrong", "999", "--gain", "1"}),
       .in_output = {"abstains: probability", "< 0.999"}},
      {.name = "StrictHasNoExtras",
       .arguments = Quick({"--debias", "cyclic", "--json", "--strict"}),
       .not_in_output = {"x_", "forwards"}},
      {.name = "Select",
       .arguments = {"decide", "-m", "{tiny}", "-", "--json"},
       .input = R"({"state":"s","questions":{"t":{"type":"x_select","instructions":"?","min":1,)"
                R"("criteria":{"a":null,"b":null}}}})",
       .fields = {{"/answers/t/type", R"("x_select")"},
                  {"/answers/t/selected/0", "*"},
                  {"/answers/t/probabilities/a", "*"},
                  {"/x_answers/t/forwards", "2"}}},
      {.name = "Explain",
       .arguments = Quick({}, "explain"),
       .in_output = {"rests on", "  ab.\n", "  cd\n"}},
      {.name = "ExplainInJson",
       .arguments = Quick({"--explain", "words", "--json"}),
       .fields = {{"/x_explanations/q/unit", R"("words")"},
                  {"/x_explanations/q/parts/1/text", R"("cd")"},
                  {"/x_explanations/q/parts/1/importance", "*"}}},
      {.name = "TooLongIsRefusedWithCounts",
       .arguments = {"decide", "-m", "{tiny}", "--state", std::string(100'000, 'x'), "--ask", "?",
                     "--noul"},
       .exit_code = 1,
       .in_errors = {"the model's window holds"}},
      {.name = "TooLongIsCutAndTold",
       .arguments = {"decide", "-m", "{tiny}", "--state", std::string(100'000, 'x'), "--ask", "?",
                     "--noul", "--truncate", "middle"},
       .in_output = {"middle cut: ", " of 100000 bytes kept"}},
      {.name = "BenchOfOptions",
       .arguments = {"bench", "-m", "{tiny}", "--options", "9", "-r", "2", "--json"},
       .fields = {{"/options", "9"},
                  {"/repeats", "2"},
                  {"/trie_over_plain", "*"},
                  {"/cold_over_trie", "*"}}},
      {.name = "ConformalSet",
       .arguments = Quick({"--conformal", "aps=1", "--json"}),
       .fields = {{"/x_answers/q/set/2", "*"}}},
      {.name = "BadConformal",
       .arguments = Quick({"--conformal", "lac=2"}),
       .exit_code = 2,
       .in_errors = {"lac or aps"}},
      {.name = "UnknownDebias",
       .arguments = Quick({"--debias", "x"}),
       .exit_code = 2,
       .in_errors = {"--debias", "contextual"}},
      {.name = "AdaptiveAlone",
       .arguments = Quick({"--adaptive", "0.1"}),
       .exit_code = 2,
       .in_errors = {"--adaptive goes with"}},
      {.name = "X0Alone",
       .arguments = Quick({"--x0", "a"}),
       .exit_code = 2,
       .in_errors = {"--x0 goes with"}},
      {.name = "PrideWithoutPriors",
       .arguments = Quick({"--debias", "pride"}),
       .exit_code = 2,
       .in_errors = {"--priors"}},
      {.name = "AllOfTooMany",
       .arguments = Quick({"--choice", "4", "--choice", "5", "--choice", "6", "--debias", "all"}),
       .exit_code = 1,
       .in_errors = {"6 options; all orders are read of at most 5"}},
      {.name = "BadThreshold",
       .arguments = Quick({"--abstain-below", "confidence=0.5"}),
       .exit_code = 2,
       .in_errors = {"probability, margin or label_mass"}},
      {.name = "CostWithoutGain",
       .arguments = Quick({"--cost-wrong", "1"}),
       .exit_code = 2,
       .in_errors = {"go together"}},
      {.name = "ExplainOfABatch",
       .arguments = {"decide", "-m", "{tiny}", "--in", "-", "--out", "-", "--explain", "words"},
       .exit_code = 2,
       .in_errors = {"--explain goes with one request"}},
  };
}

class CliReadings : public ::testing::TestWithParam<CliCase> {};
TEST_P(CliReadings, DoesWhatItSays) { CheckCliCase(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Rows, CliReadings, ::testing::ValuesIn(Cases()), CliCaseName);

}  // namespace
}  // namespace adjudge::testing
