// train-head, test-head, calibrate, and decide and inspect with what they wrote.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/testing/cli_case.h"
#include "tests/testing/head_examples.h"

namespace adjudge::testing {
namespace {

using nlohmann::json;

std::string Csv(int n_labels, int each, int skip) {
  std::string csv = "text,category\n";
  const auto texts = ToyIntents(n_labels, each + skip);
  for (std::size_t i = static_cast<std::size_t>(n_labels * skip); i < texts.size(); ++i) {
    csv += texts[i].text + "," + texts[i].label + "\n";
  }
  return csv;
}

class HeadVerbs : public ::testing::Test {
 protected:
  // Runs the program; `arguments` may name files of the folder as "{f}/name".
  ProgramResult Run(const std::vector<std::string>& arguments, int exit_code = 0) {
    ProgramRun run{.command = {AdjudgePath()}};
    for (std::string argument : arguments) {
      const std::size_t at = argument.find("{f}");
      if (at != std::string::npos) argument.replace(at, 3, folder_.path().string());
      run.command.push_back(FilledArgument(argument));
    }
    ProgramResult result = RunProgram(run);
    EXPECT_EQ(result.exit_code, exit_code) << result.output << result.errors;
    return result;
  }

  json RunJson(const std::vector<std::string>& arguments) {
    const ProgramResult result = Run(arguments);
    json parsed = json::parse(result.output, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << result.output;
    return parsed;
  }

  void Train(const std::string& out, const std::string& model = "{tiny}") {
    folder_.Write("train.csv", Csv(3, 12, 0));
    folder_.Write("test.csv", Csv(3, 5, 12));
    Run({"train-head", "-m", model, "--train", "{f}/train.csv", "--out", "{f}/" + out, "--cache",
         "{f}/states", "--layers", "1,1+2", "--json"});
  }

  TempFolder folder_;
};

TEST_F(HeadVerbs, FromTextsToAnAnswer) {
  Train("a.head");
  const json test = RunJson({"test-head", "-m", "{tiny}", "--head", "{f}/a.head", "--test",
                             "{f}/test.csv", "--no-cache", "--json"});
  EXPECT_EQ(test["n"], 15);
  EXPECT_GT(test["accuracy"], 0.8);
  for (const char* key : {"accuracy_interval", "nll", "brier", "ece", "ms_per_item"}) {
    EXPECT_TRUE(test.contains(key)) << key;
  }
  EXPECT_EQ(test["forward_passes"], 1);
  EXPECT_EQ(test["trained_on"], 0);
  const json answer = RunJson(
      {"decide", "-m", "{tiny}", "--head", "{f}/a.head", "--state", "zzzz number 99", "--json"});
  EXPECT_EQ(answer["answers"]["q"]["choice"], "label 1");
  EXPECT_EQ(answer["x_answers"]["q"]["head"], "linear");
  EXPECT_EQ(answer["x_cost"]["forward_passes"], 1);
  const json inspected = RunJson({"inspect", "{f}/a.head", "--json"});
  EXPECT_EQ(inspected["form"], "linear");
  EXPECT_EQ(inspected["labels"], json({"label 0", "label 1", "label 2"}));
  Run({"inspect", "{f}/a.head"});

  const json calibrated =
      RunJson({"calibrate", "-m", "{tiny}", "--head", "{f}/a.head", "--data", "{f}/test.csv",
               "--kind", "platt", "--out", "{f}/a.calibration", "--no-cache", "--json"});
  EXPECT_TRUE(calibrated["held_out_half"].contains("nll_gain_interval"));
  const json other = RunJson({"decide", "-m", "{tiny}", "--head", "{f}/a.head", "--calibration",
                              "{f}/a.calibration", "--state", "zzzz number 99", "--json"});
  EXPECT_EQ(other["x_answers"]["q"]["calibration"], "platt");
  EXPECT_EQ(other["x_answers"]["q"]["scores"], answer["x_answers"]["q"]["scores"]);
}

TEST_F(HeadVerbs, RefusedByName) {
  Train("a.head");
  folder_.Write("bad.csv", "text,label\nx,y\n");
  folder_.Write("other.csv", "text,category\nx,unheard of\n");
  folder_.Write("text.head", "no head");
  const struct {
    std::vector<std::string> arguments;
    int exit_code;
    const char* part;
  } cases[] = {
      {{"calibrate", "-m", "{tiny}", "--head", "{f}/a.head", "--data", "{f}/train.csv", "--out",
        "{f}/c"},
       1,
       "text 1 (counted from 1) is one that the head was trained on"},
      {{"test-head", "-m", "{chat}", "--head", "{f}/a.head", "--test", "{f}/test.csv"},
       1,
       "the head was trained on the model llama-f32"},
      {{"decide", "-m", "{chat}", "--head", "{f}/a.head", "--state", "x"},
       1,
       "the head was trained on the model llama-f32"},
      {{"test-head", "-m", "{tiny}", "--head", "{f}/a.head", "--test", "{f}/other.csv"},
       1,
       "the label \"unheard of\" is none of the head's"},
      {{"train-head", "-m", "{tiny}", "--train", "{f}/bad.csv", "--out", "{f}/x"},
       1,
       "line 1: no column \"category\"; the columns are text, label"},
      {{"train-head", "-m", "{tiny}", "--train", "{f}/none.csv", "--out", "{f}/x"},
       1,
       "No such file"},
      {{"train-head", "-m", "{tiny}", "--train", "{f}/train.csv", "--out", "{f}/no/x", "--no-cache",
        "--layers", "1"},
       1,
       "--out"},
      {{"train-head", "-m", "{tiny}", "--train", "{f}/train.csv", "--out", "{f}/x", "--layers",
        "1,,2"},
       2,
       "--layers: expected auto"},
      {{"train-head", "-m", "{tiny}", "--train", "{f}/train.csv", "--out", "{f}/x", "--layers",
        "99", "--no-cache"},
       1,
       "layers: expected layers from 1 to"},
      {{"train-head", "-m", "{tiny}", "--train", "{f}/train.csv", "--out", "{f}/x", "--decays",
        "0"},
       2,
       "--decays: expected positive"},
      {{"train-head", "-m", "{tiny}", "--train", "{f}/train.csv", "--out", "{f}/x", "--kind",
        "pointer", "--layers", "1"},
       2,
       "--layers does not go with --kind pointer"},
      {{"train-head", "-m", "{tiny}", "--train", "{f}/train.csv", "--out", "{f}/x", "--kind", "knn",
        "--rank", "2"},
       2,
       "--rank and --hidden go with --kind linear"},
      {{"decide", "-m", "{tiny}", "--head", "{f}/text.head", "--state", "x"}, 1, "text.head"},
      {{"decide", "-m", "{tiny}", "--head", "likelyhood", "--state", "x"},
       2,
       "there is no file \"likelyhood\""},
      {{"decide", "-m", "{tiny}", "--head", "{f}/a.head", "--state", "x", "--end", "stop"},
       2,
       "--end and --labels go with"},
      {{"decide", "-m", "{tiny}", "--state", "x", "--ask", "?", "--noul", "--calibration",
        "{f}/a.head"},
       2,
       "--calibration goes with a trained head"},
      {{"decide", "-m", "{tiny}", "--head", "{f}/a.head", "--calibration", "{f}/train.csv",
        "--state", "x"},
       1,
       "--calibration"},
      {{"decide", "-m", "{tiny}", "--head", "{f}/a.head", "--state", "x", "--ask", "?", "--choice",
        "label 0"},
       1,
       "the head's 3 labels, found 1"},
  };
  for (const auto& c : cases) {
    const ProgramResult result = Run(c.arguments, c.exit_code);
    EXPECT_NE(result.errors.find(c.part), std::string::npos) << c.part << ": " << result.errors;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "x"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "c"));
}

}  // namespace
}  // namespace adjudge::testing
