#include "engine/text/tokenizer_metadata.h"

#include <algorithm>
#include <array>

namespace adjudge {

bool EndsTurn(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "<|im_end|>",    "<|eot_id|>",    "<|eom_id|>",      "<|end|>",   "<|end_of_turn|>",
      "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>", "<|return|>"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace adjudge
