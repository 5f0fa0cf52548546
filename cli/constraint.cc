// constraint: what a constraint accepts, without a model's weights.
#include <algorithm>
#include <memory>
#include <random>

#include "cli/constraint_options.h"
#include "cli/constraint_run.h"
#include "cli/json_output.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/text_input.h"
#include "cli/verb.h"
#include "cli/vocabulary_file.h"
#include "cli/words.h"
#include "constraints/compiler.h"

namespace adjudge::cli {
namespace {

struct Arguments {
  ConstraintArguments constraint;
  ModelArguments model;
  std::string vocab;
  std::string text;
  std::vector<std::string> texts;
  std::string file;
  int n = 10;
  int soft_bytes = 100;
  std::uint64_t seed = 0;
  bool json = false;
};

struct Ready {
  LoadedVocabulary loaded;
  std::shared_ptr<const CompiledConstraint> constraint;
};

// Verbs that ask of texts alone take the bytes as the vocabulary.
std::shared_ptr<const Vocabulary> Bytes() {
  std::vector<Vocabulary::Entry> entries;
  for (int byte = 0; byte < 256; ++byte) {
    entries.push_back({std::string(1, static_cast<char>(byte)), TokenKind::kByte});
  }
  return std::make_shared<const Vocabulary>(std::move(entries), 256, std::vector<TokenId>{});
}

Outcome<Ready> Compile(const Arguments& arguments, bool needs_tokens) {
  CLI_ASSIGN_OR_RETURN(const std::optional<ConstraintSpec> spec,
                       ReadConstraint(arguments.constraint));
  if (!spec) return UsageFailure("expected --schema, --grammar, --regex or --choice");
  Ready ready;
  if (needs_tokens || !arguments.vocab.empty() || !arguments.model.model.empty()) {
    CLI_ASSIGN_OR_RETURN(ready.loaded, LoadVocabulary(arguments.vocab, arguments.model));
  } else {
    ready.loaded.vocabulary = Bytes();
  }
  CLI_ASSIGN_OR_RETURN(
      ready.constraint,
      OrExit(ConstraintCompiler(*ready.loaded.vocabulary).Compile(*spec), kFailed));
  return ready;
}

Outcome<int> Check(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const Ready ready, Compile(arguments, false));
  CLI_ASSIGN_OR_RETURN(const auto shortest, ready.constraint->Shortest());
  Output output;
  Json json = {{"ok", true}, {"notes", ready.constraint->notes()}};
  if (shortest) json["shortest"] = TextOrHex(*shortest);
  if (arguments.json) {
    output.Write(Dump(json));
  } else {
    output.Write("compiles\n");
    if (shortest) output.Write("shortest text: " + Printable(*shortest) + "\n");
    for (const std::string& note : ready.constraint->notes()) output.Write(Printable(note) + "\n");
  }
  return output.Finish();
}

// "a", "z" or 0x80: a byte in words.
std::string ByteWords(std::uint8_t byte) {
  if (byte >= 0x80) return "0x" + Hex(std::string(1, static_cast<char>(byte)));
  return byte == ' ' ? "space" : Printable(std::string(1, static_cast<char>(byte)));
}

// The bytes in ranges: "0-9 a-f".
std::string RangeWords(const std::vector<std::uint8_t>& bytes) {
  std::string words;
  for (std::size_t i = 0; i < bytes.size();) {
    std::size_t last = i;
    while (last + 1 < bytes.size() && bytes[last + 1] == bytes[last] + 1) ++last;
    if (!words.empty()) words += ' ';
    words += ByteWords(bytes[i]);
    if (last > i) words += (last == i + 1 ? " " : " to ") + ByteWords(bytes[last]);
    i = last + 1;
  }
  return words;
}

Outcome<int> Explain(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const std::string text, ReadText(arguments.text));
  CLI_ASSIGN_OR_RETURN(const Ready ready, Compile(arguments, false));
  CLI_ASSIGN_OR_RETURN(const TextVerdict verdict, ready.constraint->Check(text));
  CLI_ASSIGN_OR_RETURN(const auto follow, ready.constraint->After(text.substr(0, verdict.offset)));
  const bool accepted = verdict.verdict == Verdict::kAccepted;
  const bool refused = verdict.verdict == Verdict::kRefused;
  const std::string expected =
      RangeWords(follow.bytes) +
      (follow.may_end ? (follow.bytes.empty() ? "the end" : " or the end") : "");
  Output output;
  if (arguments.json) {
    output.Write(Dump({{"verdict", accepted  ? "accepted"
                                   : refused ? "refused"
                                             : "incomplete"},
                       {"offset", verdict.offset},
                       {"expected", follow.bytes},
                       {"may_end", follow.may_end}}));
  } else if (accepted) {
    output.Write("accepted\n");
  } else if (refused) {
    output.Write("refused at byte " + std::to_string(verdict.offset) + ", \"" +
                 Printable(text.substr(verdict.offset, 16)) + "\": expected " + expected + "\n");
  } else {
    output.Write("incomplete after byte " + std::to_string(verdict.offset) + ": expected " +
                 expected + "\n");
  }
  if (!accepted) Say(refused ? "adjudge: the text is refused" : "adjudge: the text is incomplete");
  return output.Finish(accepted ? kOk : kFailed);
}

