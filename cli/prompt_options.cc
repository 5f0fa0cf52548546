#include "cli/prompt_options.h"

#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/text_input.h"
#include "engine/json_check.h"
#include "engine/prompt.h"

namespace adjudge::cli {
namespace {

using nlohmann::json;

tl::unexpected<Failure> BadMessages(const std::string& path, const std::string& why) {
  return tl::unexpected<Failure>(
      Failure(kFailed, (path == "-" ? "standard input" : path) + ": " + why));
}

// What is wrong with a list of messages, or nothing. The template sees the JSON as it is, so that
// it may use keys beyond role and content (tool calls, for one).
std::string FaultIn(const json& messages) {
  if (!messages.is_array()) return "expected an array of messages {role, content}";
  if (messages.empty()) return "expected at least one message, found none";
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const json& message = messages[i];
    const std::string place = "message " + std::to_string(i + 1) + ": ";
    if (!message.is_object()) return place + "expected an object with role and content";
    const auto role = message.find("role");
    if (role == message.end() || !role->is_string()) {
      return place + "expected a string \"role\"";
    }
    const auto content = message.find("content");
    const bool calls_tools = message.contains("tool_calls");
    if (content == message.end() ? !calls_tools
                                 : !content->is_string() && !content->is_array() &&
                                       !(content->is_null() && calls_tools)) {
      return place + "expected a string \"content\"";
    }
  }
  return {};
}

// Content given as a list of parts, as chat interfaces send it: the text parts joined. What is
// wrong with it, or nothing.
std::string JoinParts(json& messages, const std::string& place) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto content = messages[i].find("content");
    if (content == messages[i].end() || !content->is_array()) continue;
    std::string joined;
    for (std::size_t k = 0; k < content->size(); ++k) {
      const json& part = (*content)[k];
      const std::string pointer =
          place + "/" + std::to_string(i) + "/content/" + std::to_string(k) + ": ";
      if (!part.is_object()) return pointer + "expected a part {type, text}";
      const auto type = part.find("type");
      const std::string name =
          type != part.end() && type->is_string() ? type->get<std::string>() : "";
      if (name != "text") {
        return std::string(pointer)
            .append("expected a part of type \"text\", found \"")
            .append(name)
            .append("\"");
      }
      const auto text = part.find("text");
      if (text == part.end() || !text->is_string()) return pointer + "expected a string \"text\"";
      joined += text->get_ref<const std::string&>();
    }
    *content = std::move(joined);
  }
  return {};
}

// A JSON array of messages, or an object whose "messages" are that and whose other keys (tools,
// ...) are variables of the template.
Outcome<ChatRequest> ReadMessages(const std::string& path, BadBytes bad_bytes) {
  CLI_ASSIGN_OR_RETURN(const std::string bytes, ReadJsonFile(path, bad_bytes, kMaxJsonBytes));
  if (Status checked = CheckJson(bytes); !checked) {
    return BadMessages(path, ToString(checked.error()));
  }
  json given = json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  const std::string place = given.is_object() ? "/messages" : "";
  json variables = given.is_object() ? std::move(given) : json{{"messages", std::move(given)}};
  const auto messages = variables.find("messages");
  if (messages == variables.end()) return BadMessages(path, "expected a key \"messages\"");
  if (const std::string fault = FaultIn(*messages); !fault.empty()) {
    return BadMessages(path, fault);
  }
  if (const std::string fault = JoinParts(*messages, place); !fault.empty()) {
    return BadMessages(path, fault);
  }
  ChatRequest request;
  request.variables_json = variables.dump(-1, ' ', false, json::error_handler_t::replace);
  return request;
}

Status CheckCount(const PromptArguments& arguments) {
  const std::size_t given = arguments.prompt_given->count() + arguments.chat_given->count() +
                            arguments.messages_given->count();
  if (given != 1) {
    return Fail(ErrorCode::kInvalidArgument,
                "expected one of --prompt, --chat and --messages, found " + std::to_string(given));
  }
  if (arguments.system_given->count() > 0 && arguments.chat_given->count() == 0) {
    return Fail(ErrorCode::kInvalidArgument, "--system goes with --chat");
  }
  if (arguments.chat == "-" && arguments.system == "-") {
    return Fail(ErrorCode::kInvalidArgument,
                "standard input can be only one of --chat and --system");
  }
  return {};
}

}  // namespace

