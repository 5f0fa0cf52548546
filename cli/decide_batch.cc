#include "cli/decide_batch.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "cli/interrupt.h"
#include "cli/json_output.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/prior_file.h"
#include "cli/progress.h"
#include "cli/text_input.h"
#include "cli/words.h"
#include "engine/json_check.h"
#include "heads/system_one.h"

namespace adjudge::cli {
namespace {

// What is read ahead of the passes.
constexpr std::size_t kMaxLines = 64;
constexpr std::size_t kMaxBytes = std::size_t{4} << 20;

Result<DecisionRequest> ParseLine(const LineInput::Line& line, bool lossy) {
  if (line.too_long) {
    return Fail(ErrorCode::kLimit, "a line longer than the limit of " +
                                       std::to_string(LineInput::kMaxLineBytes) + " bytes");
  }
  if (line.text.find_first_not_of(" \t\r") == std::string::npos) {
    return Fail(ErrorCode::kMalformed, "a blank line");
  }
  ADJUDGE_ASSIGN_OR_RETURN(SystemOneRequest request,
                           ParseSystemOneRequest(lossy ? RepairJson(line.text) : line.text));
  return DecisionRequest{.state = std::move(request.state),
                         .questions = std::move(request.questions)};
}

// One line of the input on its way to one line of the output.
struct Item {
  std::size_t number = 0;
  std::optional<Error> error;
  std::size_t request = 0;  // its place among the good ones
};

class Batch {
 public:
  Batch(BatchFiles files, const BatchStyle& style, const DecisionHead& head,
        const LoadedModel& loaded, DecisionSession session)
      : files_(std::move(files)),
        style_(style),
        head_(head),
        loaded_(loaded),
        session_(std::move(session)) {
    session_.CancelWith(interrupt_.flag());
  }

  Outcome<int> Run();

 private:
  Outcome<bool> PassOverDone();
  Outcome<bool> CheckLastLine(const LineInput::Line& line) const;
  bool Gather();
  bool Answer();
  std::string AnswerLine(const Item& item, Result<Decisions>* decided);
  Outcome<int> Finish();

  BatchFiles files_;
  BatchStyle style_;
  const DecisionHead& head_;
  const LoadedModel& loaded_;
  const Interrupt interrupt_;
  DecisionSession session_;

