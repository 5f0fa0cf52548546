// What a model's files say about its tokens beside the vocabulary itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/token.h"

namespace adjudge {

struct TokenizerMetadata {
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  bool wants_bos = false;
  std::optional<std::string> chat_template;
  std::vector<TokenId> stop_ids;  // named by the files; end-of-turn names are added when built
  int width = 0;                  // of the logits; 0 = as many as tokens
};

// True for the names of control tokens that end a turn or a text whatever the file's keys say.
bool EndsTurn(std::string_view name);

}  // namespace adjudge