Outcome<int> Mask(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const std::string text, ReadText(arguments.text));
  CLI_ASSIGN_OR_RETURN(const Ready ready, Compile(arguments, true));
  const Vocabulary& vocabulary = *ready.loaded.vocabulary;
  const auto matcher = ready.constraint->NewMatcher();
  std::string_view rest = text;
  while (!rest.empty()) {
    // Any split will do: the mask depends on the text alone.
    TokenId best = kNoToken;
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      const std::string_view bytes = vocabulary.bytes(id);
      if (vocabulary.is_special(id) || bytes.empty() || !rest.starts_with(bytes)) continue;
      if (best == kNoToken || bytes.size() > vocabulary.bytes(best).size()) best = id;
    }
    if (best == kNoToken || !matcher->Accept(best)) {
      CLI_RETURN_IF_ERROR(matcher->status());
      return tl::unexpected<Failure>(Failure(
          kFailed, "the text is refused at byte " + std::to_string(text.size() - rest.size()) +
                       " or behind (see adjudge constraint explain)"));
    }
    rest.remove_prefix(vocabulary.bytes(best).size());
  }
  TokenMask mask(vocabulary.width());
  CLI_RETURN_IF_ERROR(matcher->FillMask(mask));
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (mask.test(id)) ids.push_back(id);
  }
  Output output;
  if (arguments.json) {
    output.Write(Dump({{"n", ids.size()}, {"can_stop", matcher->CanStop()}, {"ids", ids}}));
  } else {
    for (const TokenId id : ids) {
      if (!output.Write(std::to_string(id) + "\t" + Printable(vocabulary.bytes(id)) + "\n")) break;
    }
  }
  return output.Finish();
}

Outcome<int> Sample(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const Ready ready, Compile(arguments, false));
  Output output;
  for (int i = 0; i < arguments.n; ++i) {
    CLI_ASSIGN_OR_RETURN(const std::string text,
                         ready.constraint->Sample(arguments.seed + static_cast<std::uint64_t>(i),
                                                  static_cast<std::size_t>(arguments.soft_bytes)));
    if (arguments.json) {
      output.Write(Dump({{"text", TextOrHex(text)}}));
    } else {
      output.WriteText(text + "\n");
    }
  }
  return output.Finish();
}

Outcome<int> Validate(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const Ready ready, Compile(arguments, false));
  Output output;
  bool all = true;
  for (const std::string& given : arguments.texts) {
    CLI_ASSIGN_OR_RETURN(const std::string text, ReadText(given));
    CLI_ASSIGN_OR_RETURN(const TextVerdict verdict, ready.constraint->Check(text));
    const bool accepted = verdict.verdict == Verdict::kAccepted;
    all = all && accepted;
    if (arguments.json) {
      output.Write(Dump({{"accepted", accepted}, {"offset", verdict.offset}}));
    } else {
      output.Write(accepted ? "accepted\n"
                            : (verdict.verdict == Verdict::kRefused ? "refused at byte "
                                                                    : "incomplete after byte ") +
                                  std::to_string(verdict.offset) + "\n");
    }
  }
  if (!all) Say("adjudge: not every text is accepted");
  return output.Finish(all ? kOk : kFailed);
}

Outcome<int> Test(const Arguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const std::vector<ConstraintCase> cases,
                       ReadConstraintCases(arguments.file));
  CLI_ASSIGN_OR_RETURN(const LoadedVocabulary loaded,
                       LoadVocabulary(arguments.vocab, arguments.model));
  const ConstraintCompiler compiler(*loaded.vocabulary, {.tokenize = nullptr, .cache_bytes = 0});
  const CaseRunner runner(*loaded.vocabulary, compiler);
  Output output;
  Json counts = {{"cases", cases.size()}, {"right", 0}, {"wrong", 0}, {"refused", 0}};
  std::vector<double> ttfm;
  std::vector<double> masks;
  for (const ConstraintCase& c : cases) {
    const CaseOutcome outcome = runner.Run(c);
    counts[outcome.outcome] = counts[outcome.outcome].get<int>() + 1;
    if (outcome.ttfm_ms > 0) ttfm.push_back(outcome.ttfm_ms);
    masks.insert(masks.end(), outcome.mask_us.begin(), outcome.mask_us.end());
    if (!output.Write(Dump(ToJson(c.id, outcome))) || !output.Flush()) break;
  }
  counts["ttfm_ms"] = Percentiles(ttfm);
  counts["masks"] = masks.size();
  counts["mask_us"] = Percentiles(masks);
  output.Write(Dump({{"summary", counts}}));
  const int wrong = counts["wrong"].get<int>();
  if (wrong > 0) Say("adjudge: " + std::to_string(wrong) + " of the cases are wrong");
  return output.Finish(wrong > 0 ? kFailed : kOk);
}

