#include "cli/decide_options.h"

#include <cstdlib>

#include "cli/printable.h"
#include "cli/verb.h"

namespace adjudge::cli {
namespace {

// NAME=NUMBER with a number from 0 to 1.
struct NamedShare {
  std::string name;
  std::optional<double> share;
};

NamedShare SplitShare(const std::string& given) {
  const std::size_t equals = given.find('=');
  NamedShare split{.name = given.substr(0, equals)};
  const std::string number = equals == std::string::npos ? "" : given.substr(equals + 1);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (!number.empty() && *end == '\0' && value >= 0 && value <= 1) split.share = value;
  return split;
}

Outcome<ConformalThreshold> ParseConformal(const std::string& given) {
  const NamedShare split = SplitShare(given);
  if (split.share && split.name == "lac")
    return ConformalThreshold{ConformalKind::kLac, *split.share};
  if (split.share && split.name == "aps")
    return ConformalThreshold{ConformalKind::kAps, *split.share};
  return UsageFailure("--conformal: expected lac or aps = a number from 0 to 1, found \"" +
                      Printable(given) + "\"");
}

Outcome<bool> ApplyThresholds(const ReadingArguments& arguments, AbstainRule& rule) {
  for (const std::string& given : arguments.abstain_below) {
    const auto [name, share] = SplitShare(given);
    if (share && name == "probability") {
      rule.min_probability = share;
    } else if (share && name == "margin") {
      rule.min_margin = share;
    } else if (share && name == "label_mass") {
      rule.min_label_mass = share;
    } else {
      return UsageFailure(
          "--abstain-below: expected probability, margin or label_mass = a number from 0 to 1, "
          "found \"" +
          Printable(given) + "\"");
    }
  }
  if (!arguments.cost_wrong && !arguments.gain) return true;
  if (!arguments.cost_wrong || !arguments.gain) {
    return UsageFailure("--cost-wrong and --gain go together");
  }
  if (rule.min_probability) {
    return UsageFailure("--cost-wrong gives the threshold of probability; take one of the two");
  }
  CLI_ASSIGN_OR_RETURN(rule.min_probability,
                       OrExit(ProbabilityToAct(*arguments.cost_wrong, *arguments.gain), kUsage,
                              "--cost-wrong and --gain"));
  return true;
}

}  // namespace

bool ReadingArguments::given() const {
  return debias != "none" || adaptive || x0 || !priors.empty() || norm != "sum" ||
         min_label_mass != 0 || none_option || !abstain_below.empty() || cost_wrong || gain ||
         !conformal.empty() || truncate != "none";
}

Outcome<bool> ApplyReadingOptions(const ReadingArguments& arguments, HeadOptions& options) {
  CLI_ASSIGN_OR_RETURN(options.debias, OrExit(ParseDebias(arguments.debias), kUsage, "--debias"));
  CLI_ASSIGN_OR_RETURN(options.norm, OrExit(ParseLikelihoodNorm(arguments.norm), kUsage, "--norm"));
  CLI_ASSIGN_OR_RETURN(options.truncate,
                       OrExit(ParseTruncate(arguments.truncate), kUsage, "--truncate"));
  if (arguments.adaptive && !AveragesOrders(options.debias)) {
    return UsageFailure("--adaptive goes with --debias cyclic, reversed or all");
  }
  if (arguments.adaptive && !(*arguments.adaptive >= 0 && *arguments.adaptive < 1)) {
    return UsageFailure("--adaptive: expected a number from 0 to below 1");
  }
  if (arguments.x0 && options.debias != Debias::kPmi) {
    return UsageFailure("--x0 goes with --debias pmi");
  }
  if (arguments.priors.empty() == (options.debias == Debias::kPride)) {
    return UsageFailure("--debias pride and --priors FILE go together");
  }
  if (arguments.none_option && arguments.none_option->empty()) {
    return UsageFailure("--none-option: expected a text, found none");
  }
  options.adaptive = arguments.adaptive;
  options.pmi_state = arguments.x0.value_or("");
  options.none_option = arguments.none_option;
  if (!(arguments.min_label_mass >= 0 && arguments.min_label_mass <= 1)) {
    return UsageFailure("--min-label-mass: expected a number from 0 to 1");
  }
  options.min_label_mass = arguments.min_label_mass;
  if (!arguments.conformal.empty()) {
    CLI_ASSIGN_OR_RETURN(options.conformal, ParseConformal(arguments.conformal));
  }
  return ApplyThresholds(arguments, options.abstain);
}

void AddReadingOptions(CLI::App& verb, ReadingArguments& arguments) {
  const std::string group = "Readings";
  const auto add = [&](const std::string& name, auto& value, const std::string& words,
                       const char* type) {
    return verb.add_option(name, value, words)->type_name(type)->group(group);
  };
  add("--debias", arguments.debias,
      "none; cyclic, reversed, all: the mean over orders of the options; pride: divided by "
      "--priors; "
      "contextual: by content-free states; pmi: by the state --x0",
      "NAME")
      ->capture_default_str();
  add("--adaptive", arguments.adaptive,
      "read orders until the chance that all of them choose another option is at most this; 0 = "
      "until none can",
      "SHARE");
  add("--x0", arguments.x0, "the state that pmi divides by; empty without it", "TEXT");
  add("--priors", arguments.priors, "of pride: what a batch with --fit-priors wrote", "FILE");
  add("--norm", arguments.norm,
      "likelihood: sum, mean_per_token, mean_per_byte, mean_per_character", "NAME")
      ->capture_default_str();
  add("--min-label-mass", arguments.min_label_mass,
      "the head auto: labels with less of the model's probability give way to likelihood", "SHARE")
      ->capture_default_str();
  add("--none-option", arguments.none_option,
      "offer this behind the options of a choice (\"none of these\")", "TEXT");
  AddRepeated(verb, "--abstain-below", arguments.abstain_below,
              "abstain below probability=, margin= or label_mass=; may be given several times")
      ->type_name("NAME=NUMBER")
      ->group(group);
  add("--cost-wrong", arguments.cost_wrong,
      "with --gain: abstain below probability cost / (cost + gain)", "NUMBER");
  add("--gain", arguments.gain, "of being right, see --cost-wrong", "NUMBER");
  add("--conformal", arguments.conformal,
      "give the conformal set of this threshold (1 - q for lac, a sum for aps)", "KIND=Q");
  add("--truncate", arguments.truncate,
      "cut a state that is too long: state-head, state-tail or middle goes; none: refuse it",
      "NAME")
      ->capture_default_str();
}

}  // namespace adjudge::cli