void AddPromptOptions(CLI::App& verb, PromptArguments& arguments) {
  arguments.prompt_given =
      verb.add_option("-p,--prompt", arguments.prompt, "text to go on from; - is standard input")
          ->type_name("TEXT");
  arguments.chat_given =
      verb.add_option("-c,--chat", arguments.chat,
                      "message to answer, in the model's chat template; - is standard input")
          ->type_name("TEXT");
  arguments.messages_given =
      verb.add_option("--messages", arguments.messages,
                      "JSON array of {role, content}, or an object with \"messages\" and the "
                      "template's other variables")
          ->type_name("FILE");
  arguments.system_given =
      verb.add_option("--system", arguments.system, "system message before --chat")
          ->type_name("TEXT");
  verb.add_flag("--special", arguments.special, "read special tokens in the given text as such");
  verb.add_flag("--lossy", arguments.lossy,
                "U+FFFD for bytes that are not UTF-8, instead of an error");
}

Outcome<PromptText> ReadPrompt(const PromptArguments& arguments) {
  CLI_RETURN_IF_ERROR(OrExit(CheckCount(arguments).map([] { return true; }), kUsage));
  PromptText prompt;
  prompt.encode.parse_special = arguments.special;
  prompt.encode.lossy = arguments.lossy;
  const BadBytes bad_bytes = LossyBytes(arguments.lossy);
  prompt.is_chat = arguments.prompt_given->count() == 0;
  if (!prompt.is_chat) {
    prompt.from_command_line = arguments.prompt != "-";
    CLI_ASSIGN_OR_RETURN(prompt.text, ReadText(arguments.prompt, bad_bytes));
    return prompt;
  }
  if (arguments.messages_given->count() > 0) {
    prompt.from_command_line = false;
    CLI_ASSIGN_OR_RETURN(prompt.request, ReadMessages(arguments.messages, bad_bytes));
  } else {
    prompt.from_command_line = arguments.chat != "-" && arguments.system != "-";
    if (arguments.system_given->count() > 0) {
      CLI_ASSIGN_OR_RETURN(std::string system, ReadText(arguments.system, bad_bytes));
      prompt.request.messages.push_back({"system", std::move(system)});
    }
    CLI_ASSIGN_OR_RETURN(std::string user, ReadText(arguments.chat, bad_bytes));
    prompt.request.messages.push_back({"user", std::move(user)});
  }
  prompt.request.now_unix_seconds = std::time(nullptr);
  return prompt;
}

Outcome<std::vector<TokenId>> EncodePromptText(const LoadedModel& loaded,
                                               const PromptText& prompt) {
  const Tokenizer& tokenizer = *loaded.tokenizer;
  int code = prompt.from_command_line ? kUsage : kFailed;
  std::vector<TokenId> ids;
  if (prompt.is_chat) {
    CLI_ASSIGN_OR_RETURN(const ChatTemplate parsed, LoadTemplate(loaded, "use --prompt"));
    CLI_ASSIGN_OR_RETURN(ids, OrExit(EncodeChat(tokenizer, parsed, prompt.request, prompt.encode),
                                     kFailed, "chat template of " + loaded.name()));
  } else {
    Result<std::vector<TokenId>> encoded = EncodePrompt(tokenizer, prompt.text, prompt.encode);
    // What the vocabulary cannot spell is no fault of the command line.
    if (!encoded && encoded.error().code == ErrorCode::kUnsupported) code = kFailed;
    CLI_ASSIGN_OR_RETURN(ids, OrExit(std::move(encoded), code, "prompt"));
  }
  if (ids.empty()) return tl::unexpected<Failure>(Failure(code, "the prompt is empty"));
  return ids;
}

}  // namespace adjudge::cli
