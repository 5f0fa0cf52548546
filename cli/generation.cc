#include "cli/generation.h"

#include <optional>
#include <string>

#include "cli/choice_matcher.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "cli/words.h"
#include "constraints/compiler.h"

namespace adjudge::cli {

void AddGenerationOptions(CLI::App& verb, GenerationArguments& arguments) {
  AddModelOptions(verb, arguments.model);
  AddPromptOptions(verb, arguments.prompt);
  AddSamplingOptions(verb, arguments.sampling);
  AddConstraintOptions(verb, arguments.constraint, SchemaUse::kWrite);
}

namespace {

// Null without a constraint. A choice keeps to the rule of option sets, which never force a split;
// the others end within max_tokens.
Outcome<std::unique_ptr<Matcher>> NewMatcher(const std::optional<ConstraintSpec>& spec,
                                             const Tokenizer& tokenizer, int max_tokens) {
  if (!spec) return std::unique_ptr<Matcher>();
  if (spec->kind == ConstraintSpec::Kind::kChoice) return ChoiceMatcher(spec->texts, tokenizer);
  CompilerOptions options;
  if (!tokenizer.adds_dummy_prefix()) {  // else a text's first token depends on what is before it
    options.tokenize = [&tokenizer](std::string_view text) {
      return tokenizer.Encode(text).value_or(std::vector<TokenId>());
    };
  }
  // Matchers keep what they need of the compiler alive.
  const ConstraintCompiler compiler(tokenizer.vocabulary(), std::move(options));
  CLI_ASSIGN_OR_RETURN(const auto constraint, OrExit(compiler.Compile(*spec), kUsage));
  return OrExit(constraint->NewMatcher(max_tokens), kUsage, "--max-tokens");
}

}  // namespace

Outcome<std::unique_ptr<Generation>> Generation::Make(const GenerationArguments& arguments) {
  CLI_ASSIGN_OR_RETURN(const std::optional<ConstraintSpec> spec,
                       ReadConstraint(arguments.constraint));
  CLI_ASSIGN_OR_RETURN(const PromptText prompt, ReadPrompt(arguments.prompt));
  std::unique_ptr<Generation> made(new Generation);
  made->quiet_ = arguments.model.quiet;
  CLI_ASSIGN_OR_RETURN(made->loaded_, LoadModel(arguments.model));
  CLI_ASSIGN_OR_RETURN(made->options_, ToGenerateOptions(arguments.sampling, made->vocabulary()));
  CLI_ASSIGN_OR_RETURN(made->prompt_, EncodePromptText(made->loaded_, prompt));
  CLI_ASSIGN_OR_RETURN(made->matcher_,
                       NewMatcher(spec, *made->loaded_.tokenizer, made->options_.max_tokens));
  made->options_.matcher = made->matcher_.get();
  return made;
}

Outcome<GenerateResult> Generation::Run() {
  CLI_ASSIGN_OR_RETURN(const std::shared_ptr<KvCache> cache, loaded_.model->NewCache());
  Sequence sequence = cache->NewSequence();
  std::optional<Progress> progress;
  progress.emplace("prompt", static_cast<std::int64_t>(prompt_.size()), quiet_);
  options_.cancel = interrupt_.flag();
  options_.on_prefill = [&progress](int done, int total) {
    if (!progress) return;
    progress->Update(done);
    if (done >= total) progress.reset();  // wiped before the text comes
  };
  Result<GenerateResult> made =
      Generate(*loaded_.model, *loaded_.tokenizer, sequence, prompt_, options_);
  if (!made) return tl::unexpected<Failure>(WorkFailure(loaded_, made.error()));
  GenerateResult result = *std::move(made);
  result.timings.load_ms = loaded_.load_ms;
  return result;
}

void Generation::Tell(const GenerateResult& result) const {
  if (quiet_) return;
  if (options_.sampler.temperature > 0) Say("seed " + std::to_string(options_.sampler.seed));
  Say(FinishWords(result) + "; " + CostWords(result.usage, result.timings));
}

Json Generation::ToJson(const GenerateResult& result) const {
  Json json = {{"text", result.text},
               {"token_ids", result.token_ids},
               {"finish_reason", ToString(result.finish_reason)}};
  if (!result.stop_string.empty()) json["stop_string"] = result.stop_string;
  json["model"] = loaded_.name();
  json["seed"] = options_.sampler.seed;
  json["usage"] = cli::ToJson(result.usage);
  json["timings_ms"] = cli::ToJson(result.timings);
  return json;
}

int Generation::ExitCodeOf(const GenerateResult& result) const {
  const bool by_model = result.finish_reason == FinishReason::kStop && result.stop_string.empty();
  const bool whole = by_model || result.finish_reason == FinishReason::kConstraint;
  if (matcher_ != nullptr && !whole && !matcher_->CanStop()) {
    Say("adjudge: " + FinishWords(result) + " before the text satisfied the constraint");
    return kFailed;
  }
  return result.finish_reason == FinishReason::kCancelled ? kFailed : kOk;
}

}  // namespace adjudge::cli
