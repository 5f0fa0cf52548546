// tokenize: text to ids and back; needs only the tokenizer of a file.
#include <charconv>
#include <memory>

#include "cli/json_output.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/text_input.h"
#include "cli/verb.h"

namespace adjudge::cli {
namespace {

struct Arguments {
  ModelArguments model;
  CLI::Option* text_given = nullptr;
  CLI::Option* ids_given = nullptr;
  std::string text;
  std::string ids;
  bool decode = false;
  EncodeOptions encode;
  bool json = false;
  bool bytes = false;
  bool count = false;
};

// Ids apart by commas, blanks or lines; a JSON array's brackets may stand around them.
Outcome<std::vector<TokenId>> ParseIds(std::string_view text, const Vocabulary& vocabulary,
                                       int exit_code) {
  std::vector<TokenId> ids;
  constexpr std::string_view kBetween = " \t\r\n,[]";
  const auto failure = [&](const std::string& words) {
    return tl::unexpected<Failure>(Failure(exit_code, "ids: " + words));
  };
  for (std::size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    TokenId id = kNoToken;
    const auto [after, error] = std::from_chars(text.data() + at, text.data() + end, id);
    if (error == std::errc::result_out_of_range && after == text.data() + end) {
      return failure("expected ids from 0 to " + std::to_string(vocabulary.size() - 1) +
                     ", found " + Printable(text.substr(at, std::min<std::size_t>(end - at, 40))));
    }
    if (error != std::errc() || after != text.data() + end) {
      return failure("expected numbers apart by commas or blanks, found \"" +
                     Printable(text.substr(at, std::min<std::size_t>(end - at, 40))) +
                     "\" at byte " + std::to_string(at));
    }
    if (!vocabulary.contains(id)) {
      return failure("expected ids from 0 to " + std::to_string(vocabulary.size() - 1) +
                     ", found " + std::to_string(id));
    }
    ids.push_back(id);
    at = text.find_first_not_of(kBetween, end);
  }
  return ids;
}

std::string Listed(const std::vector<TokenId>& ids) {
  std::string line;
  for (const TokenId id : ids) line += (line.empty() ? "" : " ") + std::to_string(id);
  return line + "\n";
}

std::string ByteTable(const Vocabulary& vocabulary, const std::vector<TokenId>& ids) {
  std::string table;
  for (const TokenId id : ids) {
    const std::string_view bytes = vocabulary.bytes(id);
    table += std::to_string(id) + "\t" + Hex(bytes) + "\t" + Printable(bytes) +
             (vocabulary.is_special(id) ? "\tspecial" : "") + "\n";
  }
  return table;
}

Json TokensJson(const Vocabulary& vocabulary, const std::vector<TokenId>& ids) {
  return {{"ids", ids}, {"pieces", Pieces(vocabulary, ids)}, {"n", ids.size()}};
}

// ids -> text: the bytes exactly as they are, with nothing added.
Outcome<int> Decode(const Arguments& arguments, const Tokenizer& tokenizer, const std::string& list,
                    int exit_code) {
  CLI_ASSIGN_OR_RETURN(const std::vector<TokenId> ids,
                       ParseIds(list, tokenizer.vocabulary(), exit_code));
  const std::string text = tokenizer.Decode(ids, arguments.encode.parse_special);
  Output output;
  if (arguments.json) {
    Json json = TokensJson(tokenizer.vocabulary(), ids);
    json["text"] = TextOrHex(text);
    output.Write(Dump(json));
  } else if (arguments.bytes) {
    output.Write(ByteTable(tokenizer.vocabulary(), ids));
  } else if (arguments.count) {
    output.Write(std::to_string(ids.size()) + "\n");
  } else {
    output.WriteText(text);
    if (output.is_terminal()) output.Write("\n");
  }
  return output.Finish();
}

Outcome<int> Encode(const Arguments& arguments, const Tokenizer& tokenizer, const std::string& text,
                    int exit_code) {
  CLI_ASSIGN_OR_RETURN(const std::vector<TokenId> ids,
                       OrExit(tokenizer.Encode(text, arguments.encode), exit_code, "text"));
  Output output;
  if (arguments.json) {
    output.Write(Dump(TokensJson(tokenizer.vocabulary(), ids)));
  } else if (arguments.bytes) {
    output.Write(ByteTable(tokenizer.vocabulary(), ids));
  } else if (arguments.count) {
    output.Write(std::to_string(ids.size()) + "\n");
  } else {
    output.Write(Listed(ids));
  }
  return output.Finish();
}

Outcome<int> Run(const Arguments& arguments) {
  if (arguments.text_given->count() > 0 && arguments.ids_given->count() > 0) {
    return UsageFailure("expected a text or --ids, found both");
  }
  if (arguments.text_given->count() + arguments.ids_given->count() == 0) {
    return UsageFailure("expected a text (- is standard input) or --ids");
  }
  const bool decode = arguments.decode || arguments.ids_given->count() > 0;
  if (decode && arguments.encode.add_bos) return UsageFailure("--bos goes with a text, not ids");
  if (arguments.json + arguments.bytes + arguments.count > 1) {
    return UsageFailure("expected at most one of --json, --bytes and --count");
  }
  const std::string& given = arguments.ids_given->count() > 0 ? arguments.ids : arguments.text;
  const int exit_code = given == "-" ? kFailed : kUsage;
  CLI_ASSIGN_OR_RETURN(const auto tokenizer, LoadTokenizer(arguments.model));
  if (arguments.encode.add_bos && !tokenizer->bos()) {
    return UsageFailure("--bos: the file names no beginning-of-sequence token");
  }
  CLI_ASSIGN_OR_RETURN(const std::string input,
                       ReadText(given, LossyBytes(arguments.encode.lossy)));
  return decode ? Decode(arguments, *tokenizer, input, exit_code)
                : Encode(arguments, *tokenizer, input, exit_code);
}

}  // namespace

void AddTokenize(CLI::App& app, Program& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("tokenize", "Turn text into token ids, or ids into text");
  AddFileOptions(*verb, arguments->model);
  arguments->text_given =
      verb->add_option("text", arguments->text, "the text; - is standard input, byte for byte")
          ->type_name("TEXT");
  arguments->ids_given =
      verb->add_option("--ids", arguments->ids, "ids to turn into text, 1,2,3; - is standard input")
          ->type_name("LIST");
  verb->add_flag("--decode", arguments->decode, "the text given is a list of ids");
  verb->add_flag("--bos", arguments->encode.add_bos, "the beginning-of-sequence id in front");
  verb->add_flag("--special", arguments->encode.parse_special,
                 "read (with ids: write) special tokens as such");
  verb->add_flag("--lossy", arguments->encode.lossy,
                 "U+FFFD for bytes that are not UTF-8, instead of an error");
  verb->add_flag("--json", arguments->json, "{\"ids\", \"pieces\", \"n\"}; with ids also \"text\"");
  verb->add_flag("--bytes", arguments->bytes, "a line for each token: id, hex, text");
  verb->add_flag("--count", arguments->count, "the number of tokens alone");
  verb->footer(
      "Examples:\n"
      "  adjudge tokenize \"Hello world\" --json\n"
      "  adjudge tokenize --ids 19556,905\n"
      "  adjudge tokenize - --count < README.md");
  verb->callback([arguments, &program] { program.run = [arguments] { return Run(*arguments); }; });
}

}  // namespace adjudge::cli
