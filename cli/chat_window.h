// How a chat's turns are fitted into the context window.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/chat_template.h"
#include "engine/tokenizer.h"

namespace adjudge::cli {

enum class Overflow {
  kRefuse,      // a turn that does not fit is an error
  kDropOldest,  // the oldest question and answer go, until it fits
};

struct ChatWindow {
  int tokens = 0;   // the window
  int reserve = 1;  // tokens kept free for the answer
  Overflow overflow = Overflow::kRefuse;
};

// What a turn's prompt is made of, in tokens.
struct ChatBudget {
  int system = 0;  // all before the first question's text: the system message, the template's own
  int history = 0;
  int question = 0;
  int room = 0;  // what is left of the window

  int prompt() const { return system + history + question; }
};

struct ChatTurn {
  std::vector<TokenId> ids;
  ChatBudget budget;
  int dropped = 0;  // messages taken off the front of the history, by kDropOldest
};

// The prompt of one more turn: `system` (empty for none), `history` (user and assistant by turns)
// and a question. Errors: kLimit with both numbers when it does not fit.
Result<ChatTurn> PlanTurn(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                          const std::string& system, std::vector<ChatMessage> history,
                          const std::string& question, const ChatWindow& window,
                          const EncodeOptions& encode);

}  // namespace adjudge::cli
