// decide: fixed-choice questions answered in one forward pass.
#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/decide_batch.h"
#include "cli/decide_options.h"
#include "cli/explanation.h"
#include "cli/head_options.h"
#include "cli/interrupt.h"
#include "cli/json_output.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/prior_file.h"
#include "cli/text_input.h"
#include "cli/verb.h"
#include "cli/words.h"
#include "engine/fingerprint.h"
#include "heads/decision_head.h"
#include "heads/system_one.h"
#include "heads/trained_head.h"

namespace adjudge::cli {
namespace {

constexpr const char* kQuickId = "q";
constexpr int kBarWidth = 30;
constexpr int kMaxNameWidth = 40;

struct Arguments {
  ModelArguments model;
  BatchArguments batch;
  ReadingArguments reading;
  std::string explain;  // sentences, words, or nothing
  CLI::Option* request_given = nullptr;
  CLI::Option* ask_given = nullptr;
  CLI::Option* state_given = nullptr;
  CLI::Option* end_given = nullptr;
  CLI::Option* labels_given = nullptr;
  std::string request;  // a path
  std::string state;
  std::string ask;
  std::vector<std::string> choices;
  std::vector<std::string> levels;
  bool noul = false;
  std::string head = "auto";
  std::string calibration;
  std::string end = "auto";
  std::string prompt_style = "auto";
  std::string labels = "auto";
  bool audit = false;
  bool strict = false;
  bool lossy = false;
  bool json = false;
};

struct Asked {
  Entry state;
  std::vector<Question> questions;
  bool quick = false;
};

// A request's error speaks of JSON pointers; on the command line the same things have other names.
Failure QuickFailure(const Arguments& arguments, Error error) {
  const std::string question = std::string("/questions/") + kQuickId;
  const std::string options = arguments.levels.empty() ? "--choice" : "--level";
  const std::pair<std::string, std::string> names[] = {{question + "/criteria", options},
                                                       {question + "/instructions", "--ask"},
                                                       {question, "question"},
                                                       {"/state", "--state"}};
  for (const auto& [pointer, name] : names) {
    if (!error.place.starts_with(pointer)) continue;
    const std::string rest = error.place.substr(std::min(pointer.size() + 1, error.place.size()));
    error.place = rest.empty() ? name : name + " \"" + Printable(rest) + "\"";
    break;
  }
  Failure failure(error);
  if (error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kMalformed) {
    failure.exit_code = kUsage;
  }
  return failure;
}

bool IsReadOut(const std::string& head) {
  return head == "auto" || head == "label" || head == "likelihood";
}

// The state of the quick form.
Outcome<Entry> QuickState(const Arguments& arguments) {
  Entry state;
  CLI_ASSIGN_OR_RETURN(state.text, ReadText(arguments.state, LossyBytes(arguments.lossy)));
  return state;
}

// With a trained head the quick form may leave the question out: the head has its own.
Outcome<Asked> HeadForm(const Arguments& arguments, const TrainedHead& head) {
  Asked asked;
  asked.quick = true;
  CLI_ASSIGN_OR_RETURN(asked.state, QuickState(arguments));
  asked.questions.push_back(QuestionOf(head, kQuickId));
  return asked;
}

Outcome<Asked> QuickForm(const Arguments& arguments) {
  const int kinds = !arguments.choices.empty() + !arguments.levels.empty() + arguments.noul;
  if (kinds != 1) {
    return UsageFailure(
        "expected the options of one question: --choice several times, --level several times, or "
        "--noul");
  }
  if (arguments.state == "-" && arguments.ask == "-") {
    return UsageFailure("standard input can be only one of --state and --ask");
  }
  Asked asked;
  asked.quick = true;
  CLI_ASSIGN_OR_RETURN(asked.state, QuickState(arguments));
  CLI_ASSIGN_OR_RETURN(const std::string ask, ReadText(arguments.ask, LossyBytes(arguments.lossy)));
  if (ask.empty()) return UsageFailure("--ask: expected a question, found none");
  asked.questions.push_back(arguments.noul ? Question::Noul(kQuickId, ask)
                            : arguments.levels.empty()
                                ? Question::Choice(kQuickId, ask, arguments.choices)
                                : Question::Score(kQuickId, ask, arguments.levels));
  if (Status valid = ValidateQuestions(asked.questions); !valid) {
    return tl::unexpected<Failure>(QuickFailure(arguments, std::move(valid).error()));
  }
  return asked;
}

Outcome<Asked> ReadQuestions(const Arguments& arguments, const TrainedHead* head) {
  const bool quick = arguments.ask_given->count() > 0;
  if (head != nullptr && !quick && arguments.request_given->count() == 0) {
    if (arguments.state_given->count() == 0 || !arguments.choices.empty() ||
        !arguments.levels.empty() || arguments.noul) {
      return UsageFailure("expected --state TEXT for the head's own question, or a REQUEST file");
    }
    return HeadForm(arguments, *head);
  }
  if (quick == (arguments.request_given->count() > 0)) {
    return UsageFailure("expected a REQUEST file (- is standard input), or --ask with its options");
  }
  if (quick) return QuickForm(arguments);
  if (!arguments.state.empty() || !arguments.choices.empty() || !arguments.levels.empty() ||
      arguments.noul) {
    return UsageFailure("--state, --choice, --level and --noul go with --ask, not with a file");
  }
  CLI_ASSIGN_OR_RETURN(
      const std::string body,
      ReadJsonFile(arguments.request, LossyBytes(arguments.lossy), SystemOneLimits().max_bytes));
  const std::string name = arguments.request == "-" ? "standard input" : arguments.request;
  CLI_ASSIGN_OR_RETURN(SystemOneRequest request,
                       OrExit(ParseSystemOneRequest(body), kFailed, name));
  return Asked{.state = std::move(request.state), .questions = std::move(request.questions)};
}

// Options that would have no effect.
Outcome<bool> CheckTogether(const Arguments& arguments) {
  if (arguments.head == "label" && arguments.end_given->count() > 0) {
    return UsageFailure("--end goes with the likelihood head, and --head is label");
  }
  if (arguments.head == "likelihood" && arguments.labels_given->count() > 0) {
    return UsageFailure("--labels goes with the label head, and --head is likelihood");
  }
  if (arguments.batch.given() &&
      arguments.request_given->count() + arguments.ask_given->count() > 0) {
    return UsageFailure("--in takes the place of REQUEST and of --ask");
  }
  if (!IsReadOut(arguments.head) &&
      arguments.end_given->count() + arguments.labels_given->count() > 0) {
    return UsageFailure("--end and --labels go with the label and likelihood heads");
  }
  if (!IsReadOut(arguments.head) && arguments.reading.given()) {
    return UsageFailure(
        "--debias and the other options of readings go with the label and "
        "likelihood heads");
  }
  if (IsReadOut(arguments.head) && !arguments.calibration.empty()) {
    return UsageFailure("--calibration goes with a trained head's file as --head");
  }
  const std::string& debias = arguments.reading.debias;
  if (!arguments.batch.fit_priors.empty() && debias != "cyclic" && debias != "all") {
    return UsageFailure("--fit-priors goes with --debias cyclic or all");
  }
  if (arguments.batch.given() && !arguments.explain.empty()) {
    return UsageFailure("--explain goes with one request, not with --in");
  }
  if (arguments.strict && !arguments.explain.empty()) {
    return UsageFailure("--strict leaves out what --explain asks for");
  }
  if (arguments.audit && arguments.strict) return UsageFailure("--strict leaves out the --audit");
  if (arguments.audit && !arguments.json && !arguments.batch.given()) {
    return UsageFailure("--audit goes with --json or --in");
  }
  if (arguments.strict && !arguments.json && !arguments.batch.given())
    return UsageFailure("--strict goes with --json");
  return true;
}

Outcome<HeadOptions> ToHeadOptions(const Arguments& arguments) {
  HeadOptions options;
  CLI_ASSIGN_OR_RETURN(options.end, OrExit(ParseEndRule(arguments.end), kUsage, "--end"));
  CLI_ASSIGN_OR_RETURN(options.prompt,
                       OrExit(ParsePromptStyle(arguments.prompt_style), kUsage, "--prompt-style"));
  CLI_ASSIGN_OR_RETURN(options.labels,
                       OrExit(ParseLabelStyle(arguments.labels), kUsage, "--labels"));
  CLI_RETURN_IF_ERROR(ApplyReadingOptions(arguments.reading, options));
  if (arguments.batch.given()) options.pack.max_pass_tokens = kBatchPassTokens;
  return options;
}

std::string Bar(double probability) {
  const int filled = static_cast<int>(std::lround(probability * kBarWidth));
  return std::string(static_cast<std::size_t>(filled), '#') +
         std::string(static_cast<std::size_t>(kBarWidth - filled), '.');
}

// What an option is called in the table: a level by its text, others by their name.
std::string ShownName(const Question& question, std::size_t i) {
  const Option& option = question.options[i];
  const bool level = question.type == QuestionType::kScore && option.description;
  return Printable(level ? option.name + " " + option.description->text : option.name);
}

// What a debiased, abstaining or cut answer has to say beside its numbers.
std::string ReadingWords(const Answer& answer) {
  std::string words;
  if (!answer.debias.empty()) {
    words += ", debias " + answer.debias + " in " + std::to_string(answer.forwards) + " forwards";
  }
  if (answer.disagreement_bound) words += ", bound " + Share(*answer.disagreement_bound);
  if (answer.none_probability) words += ", none of them " + Fixed(*answer.none_probability, 4);
  if (!answer.fallback.empty()) words += " (" + answer.fallback + ")";
  if (!answer.abstain_reason.empty()) words += ", abstains: " + answer.abstain_reason;
  if (answer.truncation) {
    words += ", " + answer.truncation->cut +
             " cut: " + std::to_string(answer.truncation->kept_bytes) + " of " +
             std::to_string(answer.truncation->state_bytes) + " bytes kept";
  }
  return words;
}

std::string Verdict(const Question& question, const Answer& answer) {
  std::string line = "  -> ";
  if (question.type == QuestionType::kSelect) {
    line += Fixed(answer.score, 0) + " selected";
  } else if (question.type == QuestionType::kScore) {
    line += "score " + Fixed(answer.score, 3) + " of 0 to " +
            std::to_string(question.options.size() - 1);
  } else {
    line += ShownName(question, static_cast<std::size_t>(answer.chosen));
  }
  if (answer.confidence) line += ", confidence " + Fixed(*answer.confidence, 3);
  if (answer.label_mass) line += ", label mass " + Share(*answer.label_mass);
  line += ", head " + answer.head;
  if (!answer.end.empty()) line += ", end " + answer.end;
  return line + ReadingWords(answer) + "\n";
}

std::string Table(const Question& question, const Answer& answer) {
  std::string table = Printable(question.instructions ? question.instructions->text : question.id);
  table += "\n";
  int width = 0;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    width = std::max(width, std::min(DisplayWidth(ShownName(question, i)), kMaxNameWidth));
  }
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    const double p = answer.probabilities[i];
    const bool marked = question.type == QuestionType::kSelect
                            ? bool{answer.selected[i]}
                            : static_cast<int>(i) == answer.chosen;
    table += marked ? "  * " : "    ";
    table += Column(ShownName(question, i), width) + "  " + Fixed(p, 4) + "  " + Bar(p);
    if (i < answer.option_abstained.size() && answer.option_abstained[i]) table += "  abstains";
    if (i < answer.labels.size()) table += "  " + Printable(answer.labels[i]);
    table += "\n";
  }
  return table + Verdict(question, answer);
}

