// Any bytes as a tokenizer.json or a SentencePiece model: refused or a tokenizer that works.
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/check.h"
#include "engine/text/tokenizer_sources.h"

namespace {

void Use(const adjudge::TokenizerResult& tokenizer) {
  if (!tokenizer) return;
  const auto ids = (*tokenizer)->Encode("the \xC3\xA9 <s> 12\n", {.parse_special = true});
  if (ids) (void)(*tokenizer)->Decode(*ids);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  adjudge::TokenizerLimits limits;
  limits.max_tokens = 1 << 12;
  Use(adjudge::LoadJsonTokenizer(bytes, limits));
  Use(adjudge::LoadSentencePieceTokenizer(bytes, limits));
  return 0;
}
