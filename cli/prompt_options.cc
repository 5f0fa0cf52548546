#include "cli/prompt_options.h"

#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/text_input.h"
#include "engine/prompt.h"

namespace adjudge::cli {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;  // of arrays and objects in --messages

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

// A JSON array of messages, or an object whose "messages" are that and whose other keys (tools,
// ...) are variables of the template.
Outcome<ChatRequest> ReadMessages(const std::string& path, BadBytes bad_bytes) {
  CLI_ASSIGN_OR_RETURN(const std::string bytes, ReadJsonFile(path, bad_bytes));
  bool too_deep = false;
  const auto watch_depth = [&too_deep](int depth, json::parse_event_t, const json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  json given = json::parse(bytes, watch_depth, /*allow_exceptions=*/false);
  if (too_deep) return BadMessages(path, "nested deeper than " + std::to_string(kMaxDepth));
  if (given.is_discarded()) return BadMessages(path, "not JSON");
  json variables = given.is_object() ? std::move(given) : json{{"messages", std::move(given)}};
  const auto messages = variables.find("messages");
  if (messages == variables.end()) return BadMessages(path, "expected a key \"messages\"");
  if (const std::string fault = FaultIn(*messages); !fault.empty()) {
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

Outcome<std::vector<TokenId>> EncodePromptText(const Tokenizer& tokenizer,
                                               const PromptText& prompt) {
  const int code = prompt.from_command_line ? kUsage : kFailed;
  std::vector<TokenId> ids;
  if (prompt.is_chat) {
    auto chat_template = LoadChatTemplate(tokenizer);
    if (!chat_template && chat_template.error().code == ErrorCode::kNotFound) {
      return UsageFailure(chat_template.error().message + "; use --prompt");
    }
    CLI_ASSIGN_OR_RETURN(const ChatTemplate parsed, std::move(chat_template));
    CLI_ASSIGN_OR_RETURN(ids, EncodeChat(tokenizer, parsed, prompt.request, prompt.encode));
  } else {
    CLI_ASSIGN_OR_RETURN(
        ids, OrExit(EncodePrompt(tokenizer, prompt.text, prompt.encode), code, "prompt"));
  }
  if (ids.empty()) return tl::unexpected<Failure>(Failure(code, "the prompt is empty"));
  return ids;
}

}  // namespace adjudge::cli