// The answers, and where that is asked for what they rest on.
Result<Decisions> Ask(const Arguments& arguments, const DecisionHead& head,
                      DecisionSession& session, const Asked& asked,
                      std::vector<Explanation>& explanations) {
  if (arguments.explain.empty()) return head.Decide(session, asked.state, asked.questions);
  ADJUDGE_ASSIGN_OR_RETURN(const ExplainUnit unit, ParseExplainUnit(arguments.explain));
  ADJUDGE_ASSIGN_OR_RETURN(Explanations explained,
                           Explain(session, head, asked.state, asked.questions, {.unit = unit}));
  Decisions decisions{.usage = explained.usage, .timings = explained.timings};
  decisions.usage.forward_passes = session.passes();
  for (const Explanation& one : explained.questions) decisions.answers.push_back(one.answer);
  explanations = std::move(explained.questions);
  return decisions;
}

Outcome<std::unique_ptr<DecisionHead>> MakeReadOut(const Arguments& arguments,
                                                   const HeadOptions& options,
                                                   const LoadedModel& loaded) {
  if (options.prompt != PromptStyle::kPlain && loaded.tokenizer->chat_template()) {
    CLI_RETURN_IF_ERROR(LoadTemplate(loaded, "use --prompt-style plain"));
  }
  auto made = MakeDecisionHead(arguments.head, loaded.tokenizer, options);
  const bool rendering = !made && made.error().place == "chat template";
  return OrExit(std::move(made), rendering ? kFailed : kUsage,
                rendering ? "model " + Printable(loaded.path.string()) : "");
}

