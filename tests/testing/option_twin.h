// The option mask's slow twin: every token against every option.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/token_mask.h"
#include "engine/base/vocabulary.h"

namespace adjudge::testing {

// Whether text tokens of the vocabulary spell these bytes (the empty text: yes).
bool TwinSpells(const Vocabulary& vocabulary, std::string_view bytes);

// The mask after `text`: a text token is allowed where some option begins with the text and the
// token's bytes and the rest can be spelled; a stop token where the text is an option.
TokenMask TwinOptionMask(const Vocabulary& vocabulary, const std::vector<std::string>& options,
                         const std::string& text);

}  // namespace adjudge::testing
