#include "cli/sampling_options.h"

#include <charconv>
#include <random>
#include <utility>

#include "cli/verb.h"

namespace adjudge::cli {
namespace {

Outcome<std::pair<TokenId, double>> ParseBias(const std::string& text,
                                              const Vocabulary& vocabulary) {
  TokenId id = kNoToken;
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, id);
  double value = 0;
  bool good = error == std::errc() && after != end && *after == '=';
  if (good) {
    const auto [rest, value_error] = std::from_chars(after + 1, end, value);
    good = value_error == std::errc() && rest == end;
  }
  if (!good) return UsageFailure("--logit-bias: expected ID=VALUE, found \"" + text + "\"");
  if (!vocabulary.contains(id)) {
    return UsageFailure("--logit-bias: expected an id from 0 to " +
                        std::to_string(vocabulary.size() - 1) + ", found " + std::to_string(id));
  }
  return std::pair(id, value);
}

}  // namespace

void AddSamplingOptions(CLI::App& verb, SamplingArguments& arguments) {
  SamplerOptions& sampler = arguments.sampler;
  verb.add_option("-n,--max-tokens", arguments.max_tokens, "most tokens to make")
      ->transform(WholeNumber(1, 1 << 30))
      ->type_name("N")
      ->capture_default_str();
  verb.add_option("-t,--temperature", sampler.temperature, "0 = always the likeliest token")
      ->type_name("T")
      ->capture_default_str();
  verb.add_option("--top-k", sampler.top_k, "draw among the K likeliest; 0 = off")
      ->transform(WholeNumber(0, 1 << 30))
      ->type_name("K");
  verb.add_option("--top-p", sampler.top_p, "draw among the likeliest that reach this mass")
      ->type_name("P");
  verb.add_option("--min-p", sampler.min_p, "drop tokens below this times the likeliest")
      ->type_name("P");
  verb.add_option("--repetition-penalty", sampler.repetition_penalty, "1 = off")->type_name("R");
  verb.add_option("--presence-penalty", sampler.presence_penalty, "0 = off")->type_name("A");
  verb.add_option("--frequency-penalty", sampler.frequency_penalty, "0 = off")->type_name("A");
  verb.add_option("--logit-bias", arguments.logit_bias, "add V to the logit of token ID")
      ->type_name("ID=V")
      ->type_size(1)
      ->allow_extra_args(false);
  arguments.seed_given =
      verb.add_option("--seed", sampler.seed, "of the draws; the same seed draws the same text")
          ->transform(SeedNumber())
          ->type_name("N");
  AddRepeated(verb, "--stop", arguments.stop, "end before this text; may be given several times");
  verb.add_flag("--ignore-eos", arguments.ignore_eos, "never end by the model's own wish");
}

Outcome<GenerateOptions> ToGenerateOptions(const SamplingArguments& arguments,
                                           const Vocabulary& vocabulary) {
  GenerateOptions options;
  options.max_tokens = arguments.max_tokens;
  options.sampler = arguments.sampler;
  options.stop_strings = arguments.stop;
  options.ignore_stop_ids = arguments.ignore_eos;
  for (const std::string& stop : arguments.stop) {
    if (stop.empty()) return UsageFailure("--stop: expected some text, found none");
  }
  for (const std::string& bias : arguments.logit_bias) {
    CLI_ASSIGN_OR_RETURN(const auto parsed, ParseBias(bias, vocabulary));
    options.sampler.logit_bias.push_back(parsed);
  }
  if (options.sampler.temperature > 0 && arguments.seed_given->count() == 0) {
    options.sampler.seed = std::random_device()();
  }
  CLI_RETURN_IF_ERROR(OrExit(Sampler::Make(options.sampler), kUsage));
  return options;
}

}  // namespace adjudge::cli