Outcome<std::unique_ptr<DecisionHead>> MakeTrained(const Arguments& arguments,
                                                   std::shared_ptr<const TrainedHead> head,
                                                   const LoadedModel& loaded) {
  CLI_ASSIGN_OR_RETURN(const Backbone backbone, ToBackbone(loaded, arguments.model));
  return OrExit(MakeTrainedDecisionHead(std::move(head), backbone.model, backbone.tokenizer,
                                        backbone.fingerprint),
                kFailed, "--head: " + Printable(arguments.head));
}

// A pointer head is asked questions as the read-outs are.
Outcome<std::unique_ptr<DecisionHead>> MakePointer(const Arguments& arguments,
                                                   const LoadedModel& loaded) {
  if (!arguments.calibration.empty()) {
    return UsageFailure("--calibration does not go with a pointer head");
  }
  CLI_ASSIGN_OR_RETURN(PointerHead head, ReadPointerHead(arguments.head));
  CLI_ASSIGN_OR_RETURN(const Backbone backbone, ToBackbone(loaded, arguments.model));
  return OrExit(MakePointerDecisionHead(std::make_shared<const PointerHead>(std::move(head)),
                                        backbone.model, backbone.tokenizer, backbone.fingerprint),
                kFailed, "--head: " + Printable(arguments.head));
}

