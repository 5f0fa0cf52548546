#include "cli/constraint_options.h"

#include "cli/text_input.h"
#include "cli/verb.h"

namespace adjudge::cli {
namespace {

void AddSchemaOptions(CLI::App& verb, ConstraintArguments& arguments, SchemaUse use) {
  if (use == SchemaUse::kWrite) {
    arguments.key_order = "declared";
    arguments.whitespace = "spaced";
    arguments.spelling = "plain";
  }
  verb.add_option("--schema", arguments.schema,
                  "the text must be JSON that satisfies this JSON Schema; - is standard input")
      ->type_name("FILE");
  verb.add_option("--key-order", arguments.key_order,
                  "keys of objects under --schema: any, or declared (as the schema names them)")
      ->check(CLI::IsMember({"any", "declared"}))
      ->type_name("NAME")
      ->capture_default_str();
  verb.add_option(
          "--whitespace", arguments.whitespace,
          "between the tokens of JSON under --schema: free (up to 8 bytes a place), compact "
          "(none), spaced (\", \" and \": \") or indent (lines, 2 spaces a level)")
      ->check(CLI::IsMember({"free", "compact", "spaced", "indent"}))
      ->type_name("NAME")
      ->capture_default_str();
  verb.add_option("--spelling", arguments.spelling,
                  "of numbers and strings under --schema: any, or plain (no exponents, no 1.0 for "
                  "integers, escapes only where JSON needs them)")
      ->check(CLI::IsMember({"any", "plain"}))
      ->type_name("NAME")
      ->capture_default_str();
  verb.add_option("--formats", arguments.formats,
                  "the keyword format: assert (unknown names are annotations), strict (they are "
                  "refused) or annotate")
      ->check(CLI::IsMember({"assert", "strict", "annotate"}))
      ->type_name("NAME")
      ->capture_default_str();
}

JsonSchemaOptions SchemaOptions(const ConstraintArguments& arguments) {
  JsonSchemaOptions options;
  options.declared_order = arguments.key_order == "declared";
  options.plain_numbers = options.plain_strings = arguments.spelling == "plain";
  if (arguments.whitespace == "compact") options.space = SchemaSpace::kCompact;
  if (arguments.whitespace == "spaced") options.space = SchemaSpace::kSpaced;
  if (arguments.whitespace == "indent") options.space = SchemaSpace::kIndent;
  if (arguments.formats == "strict") options.formats = SchemaFormats::kStrict;
  if (arguments.formats == "annotate") options.formats = SchemaFormats::kAnnotate;
  return options;
}

}  // namespace

void AddConstraintOptions(CLI::App& verb, ConstraintArguments& arguments, SchemaUse use) {
  AddSchemaOptions(verb, arguments, use);
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
  const int kinds = !arguments.schema.empty() + !arguments.grammar.empty() + has_regex +
                    !arguments.choices.empty();
  if (kinds > 1) {
    return UsageFailure("expected one of --schema, --grammar, --regex and --choice, found several");
  }
  std::optional<ConstraintSpec> spec;
  if (!arguments.schema.empty()) {
    const JsonSchemaOptions options = SchemaOptions(arguments);
    CLI_ASSIGN_OR_RETURN(std::string text, ReadFileOrInput(arguments.schema, options.max_bytes));
    spec = ConstraintSpec::JsonSchema(std::move(text), options);
  } else if (!arguments.grammar.empty()) {
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
