// chat: turns on one kept sequence.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "cli/chat_window.h"
#include "cli/interrupt.h"
#include "cli/json_output.h"
#include "cli/line_input.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/sampling_options.h"
#include "cli/verb.h"
#include "cli/words.h"
#include "engine/base/utf8.h"
#include "engine/generate.h"
#include "engine/prompt.h"

namespace adjudge::cli {
namespace {

struct Arguments {
  ModelArguments model;
  SamplingArguments sampling;
  std::string system;
  std::string overflow = "refuse";
  int window = 0;
  bool lossy = false;
  bool json = false;
};

// "/help" is a command, "/usr/bin" and "/ what" are not.
bool LooksLikeACommand(const std::string& line) {
  const std::string word = line.substr(0, line.find(' '));
  return word.size() > 1 && word[0] == '/' &&
         std::all_of(word.begin() + 1, word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// One conversation: what was said, and the sequence that has computed it.
class Chat {
 public:
  Chat(const Arguments& arguments, const LoadedModel& loaded, ChatTemplate chat_template,
       GenerateOptions options, ChatWindow window, Sequence sequence)
      : arguments_(arguments),
        loaded_(loaded),
        template_(std::move(chat_template)),
        options_(std::move(options)),
        window_(window),
        sequence_(std::move(sequence)) {}

  // Reads lines until the end; the exit code.
  Outcome<int> Talk();

 private:
  Outcome<bool> Answer(const std::string& question);
  void Tell(const ChatTurn& turn, const GenerateResult& result);
  void TellRefusal(const Error& error);
  void Reset();

  const Arguments& arguments_;
  const LoadedModel& loaded_;
  ChatTemplate template_;
  GenerateOptions options_;
  ChatWindow window_;
  Sequence sequence_;
  std::vector<ChatMessage> history_;
  bool load_told_ = false;
  Interrupt interrupt_;
  Output output_;
};

Json BudgetJson(const ChatBudget& budget) {
  return {{"system", budget.system},
          {"history", budget.history},
          {"question", budget.question},
          {"room", budget.room}};
}

void Chat::Tell(const ChatTurn& turn, const GenerateResult& result) {
  ChatBudget left = turn.budget;
  const int made = static_cast<int>(result.token_ids.size());
  left.room = std::max(0, left.room - made);
  if (arguments_.json) {
    output_.Write(Dump({{"text", result.text},
                        {"token_ids", result.token_ids},
                        {"finish_reason", ToString(result.finish_reason)},
                        {"model", loaded_.name()},
                        {"seed", options_.sampler.seed},
                        {"dropped_messages", turn.dropped},
                        {"budget", BudgetJson(left)},
                        {"usage", ToJson(result.usage)},
                        {"timings_ms", ToJson(result.timings)}}));
    output_.Flush();
  } else {
    output_.Write("\n");
    output_.Flush();
  }
  if (arguments_.model.quiet) return;
  const ChatBudget& budget = left;
  Say("[" + FinishWords(result) + "; prompt " + std::to_string(result.usage.prompt_tokens) +
      ": reused " + std::to_string(result.usage.cached_tokens) + ", computed " +
      std::to_string(result.usage.prompt_tokens - result.usage.cached_tokens) + "; window " +
      std::to_string(window_.tokens) + ": system " + std::to_string(budget.system) + ", history " +
      std::to_string(budget.history) + ", question " + std::to_string(budget.question) +
      ", answer " + std::to_string(made) + ", room left " + std::to_string(budget.room) + "; " +
      Fixed(result.timings.prefill_ms + result.timings.decode_ms, 0) + " ms]");
}

void Chat::TellRefusal(const Error& error) {
  if (!arguments_.json) return;
  output_.Write(Dump({{"error", {{"code", ToString(error.code)}, {"message", ToString(error)}}}}));
  output_.Flush();
}

// False when the turn was refused.
Outcome<bool> Chat::Answer(const std::string& question) {
  EncodeOptions encode;
  encode.lossy = arguments_.lossy;
  Result<ChatTurn> turn = PlanTurn(*loaded_.tokenizer, template_, arguments_.system, history_,
                                   question, window_, encode);
  if (!turn) {
    Say("adjudge chat: refused: " + ToString(turn.error()));
    TellRefusal(turn.error());
    return false;
  }
  if (turn->dropped > 0) {
    Say("[drop-oldest: " + std::to_string(turn->dropped) + " oldest messages dropped to fit]");
    history_.erase(history_.begin(), history_.begin() + turn->dropped);
  }
  GenerateOptions options = options_;
  options.max_tokens = std::min(options.max_tokens, turn->budget.room);
  options.cancel = interrupt_.flag();
  if (!arguments_.json) {
    options.on_text = [this](std::string_view text) {
      return output_.WriteText(text) && output_.Flush();
    };
  }
  Result<GenerateResult> made =
      Generate(*loaded_.model, *loaded_.tokenizer, sequence_, turn->ids, options);
  if (!made) {
    TellRefusal(made.error());
    return tl::unexpected<Failure>(WorkFailure(loaded_, made.error()));
  }
  GenerateResult result = *std::move(made);
  // The load is the first turn's.
  if (!std::exchange(load_told_, true)) result.timings.load_ms = loaded_.load_ms;
  Tell(*turn, result);
  history_.push_back({"user", question});
  history_.push_back({"assistant", result.text});
  return true;
}

void Chat::Reset() {
  history_.clear();
  if (!arguments_.model.quiet) Say("[forgotten: the next message begins a new chat]");
}

Outcome<int> Chat::Talk() {
  CLI_ASSIGN_OR_RETURN(const std::unique_ptr<LineInput> input, LineInput::Open("-"));
  const bool prompts = isatty(STDIN_FILENO) == 1 && StderrIsTerminal();
  if (prompts) Say("/reset begins anew, /quit ends; Ctrl-C stops an answer");
  int code = kOk;
  while (true) {
    interrupt_.Clear();
    if (prompts) fputs("> ", stderr);
    const std::optional<LineInput::Line> given = input->Next(interrupt_);
    if (!given && interrupt_.raised()) {
      Say("adjudge chat: cancelled");
      code = kFailed;
    }
    if (!given || given->text == "/quit") break;
    if (given->too_long) {
      Say("adjudge chat: refused: a message longer than the limit of " +
          std::to_string(LineInput::kMaxLineBytes) + " bytes");
      code = kFailed;
      continue;
    }
    const std::string line = arguments_.lossy ? RepairUtf8(given->text) : given->text;
    if (line.empty()) continue;
    if (line == "/reset") {
      Reset();
      continue;
    }
    if (LooksLikeACommand(line)) {
      Say("adjudge chat: no command " + Printable(line.substr(0, line.find(' '))) +
          "; there are /reset and /quit (a blank in front sends the line as a message)");
      code = kFailed;
      continue;
    }
    const Outcome<bool> answered = Answer(line);
    if (!answered) Say("adjudge chat: " + answered.error().message);
    if (!answered) {
      code = answered.error().exit_code;
    } else if (!*answered) {
      code = std::max<int>(code, kFailed);
    }
    if (!output_.Flush()) break;
  }
  if (input->error() != 0) {
    Say(std::string("adjudge chat: standard input: cannot read: ") + std::strerror(input->error()));
    code = kFailed;
  }
  if (prompts) Say("");
  return output_.Finish(code);
}

Outcome<int> Run(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(arguments.model));
  CLI_ASSIGN_OR_RETURN(ChatTemplate parsed_template, LoadTemplate(loaded, "use generate --prompt"));
  CLI_ASSIGN_OR_RETURN(GenerateOptions options,
                       ToGenerateOptions(arguments.sampling, loaded.tokenizer->vocabulary()));
  const int context = loaded.model->config().context_length;
  ChatWindow window;
  window.tokens = arguments.window > 0 ? arguments.window : context;
  if (window.tokens > context) {
    return UsageFailure("--window: the model's window has " + std::to_string(context) +
                        " tokens, found " + std::to_string(window.tokens));
  }
  window.reserve = std::min(options.max_tokens, std::max(1, window.tokens / 4));
  if (arguments.overflow == "drop-oldest") window.overflow = Overflow::kDropOldest;
  CLI_ASSIGN_OR_RETURN(const std::shared_ptr<KvCache> cache, loaded.model->NewCache());
  if (!arguments.model.quiet && options.sampler.temperature > 0) {
    Say("seed " + std::to_string(options.sampler.seed));
  }
  Chat chat(arguments, loaded, std::move(parsed_template), std::move(options), window,
            cache->NewSequence());
  return chat.Talk();
}

}  // namespace

void AddChat(CLI::App& app, Program& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("chat", "Talk in turns; each line of input is a message");
  AddModelOptions(*verb, arguments->model);
  AddSamplingOptions(*verb, arguments->sampling);
  verb->add_option("--system", arguments->system, "system message")->type_name("TEXT");
  verb->add_option("--on-overflow", arguments->overflow,
                   "when the history outgrows the window: refuse, or drop-oldest")
      ->check(CLI::IsMember({"refuse", "drop-oldest"}))
      ->type_name("POLICY")
      ->capture_default_str();
  verb->add_option("--window", arguments->window, "tokens to use of the model's window; 0 = all")
      ->transform(WholeNumber(0, 1 << 30))
      ->type_name("N");
  verb->add_flag("--lossy", arguments->lossy,
                 "U+FFFD for bytes that are not UTF-8, instead of an error");
  verb->add_flag("--json", arguments->json, "one JSON object a turn");
  verb->footer(
      "/reset begins a new chat, /quit ends; other /words are refused. Ctrl-C stops the answer "
      "being written (what there is "
      "stays\nin the history), and ends the program at the prompt (exit code 1). After each turn "
      "standard error "
      "tells the tokens\nreused and computed and what the window holds. A turn fits when the "
      "prompt leaves room for\n--max-tokens, or for a quarter of the window where that is less. "
      "Exit code 1 if any turn was\nrefused.\n\n"
      "Example:\n"
      "  adjudge chat --system \"Answer in one sentence.\" --on-overflow drop-oldest");
  verb->callback([arguments, &program] { program.run = [arguments] { return Run(*arguments); }; });
}

}  // namespace adjudge::cli