Outcome<Audit> MakeAudit(const LoadedModel& loaded, PromptStyle prompt, std::string head) {
  Audit audit{.head = std::move(head)};
  CLI_ASSIGN_OR_RETURN(audit.model, OrExit(ModelFingerprint(loaded.path), kModel));
  const auto& chat_template = loaded.tokenizer->chat_template();
  if (prompt != PromptStyle::kPlain && chat_template) {
    audit.chat_template = Fingerprint(*chat_template);
  }
  return audit;
}

Outcome<int> Run(const Arguments& arguments) {
  CLI_RETURN_IF_ERROR(CheckTogether(arguments));
  std::error_code code;
  if (!IsReadOut(arguments.head) && !std::filesystem::exists(arguments.head, code)) {
    return UsageFailure(
        "--head: expected auto, label, likelihood or the file of a trained head; there is no file "
        "\"" +
        Printable(arguments.head) + "\"");
  }
  std::shared_ptr<TrainedHead> trained;
  const bool pointer = !IsReadOut(arguments.head) && IsPointerHead(arguments.head);
  if (!IsReadOut(arguments.head) && !pointer) {
    CLI_ASSIGN_OR_RETURN(trained, ReadHead(arguments.head));
    if (!arguments.calibration.empty()) {
      CLI_RETURN_IF_ERROR(ApplyCalibration(arguments.calibration, *trained));
    }
  }
  BatchFiles batch;
  Asked asked;
  if (arguments.batch.given()) {
    CLI_ASSIGN_OR_RETURN(batch, OpenBatch(arguments.batch));
  } else {
    CLI_ASSIGN_OR_RETURN(asked, ReadQuestions(arguments, trained.get()));
  }
  CLI_ASSIGN_OR_RETURN(HeadOptions options, ToHeadOptions(arguments));
  CLI_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(arguments.model));
  if (!arguments.reading.priors.empty()) {
    CLI_ASSIGN_OR_RETURN(PositionPriors priors,
                         ReadPriors(arguments.reading.priors, loaded.name()));
    options.priors = std::make_shared<const PositionPriors>(std::move(priors));
  }
  CLI_ASSIGN_OR_RETURN(const std::unique_ptr<DecisionHead> head,
                       pointer              ? MakePointer(arguments, loaded)
                       : trained != nullptr ? MakeTrained(arguments, trained, loaded)
                                            : MakeReadOut(arguments, options, loaded));
  std::optional<Audit> audit;
  if (arguments.audit) {
    const std::string head_name = trained != nullptr ? trained->Fingerprint() : "";
    CLI_ASSIGN_OR_RETURN(audit, MakeAudit(loaded, options.prompt, head_name));
  }
  if (arguments.batch.given()) {
    return RunBatch(std::move(batch),
                    {.lossy = arguments.lossy,
                     .strict = arguments.strict,
                     .quiet = arguments.model.quiet,
                     .audit = audit,
                     .fit_priors = arguments.batch.fit_priors},
                    *head, loaded);
  }
  CLI_ASSIGN_OR_RETURN(DecisionSession session, DecisionSession::Make(loaded.model));
  const Interrupt interrupt;
  session.CancelWith(interrupt.flag());
  std::vector<Explanation> explanations;
  Result<Decisions> decided = Ask(arguments, *head, session, asked, explanations);
  if (!decided && decided.error().code == ErrorCode::kCancelled) {
    return tl::unexpected<Failure>(Failure(kFailed, "cancelled"));
  }
  if (!decided && decided.error().code == ErrorCode::kNotFinite) {
    return tl::unexpected<Failure>(WorkFailure(loaded, decided.error()));
  }
  if (!decided) {
    return tl::unexpected<Failure>(asked.quick ? QuickFailure(arguments, decided.error())
                                               : Failure(decided.error()));
  }
  decided->timings.load_ms = loaded.load_ms;
  Output output;
  if (arguments.json) {
    output.Write(WriteSystemOneResponse({.model = loaded.name(),
                                         .questions = asked.questions,
                                         .answers = decided->answers,
                                         .usage = decided->usage,
                                         .timings = decided->timings,
                                         .state = asked.state.text,
                                         .explanations = explanations,
                                         .audit = audit},
                                        arguments.strict) +
                 "\n");
    return output.Finish();
  }
  for (std::size_t i = 0; i < asked.questions.size(); ++i) {
    output.Write(Table(asked.questions[i], decided->answers[i]));
    if (!explanations.empty()) {
      output.Write(ExplanationLines(asked.state.text, explanations[i], output.is_terminal()));
    }
  }
  output.Flush();
  if (!arguments.model.quiet) Say(CostWords(decided->usage, decided->timings));
  return output.Finish();
}

