// grammar: checks and prints grammars.
#include <memory>

#include "cli/json_output.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/text_input.h"
#include "cli/verb.h"
#include "grammars/ebnf.h"

namespace adjudge::cli {
namespace {

struct Arguments {
  std::string file;
  bool json = false;
};

Outcome<Grammar> Read(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const std::string text, ReadFileOrInput(arguments.file));
  return OrExit(ParseGrammar(text), kFailed, arguments.file == "-" ? "" : arguments.file);
}

Outcome<int> Check(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const Grammar grammar, Read(arguments));
  const std::vector<std::string> unused = UnusedRules(grammar);
  Output output;
  if (arguments.json) {
    output.Write(Dump({{"root", grammar.rules()[0].name},
                       {"rules", grammar.rules().size()},
                       {"unused", unused}}));
  } else {
    output.Write(std::to_string(grammar.rules().size()) + " rules, root \"" +
                 Printable(grammar.rules()[0].name) + "\"\n");
    for (const std::string& name : unused) output.Write("unused: " + Printable(name) + "\n");
  }
  return output.Finish();
}

Outcome<int> Print(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const Grammar grammar, Read(arguments));
  Output output;
  output.WriteText(PrintGrammar(grammar));
  return output.Finish();
}

}  // namespace

void AddGrammar(CLI::App& app, Program& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("grammar", "Check a grammar, or print it in one spelling");
  verb->require_subcommand(1);
  CLI::App* check = verb->add_subcommand("check", "Find the first fault; count rules");
  CLI::App* print = verb->add_subcommand("print", "The same grammar as plain GBNF");
  for (CLI::App* sub : {check, print}) {
    sub->add_option("file", arguments->file, "a grammar in EBNF; - is standard input")
        ->required()
        ->type_name("FILE");
  }
  check->add_flag("--json", arguments->json, "{\"root\", \"rules\", \"unused\"}");
  verb->footer("Example:\n  adjudge grammar check grammars/files/json.ebnf");
  check->callback(
      [arguments, &program] { program.run = [arguments] { return Check(*arguments); }; });
  print->callback(
      [arguments, &program] { program.run = [arguments] { return Print(*arguments); }; });
}

}  // namespace adjudge::cli
