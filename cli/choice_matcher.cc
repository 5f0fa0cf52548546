#include "cli/choice_matcher.h"

#include "constraints/option_set.h"

namespace adjudge::cli {

Outcome<std::unique_ptr<Matcher>> ChoiceMatcher(const std::vector<std::string>& choices,
                                                const Tokenizer& tokenizer) {
  CLI_ASSIGN_OR_RETURN(
      const std::shared_ptr<const OptionSet> options,
      OrExit(CompileOptionSet(choices, tokenizer.vocabulary()), kUsage, "--choice"));
  return options->NewMatcher();
}

}  // namespace adjudge::cli