void AddQuestionOptions(CLI::App& verb, Arguments& arguments) {
  arguments.request_given =
      verb.add_option("request", arguments.request,
                      "System One request, JSON {\"state\", \"questions\"}; - is standard input")
          ->type_name("REQUEST");
  arguments.state_given =
      verb.add_option("--state", arguments.state, "what is asked about; - is standard input")
          ->type_name("TEXT");
  arguments.ask_given = verb.add_option("--ask", arguments.ask, "the question; - is standard input")
                            ->type_name("TEXT");
  AddRepeated(verb, "--choice", arguments.choices, "an option; give it several times");
  AddRepeated(verb, "--level", arguments.levels, "a level, lowest first; give it several times");
  verb.add_flag("--noul", arguments.noul, "a yes-or-no question");
}

constexpr const char* kDecideExamples =
    "Examples:\n"
    "  adjudge decide --state \"The lamp's shade cracked on day two.\" \\\n"
    "    --ask \"What does the buyer want?\" --choice refund --choice exchange --choice nothing\n"
    "  adjudge decide --state - --ask \"Is this spam?\" --noul < mail.txt\n"
    "  adjudge decide request.json --json\n"
    "  adjudge decide --in requests.jsonl --out answers.jsonl --resume\n"
    "  adjudge decide --head my.head --state \"Where is my parcel?\"";

