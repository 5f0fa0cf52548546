#include "cli/constraint_options.h"

#include "cli/text_input.h"
#include "cli/verb.h"

namespace adjudge::cli {

void AddConstraintOptions(CLI::App& verb, ConstraintArguments& arguments) {
  verb.add_option("--grammar", arguments.grammar,
                  "the text must belong to this grammar (EBNF); - is standard input")
      ->type_name("FILE");
  arguments.regex_given =
      verb.add_option("--regex", arguments.regex,
                      "the whole text must match this regular expression (ECMAScript)")
          ->type_name("TEXT");
  AddRepeated(verb, "--choice", arguments.choices,
              "the text must be one of these, byte for byte; give it several times");
}

Outcome<std::optional<ConstraintSpec>> ReadConstraint(const ConstraintArguments& arguments) {
  const bool has_regex = arguments.regex_given != nullptr && arguments.regex_given->count() > 0;
  const int kinds = !arguments.grammar.empty() + has_regex + !arguments.choices.empty();
  if (kinds > 1) {
    return UsageFailure("expected one of --grammar, --regex and --choice, found several");
  }
  std::optional<ConstraintSpec> spec;
  if (!arguments.grammar.empty()) {
    CLI_ASSIGN_OR_RETURN(std::string text, ReadFileOrInput(arguments.grammar));
    spec = ConstraintSpec::Grammar(std::move(text));
  } else if (has_regex) {
    spec = ConstraintSpec::Regex(arguments.regex);
  } else if (!arguments.choices.empty()) {
    spec = ConstraintSpec::Choice(arguments.choices);
  }
  return spec;
}

}  // namespace adjudge::cli
