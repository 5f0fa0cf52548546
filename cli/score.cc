// score: log-likelihood of given continuations after given contexts, JSON lines in and out.
#include "engine/score.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "cli/interrupt.h"
#include "cli/json_output.h"
#include "cli/line_input.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/progress.h"
#include "cli/text_input.h"
#include "cli/verb.h"
#include "cli/words.h"
#include "engine/json_check.h"

namespace adjudge::cli {
namespace {

constexpr std::size_t kBatchLines = 64;

struct Arguments {
  ModelArguments model;
  std::string file;
  bool special = false;
  bool lossy = false;
  bool json = true;
};

Result<std::string> TextAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) {
    return Fail(ErrorCode::kMalformed, std::string("expected a string \"") + key + "\", found " +
                                           (found == object.end() ? "none" : found->type_name()));
  }
  return found->get<std::string>();
}

Result<ScoreRequest> ParseLine(std::string_view line, bool lossy) {
  std::string repaired;
  if (lossy) {
    repaired = RepairJson(line);
    line = repaired;
  } else if (const std::string fault = Utf8Fault(line); !fault.empty()) {
    return Fail(ErrorCode::kMalformed, fault);
  }
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
    return Fail(ErrorCode::kMalformed, "a blank line");
  }
  ADJUDGE_RETURN_IF_ERROR(CheckJson(line));
  const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return Fail(
        ErrorCode::kMalformed,
        std::string("expected {\"context\", \"continuation\"}, found ") + object.type_name());
  }
  ScoreRequest request;
  ADJUDGE_ASSIGN_OR_RETURN(request.context, TextAt(object, "context"));
  ADJUDGE_ASSIGN_OR_RETURN(request.continuation, TextAt(object, "continuation"));
  return request;
}

// One line of the input on its way to one line of the output.
struct Item {
  std::size_t number = 0;
  Result<ScoreTokens> tokens;
  ScoreResult result;
};

Result<ScoreRequest> ParseLine(const LineInput::Line& line, bool lossy) {
  if (!line.too_long) return ParseLine(std::string_view(line.text), lossy);
  return Fail(ErrorCode::kLimit, "a line longer than the limit of " +
                                     std::to_string(LineInput::kMaxLineBytes) + " bytes");
}

Item MakeItem(std::size_t number, const LineInput::Line& line, const Tokenizer& tokenizer,
              const ScoreOptions& options) {
  Item item = {number, ScoreTokens{}, {}};
  Result<ScoreRequest> request = ParseLine(line, options.lossy);
  if (request) {
    item.tokens = TokenizeScore(tokenizer, *request, options);
  } else {
    item.tokens = tl::unexpected<Error>(std::move(request).error());
  }
  return item;
}

class Scorer {
 public:
  Scorer(const LoadedModel& loaded, const ScoreOptions& options)
      : loaded_(loaded), options_(options) {}

  // Fills in the results of the items that have tokens. A batch that is refused is gone through one
  // by one, so that a line that cannot be scored spoils no other.
  void Score(std::span<Item> items) {
    std::vector<Item*> good;
    std::vector<ScoreTokens> tokens;
    for (Item& item : items) {
      if (!item.tokens) continue;
      good.push_back(&item);
      tokens.push_back(*item.tokens);
    }
    if (good.empty()) return;
    Result<ScoreOutput> output =
        ScoreIds(*loaded_.model, loaded_.tokenizer->vocabulary(), tokens, options_);
    if (output) {
      Add(*output);
      for (std::size_t i = 0; i < good.size(); ++i) good[i]->result = output->results[i];
    } else if (items.size() == 1) {
      Error error = std::move(output).error();
      // A place among the requests of a batch says nothing here.
      error.place.erase(0, std::min(error.place.find('/'), error.place.size()));
      items[0].tokens = tl::unexpected<Error>(std::move(error));
    } else {
      for (Item& item : items) Score(std::span(&item, 1));
    }
  }

  const Usage& usage() const { return usage_; }
  const Timings& timings() const { return timings_; }

 private:
  void Add(const ScoreOutput& output) {
    usage_.prompt_tokens += output.usage.prompt_tokens;
    usage_.cached_tokens += output.usage.cached_tokens;
    usage_.forward_passes += output.usage.forward_passes;
    timings_.prefill_ms += output.timings.prefill_ms;
  }

