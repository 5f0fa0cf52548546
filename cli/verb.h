// Verb: how one verb of the program is registered and run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/outcome.h"

namespace adjudge::cli {

// What the parsed command line asks for; set by the chosen verb's callback.
struct Program {
  std::function<Outcome<int>()> run;  // gives the exit code
};

// Each registers its verb, its options and an example.
void AddGenerate(CLI::App& app, Program& program);
void AddDecide(CLI::App& app, Program& program);
void AddExplain(CLI::App& app, Program& program);
void AddTrace(CLI::App& app, Program& program);
void AddScore(CLI::App& app, Program& program);
void AddTokenize(CLI::App& app, Program& program);
void AddInspect(CLI::App& app, Program& program);
void AddBench(CLI::App& app, Program& program);
void AddChat(CLI::App& app, Program& program);
void AddCompare(CLI::App& app, Program& program);
void AddTrainHead(CLI::App& app, Program& program);
void AddTestHead(CLI::App& app, Program& program);
void AddCalibrate(CLI::App& app, Program& program);
void AddGrammar(CLI::App& app, Program& program);
void AddConstraint(CLI::App& app, Program& program);

// The rule of every whole number on the command line: decimal digits (010 is ten, 0x10 is refused),
// from `least` to `most`.
CLI::Validator WholeNumber(int least, int most);
// The same from 0 to 2^64 - 1: a seed that is echoed must be the one given.
CLI::Validator SeedNumber();

// An option that may be given several times, one value each time. Every value is kept as it was
// given: "", "{}" and "[a,b]" too, which CLI11 would otherwise read as lists.
CLI::Option* AddRepeated(CLI::App& verb, const std::string& name, std::vector<std::string>& values,
                         const std::string& description);

}  // namespace adjudge::cli