constexpr const char* kExplainExamples =
    "Example:\n"
    "  adjudge explain --state \"The shade cracked on day two. I want my money back.\" \\\n"
    "    --ask \"What does the buyer want?\" --choice refund --choice exchange --choice nothing";

void AddVerb(CLI::App& app, Program& program, const char* name, const char* what, bool explains) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(name, what);
  AddModelOptions(*verb, arguments->model);
  AddQuestionOptions(*verb, *arguments);
  if (!explains) AddBatchOptions(*verb, arguments->batch);
  AddReadingOptions(*verb, arguments->reading);
  if (explains) arguments->explain = "sentences";
  verb->add_option(explains ? "--parts" : "--explain", arguments->explain,
                   "tell what the answer rests on, by leaving out sentences or words of the state")
      ->check(CLI::IsMember({"sentences", "words"}))
      ->type_name("NAME");
  verb->add_option("--head", arguments->head,
                   "label (the options' letters), likelihood (their exact text), auto, or the file "
                   "of a trained head")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  verb->add_option("--calibration", arguments->calibration,
                   "what calibrate wrote, instead of the trained head's own")
      ->type_name("FILE");
  arguments->end_given =
      verb->add_option(
              "--end", arguments->end,
              "likelihood: the end after an option counts (stop) or not (none); auto: only "
              "where one option begins another")
          ->check(CLI::IsMember({"auto", "none", "stop"}))
          ->type_name("RULE")
          ->capture_default_str();
  arguments->labels_given =
      verb->add_option("--labels", arguments->labels, "what options are called in the prompt")
          ->check(CLI::IsMember({"auto", "letters", "numbers", "words", "codes"}))
          ->type_name("NAME")
          ->capture_default_str();
  verb->add_option("--prompt-style", arguments->prompt_style,
                   "chat (the model's template), plain, or auto")
      ->check(CLI::IsMember({"auto", "chat", "plain"}))
      ->type_name("NAME")
      ->capture_default_str();
  verb->add_flag("--lossy", arguments->lossy,
                 "U+FFFD for bytes that are not UTF-8, instead of an error");
  verb->add_flag("--json", arguments->json, "the System One answer body");
  verb->add_flag("--audit", arguments->audit,
                 "with --json or --in: fingerprints of model, template, label tokens and head");
  verb->add_flag("--strict", arguments->strict, "with --json: no x_ keys");
  verb->footer(explains ? kExplainExamples : kDecideExamples);
  verb->callback([arguments, &program] { program.run = [arguments] { return Run(*arguments); }; });
}

}  // namespace

void AddDecide(CLI::App& app, Program& program) {
  AddVerb(app, program, "decide", "Answer fixed-choice questions in one forward pass", false);
}

void AddExplain(CLI::App& app, Program& program) {
  AddVerb(app, program, "explain", "Tell which parts of a state an answer rests on", true);
}

}  // namespace adjudge::cli