  const LoadedModel& loaded_;
  const ScoreOptions& options_;
  Usage usage_;
  Timings timings_;
};

Json ToJson(const Item& item) {
  if (!item.tokens) return LineErrorJson(item.number, item.tokens.error());
  return {{"logprob", item.result.logprob},
          {"token_logprobs", item.result.token_logprobs},
          {"token_ids", item.result.token_ids},
          {"is_greedy", item.result.is_greedy}};
}

// Up to kBatchLines lines: the next one, and those that are there without waiting.
std::vector<Item> NextItems(LineInput& input, const Interrupt& interrupt, std::size_t done,
                            const Tokenizer& tokenizer, const ScoreOptions& options) {
  std::vector<Item> items;
  while (items.empty() || (items.size() < kBatchLines && input.HasLine())) {
    const std::optional<LineInput::Line> line = input.Next(interrupt);
    if (!line) break;
    items.push_back(MakeItem(done + items.size() + 1, *line, tokenizer, options));
  }
  return items;
}

Outcome<int> Run(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const std::unique_ptr<LineInput> input, LineInput::Open(arguments.file));
  CLI_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(arguments.model));
  const Interrupt interrupt;
  ScoreOptions options;
  options.parse_special = arguments.special;
  options.lossy = arguments.lossy;
  options.cancel = interrupt.flag();
  Scorer scorer(loaded, options);
  Output output;
  std::size_t bad = 0;
  std::size_t done = 0;
  {
    Progress progress("score: bytes", input->file_bytes(),
                      arguments.model.quiet || input->file_bytes() == 0);
    while (true) {
      std::vector<Item> items = NextItems(*input, interrupt, done, *loaded.tokenizer, options);
      if (items.empty() || interrupt.raised()) break;
      scorer.Score(items);
      if (interrupt.raised()) break;
      for (const Item& item : items) {
        if (!item.tokens) ++bad;
        output.Write(Dump(ToJson(item)));
      }
      if (!output.Flush()) break;
      done += items.size();
      progress.Update(input->bytes_taken());
    }
  }
  Timings timings = scorer.timings();
  timings.load_ms = loaded.load_ms;
  const std::string lines = std::to_string(done) + " lines";
  if (bad > 0) Say("adjudge score: " + std::to_string(bad) + " of " + lines + " are bad");
  if (interrupt.raised()) Say("adjudge score: cancelled after " + lines);
  if (input->error() != 0) {
    Say("adjudge score: " + Printable(arguments.file) +
        ": cannot read: " + std::strerror(input->error()));
  }
  if (!arguments.model.quiet) Say(CostWords(scorer.usage(), timings));
  return output.Finish(bad > 0 || interrupt.raised() || input->error() != 0 ? kFailed : kOk);
}

}  // namespace

void AddScore(CLI::App& app, Program& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("score", "Give the log-likelihood of continuations after contexts");
  AddModelOptions(*verb, arguments->model);
  verb->add_option("file", arguments->file,
                   "lines of JSON {\"context\", \"continuation\"}; - is standard input")
      ->type_name("FILE")
      ->required();
  verb->add_flag("--json", arguments->json, "JSON lines out, which is the only form");
  verb->add_flag("--special", arguments->special, "read special tokens in the given text as such");
  verb->add_flag("--lossy", arguments->lossy,
                 "U+FFFD for bytes that are not UTF-8, instead of an error");
  verb->footer(
      "Each line gives {\"logprob\", \"token_logprobs\", \"token_ids\", \"is_greedy\"}; a bad one "
      "{\"line\", \"error\"}\nin its place (a blank line too), and exit code 1 at the end. An "
      "empty context is the BOS id where "
      "the\nfile wants one, else the end-of-sequence id.\n\n"
      "Example:\n"
      "  echo '{\"context\": \"The capital of France is\", \"continuation\": \" Paris\"}' | "
      "adjudge "
      "score -");
  verb->callback([arguments, &program] { program.run = [arguments] { return Run(*arguments); }; });
}

}  // namespace adjudge::cli
