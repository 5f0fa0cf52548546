// trace: the token-by-token story of a generation.
#include <cmath>
#include <cstdio>
#include <memory>

#include "cli/generation.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/verb.h"
#include "cli/words.h"

namespace adjudge::cli {
namespace {

constexpr int kTokenWidth = 18;
constexpr int kBytesWidth = 24;
constexpr int kMaxAlternatives = 100;

struct Arguments {
  GenerationArguments generation;
  int top = 3;
  bool json = false;
};

// A token in one column: its text with nothing that a terminal obeys, blanks shown by the quotes.
std::string Quoted(const Vocabulary& vocabulary, TokenId id) {
  return "\"" + Printable(vocabulary.bytes(id)) + "\"";
}

std::string Row(const Vocabulary& vocabulary, int number, const GenerateStep& step) {
  char head[64];
  std::snprintf(head, sizeof head, "%4d  %7d  ", number, step.token);
  char middle[64];
  std::snprintf(middle, sizeof middle, "  %7.4f  %8.2f  ", std::exp(step.logprob), step.ms);
  std::string row = head + Column(Quoted(vocabulary, step.token), kTokenWidth) + "  " +
                    Column(Hex(vocabulary.bytes(step.token)), kBytesWidth) + middle;
  if (step.forced) row += "(forced) ";
  for (const auto& [id, logprob] : step.alternatives) {
    row += Quoted(vocabulary, id) + " " + Fixed(std::exp(logprob), 4) + "  ";
  }
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

std::string Header() {
  return "step       id  " + Column("token", kTokenWidth) + "  " + Column("bytes", kBytesWidth) +
         "        p        ms  best\n";
}

Json StepJson(const Vocabulary& vocabulary, int number, const GenerateStep& step) {
  Json alternatives = Json::array();
  for (const auto& [id, logprob] : step.alternatives) {
    alternatives.push_back({{"token", id},
                            {"piece", TextOrHex(vocabulary.bytes(id))},
                            {"probability", std::exp(logprob)}});
  }
  return {{"step", number},
          {"token", step.token},
          {"piece", TextOrHex(vocabulary.bytes(step.token))},
          {"hex", Hex(vocabulary.bytes(step.token))},
          {"probability", std::exp(step.logprob)},
          {"logprob", step.logprob},
          {"forced", step.forced},
          {"ms", step.ms},
          {"alternatives", std::move(alternatives)}};
}

Json StepsJson(const GenerateResult& result, const Vocabulary& vocabulary) {
  Json steps = Json::array();
  int number = 0;
  for (const GenerateStep& step : result.steps) {
    steps.push_back(StepJson(vocabulary, ++number, step));
  }
  return steps;
}

Outcome<int> Run(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const std::unique_ptr<Generation> generation,
                       Generation::Make(arguments.generation));
  const Vocabulary& vocabulary = generation->vocabulary();
  Output output;
  GenerateOptions& options = generation->options();
  options.n_alternatives = arguments.top;
  options.record_steps = true;
  int n_steps = 0;
  if (!arguments.json) {
    options.on_step = [&](const GenerateStep& step) {
      if (n_steps == 0) output.Write(Header());
      output.Write(Row(vocabulary, ++n_steps, step));
      output.Flush();
    };
  }
  CLI_ASSIGN_OR_RETURN(const GenerateResult result, generation->Run());
  if (arguments.json) {
    Json json = {{"steps", StepsJson(result, vocabulary)}};
    json.update(generation->ToJson(result));
    output.Write(Dump(json));
  }
  output.Flush();
  if (!arguments.json) generation->Tell(result);
  return output.Finish(generation->ExitCodeOf(result));
}

}  // namespace

void AddTrace(CLI::App& app, Program& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("trace", "Show a generation token by token");
  AddGenerationOptions(*verb, arguments->generation);
  verb->add_option("--top", arguments->top, "alternatives shown at each step")
      ->transform(WholeNumber(0, kMaxAlternatives))
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "one JSON object instead of a table");
  verb->footer(
      "Probabilities are the model's own: before temperature, penalties and choices. The first "
      "step's\nmilliseconds are the prompt's.\n\n"
      "Example:\n"
      "  adjudge trace --chat \"Name a prime number.\" --max-tokens 8");
  verb->callback([arguments, &program] { program.run = [arguments] { return Run(*arguments); }; });
}

}  // namespace adjudge::cli
