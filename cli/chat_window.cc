#include "cli/chat_window.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "engine/prompt.h"

namespace adjudge::cli {
namespace {

Result<std::vector<TokenId>> Encode(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                                    const std::string& system,
                                    const std::vector<ChatMessage>& history,
                                    const std::string& question, const EncodeOptions& encode) {
  ChatRequest request;
  if (!system.empty()) request.messages.push_back({"system", system});
  request.messages.insert(request.messages.end(), history.begin(), history.end());
  request.messages.push_back({"user", question});
  request.now_unix_seconds = std::time(nullptr);
  return EncodeChat(tokenizer, chat_template, std::move(request), encode);
}

// Tokens before the first question's text: where two chats that differ only in it part.
Result<int> SystemTokens(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                         const std::string& system) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<TokenId> one,
                           Encode(tokenizer, chat_template, system, {}, "0", {}));
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<TokenId> other,
                           Encode(tokenizer, chat_template, system, {}, "A", {}));
  const auto parted = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  return static_cast<int>(parted.first - one.begin());
}

}  // namespace

Result<ChatTurn> PlanTurn(const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                          const std::string& system, std::vector<ChatMessage> history,
                          const std::string& question, const ChatWindow& window,
                          const EncodeOptions& encode) {
  ChatTurn turn;
  ADJUDGE_ASSIGN_OR_RETURN(turn.budget.system, SystemTokens(tokenizer, chat_template, system));
  ADJUDGE_ASSIGN_OR_RETURN(const std::vector<TokenId> alone,
                           Encode(tokenizer, chat_template, system, {}, question, encode));
  turn.budget.question = static_cast<int>(alone.size()) - turn.budget.system;
  while (true) {
    ADJUDGE_ASSIGN_OR_RETURN(turn.ids,
                             Encode(tokenizer, chat_template, system, history, question, encode));
    const int prompt = static_cast<int>(turn.ids.size());
    turn.budget.history = prompt - static_cast<int>(alone.size());
    turn.budget.room = window.tokens - prompt;
    if (turn.budget.room >= window.reserve) return turn;
    if (window.overflow == Overflow::kRefuse || history.empty()) {
      return Fail(ErrorCode::kLimit, "this turn needs " + std::to_string(prompt) + " tokens and " +
                                         std::to_string(window.reserve) +
                                         " for the answer; the window has " +
                                         std::to_string(window.tokens));
    }
    // A question goes with its answer, so that the history still begins with a question.
    const auto n = std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(history.size()));
    history.erase(history.begin(), history.begin() + n);
    turn.dropped += static_cast<int>(n);
  }
}

}  // namespace adjudge::cli
