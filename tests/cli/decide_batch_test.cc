// decide --in: every line has its answer, in order, and a run that ended early can be gone on with.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/testing/cli_case.h"

namespace adjudge::testing {
namespace {

using nlohmann::json;

std::string Line(int i) {
  return R"({"state":"lamp )" + std::to_string(i) + R"(","questions":{"q)" + std::to_string(i % 3) +
         R"(":{"type":"choice","instructions":"?","criteria":{"a":null,"b":null}}}})" + "\n";
}

std::string Lines(int n) {
  std::string lines;
  for (int i = 0; i < n; ++i) {
    if (i == 4) {
      lines += "junk\n";
    } else if (i == 7) {
      lines += "\n";
    } else {
      lines += Line(i);
    }
  }
  return lines;
}

// Each line without what a run measures.
std::vector<json> Answers(const std::string& text) {
  std::vector<json> answers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    answers.push_back(json::parse(line));
    answers.back().erase("x_cost");
  }
  return answers;
}

class DecideBatch : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "adjudge_batch_" + std::to_string(getpid()) + "_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
    return Path(name);
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(Path(name), std::ios::binary).rdbuf();
    return text.str();
  }
  static ProgramResult Decide(std::vector<std::string> arguments, const std::string& input = "") {
    ProgramRun run{.command = {AdjudgePath(), "decide", "-m", TinyModel()}, .input = input};
    run.command.insert(run.command.end(), arguments.begin(), arguments.end());
    return RunProgram(run);
  }

 private:
  std::string folder_;
};

TEST_F(DecideBatch, AnswersInOrderAndBadLinesSayWhere) {
  const std::string in = Write("in", Lines(150));
  const ProgramResult result = Decide({"--in", in, "--out", "-"});
  EXPECT_EQ(result.exit_code, 1) << "two lines are bad";
  EXPECT_NE(result.errors.find("2 of 150 lines are bad"), std::string::npos) << result.errors;
  const std::vector<json> answers = Answers(result.output);
  ASSERT_EQ(answers.size(), 150U);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i == 4 || i == 7) {
      EXPECT_EQ(answers[i]["line"], i + 1);
      EXPECT_EQ(answers[i]["error"]["code"], "malformed");
    } else {
      EXPECT_TRUE(answers[i]["answers"].contains("q" + std::to_string(i % 3)));
    }
  }
  // The very answer of the request alone.
  const ProgramResult alone = Decide({"-", "--json"}, Line(100));
  EXPECT_EQ(Answers(alone.output)[0], answers[100]);
  const ProgramResult strict = Decide({"--in", "-", "--out", "-", "--strict"}, Line(100));
  EXPECT_EQ(strict.exit_code, 0) << strict.errors;
  EXPECT_EQ(strict.output.find("x_"), std::string::npos);
}

TEST_F(DecideBatch, ResumesWhereverTheFileWasCut) {
  const std::string in = Write("in", Lines(20));
  Decide({"--in", in, "--out", Path("whole")});
  const std::string whole = Read("whole");
  const std::vector<json> expected = Answers(whole);
  ASSERT_EQ(expected.size(), 20U);
  // Nothing, half a line, a whole line, an error's line, all but the last newline, everything.
  const std::size_t first = whole.find('\n') + 1;
  const std::size_t error = whole.find('\n', whole.find("\"line\":5")) + 1;
  for (const std::size_t cut :
       {std::size_t{0}, std::size_t{9}, first, first + 3, error, whole.size() - 1, whole.size()}) {
    const std::string out = Write("out", whole.substr(0, cut));
    const ProgramResult result = Decide({"--in", in, "--out", out, "--resume"});
    EXPECT_LE(result.exit_code, 1) << result.errors;
    EXPECT_EQ(Answers(Read("out")), expected) << "cut at " << cut;
  }
}