void AddSub(CLI::App& verb, const char* name, const char* about,
            const std::shared_ptr<Arguments>& arguments, Program& program, bool takes_constraint,
            Outcome<int> (*run)(const Arguments&), const std::function<void(CLI::App&)>& more) {
  CLI::App* sub = verb.add_subcommand(name, about);
  if (takes_constraint) AddConstraintOptions(*sub, arguments->constraint, SchemaUse::kJudge);
  sub->add_option("--vocab", arguments->vocab,
                  "vocabulary: GGUF, SentencePiece model, tokenizer.json or list of tokens")
      ->type_name("FILE");
  AddFileOptions(*sub, arguments->model);
  more(*sub);
  sub->callback(
      [arguments, &program, run] { program.run = [arguments, run] { return run(*arguments); }; });
}

}  // namespace

void AddConstraint(CLI::App& app, Program& program) {
  CLI::App* verb =
      app.add_subcommand("constraint", "What a schema, grammar, regex or choice accepts");
  verb->require_subcommand(1);
  const auto fresh = [] { return std::make_shared<Arguments>(); };
  const auto json = [](CLI::App& sub, const std::shared_ptr<Arguments>& a, const char* words) {
    sub.add_flag("--json", a->json, words);
  };
  auto a = fresh();
  AddSub(*verb, "check", "Compile it; tell the shortest text", a, program, true, Check,
         [a, json](CLI::App& sub) { json(sub, a, "{\"ok\", \"notes\", \"shortest\"}"); });
  a = fresh();
  AddSub(*verb, "explain", "Why a text is refused: the byte, and what was expected there", a,
         program, true, Explain, [a, json](CLI::App& sub) {
           sub.add_option("text", a->text, "the text; - is standard input")
               ->required()
               ->type_name("TEXT");
           json(sub, a, "{\"verdict\", \"offset\", \"expected\", \"may_end\"}");
         });
  a = fresh();
  AddSub(
      *verb, "mask", "The tokens that may follow a text", a, program, true, Mask,
      [a, json](CLI::App& sub) {
        sub.add_option("text", a->text, "the text so far; - is standard input")->type_name("TEXT");
        json(sub, a, "{\"n\", \"can_stop\", \"ids\"}");
      });
  a = fresh();
  AddSub(*verb, "sample", "Random accepted texts, without a model", a, program, true, Sample,
         [a, json](CLI::App& sub) {
           sub.add_option("--count", a->n, "how many")
               ->transform(WholeNumber(0, 1'000'000))
               ->type_name("N");
           sub.add_option("--bytes", a->soft_bytes, "about this long, then a short way to the end")
               ->transform(WholeNumber(0, 1'000'000))
               ->type_name("N")
               ->capture_default_str();
           sub.add_option("--seed", a->seed, "of the first text")
               ->transform(SeedNumber())
               ->type_name("N");
           json(sub, a, "a line {\"text\"} each");
         });
  a = fresh();
  AddSub(*verb, "validate", "Which texts are accepted; exit code 1 unless all are", a, program,
         true, Validate, [a, json](CLI::App& sub) {
           sub.add_option("texts", a->texts, "texts; - is standard input")
               ->required()
               ->type_name("TEXT");
           json(sub, a, "a line {\"accepted\", \"offset\"} each");
         });
  a = fresh();
  AddSub(*verb, "test",
         "Walk texts by mask: a file of constraints, each with texts to accept and refuse", a,
         program, false, Test, [a](CLI::App& sub) {
           sub.add_option("file", a->file, "JSON array, or JSON lines; - is standard input")
               ->required()
               ->type_name("FILE");
         });
  verb->footer(
      "Examples:\n"
      "  adjudge constraint check --schema person.json\n"
      "  adjudge constraint explain --regex \"[0-9]{4}-[0-9]{2}\" 2026-1x\n"
      "  adjudge constraint sample --grammar grammars/files/json.ebnf --count 5\n"
      "  adjudge constraint mask --choice yes --choice no y");
}

}  // namespace adjudge::cli
