// compare: the same questions by one pass and by N decoding steps.
#include "eval/compare.h"

#include <memory>

#include "cli/interrupt.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/text_input.h"
#include "cli/verb.h"

namespace adjudge::cli {
namespace {

struct Arguments {
  ModelArguments model;
  std::string questions;
  int steps = 30;
  bool all_steps = false;
  int limit = 0;
  std::string prompt_style = "auto";
  std::string labels = "auto";
  bool json = false;
};

// A CSV file by its name; anything else is JSON lines.
Outcome<std::vector<ExamItem>> ReadItems(const std::string& path) {
  if (path.empty()) return SampleQuestions();
  CLI_ASSIGN_OR_RETURN(const std::string text, ReadFileOrInput(path, ExamLimits().max_bytes));
  if (const std::string fault = Utf8Fault(text); !fault.empty()) {
    return tl::unexpected<Failure>(
        Failure(kFailed, (path == "-" ? "standard input" : path) + ": " + fault));
  }
  const std::filesystem::path file(path);
  const bool csv = file.extension() == ".csv";
  CLI_ASSIGN_OR_RETURN(
      std::vector<ExamItem> items,
      OrExit(csv ? ReadMmluCsv(text, file.stem().string() + "-") : ReadExamJsonl(text), kFailed,
             path == "-" ? "standard input" : path));
  if (items.empty()) return tl::unexpected<Failure>(Failure(kFailed, path + ": no questions"));
  return items;
}

Outcome<int> Run(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(std::vector<ExamItem> items, ReadItems(arguments.questions));
  if (arguments.limit > 0 && items.size() > static_cast<std::size_t>(arguments.limit)) {
    items.resize(static_cast<std::size_t>(arguments.limit));
  }
  CompareOptions options;
  options.steps = arguments.steps;
  options.run_all_steps = arguments.all_steps;
  CLI_ASSIGN_OR_RETURN(options.prompt, OrExit(ParsePromptStyle(arguments.prompt_style), kUsage));
  CLI_ASSIGN_OR_RETURN(options.labels, OrExit(ParseLabelStyle(arguments.labels), kUsage));
  CLI_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(arguments.model));
  if (options.prompt != PromptStyle::kPlain && loaded.tokenizer->chat_template()) {
    CLI_RETURN_IF_ERROR(LoadTemplate(loaded, "use --prompt-style plain"));
  }
  const Interrupt interrupt;
  options.cancel = interrupt.flag();
  Result<CompareResult> result;
  {
    Progress progress("compare", static_cast<std::int64_t>(items.size()), arguments.model.quiet,
                      std::chrono::seconds(0));
    options.on_progress = [&progress](std::size_t done, std::size_t) {
      progress.Update(static_cast<std::int64_t>(done));
    };
    result = Compare(loaded.model, loaded.tokenizer, items, options);
  }
  if (!result) return tl::unexpected<Failure>(WorkFailure(loaded, result.error()));
  const CompareResult compared = *std::move(result);
  Output output;
  output.Write(arguments.json ? CompareJson(compared) + "\n" : CompareTable(compared));
  output.Flush();
  if (compared.cancelled) {
    Say("adjudge compare: cancelled after " + std::to_string(compared.rows.size()) + " of " +
        std::to_string(items.size()) + " questions");
  }
  if (compared.refused > 0) {
    Say("adjudge compare: " + std::to_string(compared.refused) + " of " +
        std::to_string(compared.rows.size()) + " questions were refused");
  }
  return output.Finish(compared.cancelled || compared.refused > 0 ? kFailed : kOk);
}

}  // namespace

void AddCompare(CLI::App& app, Program& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("compare", "Answer the same questions by one pass and by decoding");
  AddModelOptions(*verb, arguments->model);
  verb->add_option("--questions", arguments->questions,
                   "JSON lines as ARC has them, or MMLU's .csv; - is standard input (JSON lines); "
                   "otherwise ten built-in questions")
      ->type_name("FILE");
  verb->add_option("--steps", arguments->steps, "most tokens that decoding may take")
      ->transform(WholeNumber(1, 1 << 20))
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--all-steps", arguments->all_steps,
                 "decode on past the answer's end, so that every question takes them all");
  verb->add_option("--limit", arguments->limit, "only the first N questions; 0 = all")
      ->transform(WholeNumber(0, 1 << 30))
      ->type_name("N");
  verb->add_option("--labels", arguments->labels, "what options are called in the prompt")
      ->check(CLI::IsMember({"auto", "letters", "numbers", "words"}))
      ->type_name("NAME")
      ->capture_default_str();
  verb->add_option("--prompt-style", arguments->prompt_style,
                   "chat (the model's template), plain, or auto")
      ->check(CLI::IsMember({"auto", "chat", "plain"}))
      ->type_name("NAME")
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "one JSON object");
  verb->footer(
      "Both arms read the same prompt. Each item shows right or wrong where the file has a key, "
      "invalid\nwhere the decoded text names no option, and the steps really taken. Exit code 1 if "
      "any "
      "question\nwas refused.\n\n"
      "Examples:\n"
      "  adjudge compare --steps 30\n"
      "  adjudge compare --questions ARC-Challenge-Dev.jsonl --limit 50 --json");
  verb->callback([arguments, &program] { program.run = [arguments] { return Run(*arguments); }; });
}

}  // namespace adjudge::cli
