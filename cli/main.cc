// The `adjudge` program: reads the command line and runs one verb.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/suggest.h"
#include "cli/verb.h"
#include "engine/base/utf8.h"

namespace adjudge::cli {
namespace {

constexpr const char* kAbout =
    "Answers fixed-choice questions with a language model in one forward pass, and writes text on "
    "the same weights.";
constexpr const char* kFooter =
    "Example:\n"
    "  adjudge decide --state \"Order 1142: the lamp's shade cracked on day two.\" \\\n"
    "    --ask \"What does the buyer want?\" --choice refund --choice exchange --choice nothing\n"
    "\n"
    "Results go to standard output, words to standard error.\n"
    "Exit codes: 0 done, 1 failed, 2 the command line is wrong, 3 the model's file is missing or "
    "refused.";

// What ends with "adjudge: " and these words.
int Refuse(const std::string& verb, const std::string& words, int code) {
  Say("adjudge" + (verb.empty() ? "" : " " + verb) + ": " + Printable(words, KeepLines::kYes));
  return code;
}

// The value of an option that names a file, which may be any bytes.
bool IsPath(const std::vector<std::string>& arguments, std::size_t i) {
  constexpr std::string_view kPaths[] = {
      "--model", "--tokenizer", "--messages", "--questions",   "--train", "--test",    "--data",
      "--out",   "--head",      "--cache",    "--calibration", "--in",    "--grammar", "--vocab"};
  const std::string_view before = i == 0 ? std::string_view() : arguments[i - 1];
  if (before == "-m") return true;
  return std::any_of(std::begin(kPaths), std::end(kPaths), [&](std::string_view name) {
    return before == name || arguments[i].starts_with(std::string(name) + "=");
  });
}

// Arguments are text, so they must be UTF-8: where they are not, says which and where, or under
// --lossy repairs them.
std::string FaultInArguments(std::vector<std::string>& arguments) {
  const bool lossy = std::find(arguments.begin(), arguments.end(), "--lossy") != arguments.end();
  if (lossy) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!IsPath(arguments, i)) arguments[i] = RepairUtf8(arguments[i]);
    }
    return {};
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::size_t bad = FirstInvalidUtf8(arguments[i]);
    if (bad == std::string::npos) continue;
    if (IsPath(arguments, i)) continue;
    const std::string_view before = i == 0 ? std::string_view() : arguments[i - 1];
    return "argument " + std::to_string(i + 1) + ": not UTF-8 at byte " + std::to_string(bad) +
           (before.starts_with("--") ? " (after " + Printable(before) + ")" : "");
  }
  return {};
}

std::vector<std::string> VerbNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands(nullptr)) names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The words for a command line that CLI11 refused.
int ExplainParseError(const CLI::App& app, const std::vector<std::string>& arguments,
                      const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App* verb = chosen.empty() ? nullptr : chosen.front();
  const std::string name = verb != nullptr ? verb->get_name() : "";
  if (verb == nullptr && !arguments.empty() && !arguments[0].starts_with("-")) {
    return Refuse(name,
                  "no verb \"" + Printable(arguments[0]) + "\"" +
                      Suggestion(arguments[0], VerbNames(app)) + " (see adjudge --help)",
                  kUsage);
  }
  if (verb == nullptr && !arguments.empty() && arguments[0] != "--help") {
    return Refuse(name, "expected a verb, found " + arguments[0] + " (see adjudge --help)", kUsage);
  }
  std::string words = Printable(error.what());
  if (verb != nullptr) {
    for (const std::string& extra : verb->remaining()) {
      if (extra.starts_with("--")) words += Suggestion(extra, OptionNames(*verb));
    }
  }
  return Refuse(name, words + " (see adjudge " + (name.empty() ? "" : name + " ") + "--help)",
                kUsage);
}

// An option whose value is empty, which in a script is a variable that is not set and must not mean
// a default. Texts may be empty.
std::string EmptyValue(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_type_name() == "TEXT" || option->count() == 0) continue;
    for (const std::string& value : option->results()) {
      if (value.empty() && option->get_expected_min() > 0) {
        return option->get_name(option->get_lnames().empty()) +
               ": expected a value, found an empty one";
      }
    }
  }
  return {};
}

int Run(std::vector<std::string> arguments) {
  CLI::App app(kAbout, "adjudge");
  Program program;
  app.require_subcommand(1);
  app.footer(kFooter);
  app.set_version_flag("--version", "adjudge " ADJUDGE_VERSION);
  AddDecide(app, program);
  AddExplain(app, program);
  AddGenerate(app, program);
  AddCompare(app, program);
  AddTrainHead(app, program);
  AddTestHead(app, program);
  AddCalibrate(app, program);
  AddTrace(app, program);
  AddScore(app, program);
  AddChat(app, program);
  AddTokenize(app, program);
  AddInspect(app, program);
  AddBench(app, program);
  AddGrammar(app, program);
  AddConstraint(app, program);

  if (const std::string fault = FaultInArguments(arguments); !fault.empty()) {
    return Refuse("", fault, kUsage);
  }
  Output output;
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    output.Write(app.help());
    return output.Finish();
  } catch (const CLI::CallForVersion& version) {
    output.Write(std::string(version.what()) + "\n");
    return output.Finish();
  } catch (const CLI::ParseError& error) {
    if (arguments.empty()) {
      SayLines(app.help());
      return kUsage;
    }
    return ExplainParseError(app, arguments, error);
  }
  const std::string verb = app.get_subcommands().front()->get_name();
  if (const std::string fault = EmptyValue(*app.get_subcommands().front()); !fault.empty()) {
    return Refuse(verb, fault, kUsage);
  }
  Outcome<int> outcome = program.run();
  if (outcome) return *outcome;
  return Refuse(verb, outcome.error().message, output.Finish(outcome.error().exit_code));
}

}  // namespace
}  // namespace adjudge::cli

int main(int argc, char** argv) {
  // Whoever started us may have ignored it; a reader that goes away ends the program.
  std::signal(SIGPIPE, SIG_DFL);
  adjudge::cli::Interrupt::EndAtOnce();
  try {
    return adjudge::cli::Run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::bad_alloc&) {
    adjudge::cli::Say("adjudge: out of memory");
  } catch (const std::exception& error) {
    adjudge::cli::Say(std::string("adjudge: ") + error.what());
  }
  return adjudge::cli::kFailed;
}
