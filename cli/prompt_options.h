// The prompt of generate and trace: a plain text, a chat's one message, or a file of messages.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/model_options.h"
#include "cli/outcome.h"
#include "engine/base/token.h"
#include "engine/chat_template.h"
#include "engine/tokenizer.h"

namespace adjudge::cli {

struct PromptArguments {
  CLI::Option* prompt_given = nullptr;
  CLI::Option* chat_given = nullptr;
  CLI::Option* messages_given = nullptr;
  CLI::Option* system_given = nullptr;
  std::string prompt;
  std::string chat;
  std::string messages;  // a path
  std::string system;
  bool special = false;
  bool lossy = false;
};

void AddPromptOptions(CLI::App& verb, PromptArguments& arguments);

// Exactly one of --prompt, --chat and --messages, and what goes with it; standard input is read
// here, so that a usage failure comes before a model is loaded.
struct PromptText {
  bool is_chat = false;
  std::string text;     // of a plain prompt
  ChatRequest request;  // of a chat
  EncodeOptions encode;
  bool from_command_line = true;  // a bad text is then a usage failure
};
Outcome<PromptText> ReadPrompt(const PromptArguments& arguments);

Outcome<std::vector<TokenId>> EncodePromptText(const LoadedModel& loaded, const PromptText& prompt);

}  // namespace adjudge::cli
