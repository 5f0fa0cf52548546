// generate: text that goes on from a prompt or answers a chat.
#include <memory>

#include "cli/generation.h"
#include "cli/output.h"
#include "cli/verb.h"

namespace adjudge::cli {
namespace {

struct Arguments {
  GenerationArguments generation;
  bool json = false;
};

Outcome<int> Run(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const std::unique_ptr<Generation> generation,
                       Generation::Make(arguments.generation));
  Output output;
  if (!arguments.json) {
    generation->options().on_text = [&output](std::string_view text) {
      return output.WriteText(text) && output.Flush();
    };
  }
  CLI_ASSIGN_OR_RETURN(const GenerateResult result, generation->Run());
  output.Write(arguments.json ? Dump(generation->ToJson(result)) : "\n");
  output.Flush();
  if (!arguments.json) generation->Tell(result);
  return output.Finish(generation->ExitCodeOf(result));
}

}  // namespace

void AddGenerate(CLI::App& app, Program& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("generate", "Write text after a prompt, or answer a chat");
  AddGenerationOptions(*verb, arguments->generation);
  verb->add_flag("--json", arguments->json, "one JSON object instead of streamed text");
  verb->footer(
      "Ctrl-C ends the text and keeps what there is (exit code 1, finish_reason cancelled).\n\n"
      "Examples:\n"
      "  adjudge generate --chat \"What is the capital of France?\"\n"
      "  adjudge generate --chat \"Is a whale a fish?\" --choice yes --choice no --json\n"
      "  adjudge generate --chat \"Describe a cat as JSON.\" --grammar grammars/files/json.ebnf\n"
      "  adjudge generate --chat \"When was 1066?\" --regex \"In the year [0-9]{1,4}\\.\"\n"
      "  adjudge generate --prompt - --max-tokens 40 --temperature 0.8 --seed 1 < story.txt");
  verb->callback([arguments, &program] { program.run = [arguments] { return Run(*arguments); }; });
}

}  // namespace adjudge::cli