TEST_F(DecideBatch, RefusesWhatWouldLoseOrMixAnswers) {
  const std::string in = Write("in", Line(0) + Line(1));
  const std::string full = Write("full", "{}\n");
  const std::string other = Write("other", R"({"model":"m","answers":{"q0":{}}})"
                                           "\n");
  const std::string tiny = std::filesystem::path(TinyModel()).stem().string();
  const std::string ids = Write("ids", R"({"model":")" + tiny + R"(","answers":{"q9":{}}})" + "\n");
  const std::string more = Write("more", "{}\n{}\n{}\n");
  const struct {
    std::vector<std::string> arguments;
    const char* words;
  } rows[] = {
      {{"--in", in, "--out", full}, "not empty; --resume"},
      {{"--in", in, "--out", full, "--resume"}, "no answer of this program"},
      {{"--in", in, "--out", other, "--resume"}, "was written with the model"},
      {{"--in", in, "--out", ids, "--resume"}, "does not answer the questions"},
      {{"--in", in, "--out", more, "--resume"}, "has 3 lines, the input only 2"},
      {{"--in", in, "--out", in, "--resume"}, "the same file"},
      {{"--in", in, "--out", "-", "--resume"}, "--resume needs a file"},
      {{"--in", in, "--out", "/dev/null", "--resume"}, "not a regular file"},
      {{"--in", in}, "both --in and --out"},
      {{"--in", in, "--out", "-", "--ask", "a"}, "takes the place of"},
  };
  for (const auto& row : rows) {
    const std::string before = Read("full") + Read("other") + Read("ids") + Read("more");
    const ProgramResult result = Decide(row.arguments);
    EXPECT_EQ(result.exit_code, 2) << row.words;
    EXPECT_NE(result.errors.find(row.words), std::string::npos) << result.errors;
    EXPECT_EQ(Read("full") + Read("other") + Read("ids") + Read("more"), before) << row.words;
  }
  EXPECT_EQ(Decide({"--in", Path("none"), "--out", Path("new")}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(Path("new"))) << "nothing is made for no input";
}

TEST_F(DecideBatch, PriorsAreFittedAndThenDividedBy) {
  const std::string in = Write("in", Lines(12));
  const ProgramResult fitted = Decide(
      {"--in", in, "--out", Path("out"), "--debias", "cyclic", "--fit-priors", Path("priors")});
  EXPECT_EQ(fitted.exit_code, 1) << "the bad lines";
  const json priors = json::parse(Read("priors"));
  EXPECT_EQ(priors["items"]["2"], 10);
  double first = 0;
  for (const json& answer : Answers(Read("out"))) {
    if (!answer.contains("answers")) continue;
    const std::string id = answer["answers"].begin().key();
    first += answer["x_answers"][id]["position_prior"][0].get<double>() / 10;
  }
  EXPECT_NEAR(priors["priors"]["2"][0].get<double>(), first, 1e-12);
  const ProgramResult divided =
      Decide({"-", "--json", "--debias", "pride", "--priors", Path("priors")}, Line(0));
  EXPECT_EQ(divided.exit_code, 0) << divided.errors;
  EXPECT_NE(divided.output.find(R"("debias":"pride")"), std::string::npos);

  const std::string model = priors["model"];
  const std::pair<std::string, const char*> bad[] = {
      {R"({"model":"m","priors":{"2":[0.5,0.5]}})", "made with the model"},
      {R"({"model":")" + model + R"(","priors":{"2":[0.5,0.6]}})", "sum to 1"},
      {R"({"model":")" + model + R"(","priors":{"3":[0.5,0.5]}})", "sum to 1"},
      {R"({"model":")" + model + R"(","priors":{"2":[0,1]}})", "above 0"},
      {R"({"model":")" + model + R"(","priors":{"3":[0.5,0.25,0.25]}})", "hold none for 2"},
      {"junk", "JSON"},
  };
  for (const auto& [text, words] : bad) {
    const std::string path = Write("bad", text);
    const ProgramResult result =
        Decide({"-", "--json", "--debias", "pride", "--priors", path}, Line(0));
    EXPECT_EQ(result.exit_code, 1) << text;
    EXPECT_NE(result.errors.find(words), std::string::npos) << result.errors;
  }
}

TEST_F(DecideBatch, FullDiskIsTold) {
  const std::string in = Write("in", Lines(10));
  const ProgramResult result = Decide({"--in", in, "--out", "/dev/full"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("No space left on device; 0 lines are whole"), std::string::npos)
      << result.errors;
}

TEST_F(DecideBatch, AnswersEachLineAsItComesAndKeepsThemWhenCancelled) {
  ProgramRun run;
  run.command = {AdjudgePath(), "decide", "-m", TinyModel(), "--in", "-", "--out", "-"};
  run.input = Line(0) + "{}\n" + "half a line";
  run.interrupt_when_waiting = true;
  run.interrupt_after_bytes = 1;
  const ProgramResult result = RunProgram(run);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(Answers(result.output).size(), 2U) << result.output;
  EXPECT_NE(result.errors.find("cancelled after 2 lines"), std::string::npos) << result.errors;
}

}  // namespace
}  // namespace adjudge::testing