  std::vector<Item> items_;
  std::vector<DecisionRequest> requests_;
  std::size_t read_ = 0;  // lines
  std::size_t done_ = 0;  // of these, answered by this run
  std::size_t bad_ = 0;
  PriorFitter priors_;
  Usage usage_;
  Timings timings_;
};

// Whether the last line that is there can be the answer to this line of the input.
Outcome<bool> Batch::CheckLastLine(const LineInput::Line& line) const {
  const std::string where = "--resume: line " + std::to_string(read_) + " of the output ";
  const std::string& text = files_.output->last_line();
  const Json there =
      CheckJson(text, {.max_bytes = text.size()}) ? Json::parse(text, nullptr, false) : Json();
  if (there.contains("error") && there.value("line", std::size_t{0}) == read_) return true;
  if (!there.contains("answers") || !there["answers"].is_object()) {
    return UsageFailure(where + "is no answer of this program");
  }
  if (const Json model = there.value("model", Json()); model != loaded_.name()) {
    return UsageFailure(where + "was written with the model " + Printable(model.dump()) +
                        ", not with " + Printable(loaded_.name()));
  }
  const Result<DecisionRequest> request = ParseLine(line, style_.lossy);
  std::vector<std::string> asked;
  if (request) {
    for (const Question& question : request->questions) asked.push_back(question.id);
  }
  std::vector<std::string> answered;
  for (const auto& [id, answer] : there["answers"].items()) answered.push_back(id);
  if (asked != answered) {
    return UsageFailure(where + "does not answer the questions of that line of the input");
  }
  return true;
}

Outcome<bool> Batch::PassOverDone() {
  while (read_ < files_.output->lines_there() && !interrupt_.raised()) {
    const std::optional<LineInput::Line> line = files_.input->Next(interrupt_);
    if (!line && interrupt_.raised()) break;
    if (!line) {
      return UsageFailure("--resume: the output has " +
                          std::to_string(files_.output->lines_there()) + " lines, the input only " +
                          std::to_string(read_));
    }
    ++read_;
    if (read_ == files_.output->lines_there()) CLI_RETURN_IF_ERROR(CheckLastLine(*line));
  }
  return true;
}

// The next line, and those that are there without waiting, as many as the limits take.
bool Batch::Gather() {
  items_.clear();
  requests_.clear();
  std::size_t bytes = 0;
  const bool never_waits = files_.input->file_bytes() > 0;
  while (items_.empty() || (items_.size() < kMaxLines && bytes < kMaxBytes &&
                            (never_waits || files_.input->HasLine()))) {
    const std::optional<LineInput::Line> line = files_.input->Next(interrupt_);
    if (!line) break;
    bytes += line->text.size();
    Item item{.number = ++read_};
    Result<DecisionRequest> request = ParseLine(*line, style_.lossy);
    if (request) {
      item.request = requests_.size();
      requests_.push_back(std::move(*request));
    } else {
      item.error = std::move(request).error();
    }
    items_.push_back(std::move(item));
  }
  return !items_.empty() && !interrupt_.raised();
}

std::string Batch::AnswerLine(const Item& item, Result<Decisions>* decided) {
  const Error* error = item.error ? &*item.error : nullptr;
  if (decided != nullptr && !*decided) error = &decided->error();
  if (error != nullptr) {
    return Dump(LineErrorJson(item.number, *error));
  }
  priors_.Add((*decided)->answers);
  usage_ += (*decided)->usage;
  timings_ += (*decided)->timings;
  return WriteSystemOneResponse({.model = loaded_.name(),
                                 .questions = requests_[item.request].questions,
                                 .answers = (*decided)->answers,
                                 .usage = (*decided)->usage,
                                 .timings = (*decided)->timings,
                                 .audit = style_.audit},
                                style_.strict) +
         "\n";
}

// False once the work was cancelled or cannot be written.
bool Batch::Answer() {
  std::vector<Result<Decisions>> decisions;
  if (!requests_.empty()) decisions = head_.DecideMany(session_, requests_);
  if (interrupt_.raised()) return false;
  std::string lines;
  std::size_t bad = 0;
  for (const Item& item : items_) {
    if (item.error || !decisions[item.request]) ++bad;
    lines += AnswerLine(item, item.error ? nullptr : &decisions[item.request]);
  }
  if (!files_.output->Write(lines)) return false;
  done_ += items_.size();
  bad_ += bad;
  return true;
}

Outcome<int> Batch::Run() {
  CLI_RETURN_IF_ERROR(PassOverDone());
  {
    Progress progress("decide: bytes", files_.input->file_bytes(),
                      style_.quiet || files_.input->file_bytes() == 0);
    while (Gather() && Answer()) progress.Update(files_.input->bytes_taken());
  }
  return Finish();
}

Outcome<int> Batch::Finish() {
  const auto say = [](const std::string& words) { Say("adjudge decide: " + words); };
  const std::string lines =
      std::to_string(done_) + " lines" +
      (files_.output->lines_there() > 0
           ? " behind the " + std::to_string(files_.output->lines_there()) + " that were there"
           : "");
  if (bad_ > 0) say(std::to_string(bad_) + " of " + lines + " are bad");
  if (interrupt_.raised()) say("cancelled after " + lines + "; --resume goes on from there");
  if (const int error = files_.input->error(); error != 0) {
    say(std::string("cannot read the input: ") + std::strerror(error));
  }
  const int write_error = files_.output->error();
  if (write_error != 0 && write_error != EPIPE) {
    say(std::string("cannot write the output: ") + std::strerror(write_error) + "; " + lines +
        " are whole, and --resume goes on from there");
  }
  timings_.load_ms = loaded_.load_ms;
  usage_.forward_passes = session_.passes();  // each request counts those it shared
  if (!style_.quiet) Say(std::to_string(done_) + " lines; " + CostWords(usage_, timings_));
  if (!style_.fit_priors.empty() && !interrupt_.raised() && write_error == 0) {
    CLI_RETURN_IF_ERROR(priors_.Write(style_.fit_priors, loaded_.name()));
  }
  const bool failed =
      bad_ > 0 || interrupt_.raised() || files_.input->error() != 0 || write_error != 0;
  return failed ? kFailed : kOk;
}

}  // namespace

void AddBatchOptions(CLI::App& verb, BatchArguments& arguments) {
  verb.add_option("--in", arguments.in,
                  "a batch: System One requests, one a line; - is standard input")
      ->type_name("FILE");
  verb.add_option("--out", arguments.out, "its answers, one a line; - is standard output")
      ->type_name("FILE");
  verb.add_flag("--resume", arguments.resume,
                "go on behind the lines that --out holds; without it the file must be empty");
  verb.add_option("--fit-priors", arguments.fit_priors,
                  "with --debias cyclic or all: write the labels' mean priors for --debias pride")
      ->type_name("FILE");
}

Outcome<BatchFiles> OpenBatch(const BatchArguments& arguments) {
  if (arguments.in.empty() || arguments.out.empty()) {
    return UsageFailure("a batch needs both --in and --out");
  }
  if (arguments.resume && !arguments.fit_priors.empty()) {
    return UsageFailure("--fit-priors needs all answers, so it does not go with --resume");
  }
  std::error_code ignored;
  if (std::filesystem::equivalent(arguments.in, arguments.out, ignored)) {
    return UsageFailure("--in and --out are the same file");
  }
  BatchFiles files;
  CLI_ASSIGN_OR_RETURN(files.input, LineInput::Open(arguments.in));
  CLI_ASSIGN_OR_RETURN(files.output,
                       LineOutput::Open(arguments.out, arguments.resume ? LineOutput::Mode::kResume
                                                                        : LineOutput::Mode::kNew));
  return files;
}

Outcome<int> RunBatch(BatchFiles files, const BatchStyle& style, const DecisionHead& head,
                      const LoadedModel& loaded) {
  CLI_ASSIGN_OR_RETURN(DecisionSession session, DecisionSession::Make(loaded.model));
  return Batch(std::move(files), style, head, loaded, std::move(session)).Run();
}

}  // namespace adjudge::cli
