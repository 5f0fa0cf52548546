// Tokens -> syntax tree.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/chat_template.h"
#include "engine/template/ast.h"

namespace adjudge::jinja {

// Errors: kMalformed, kUnsupported or kLimit, with place "line N" and the construct's name.
Result<Template> ParseTemplate(std::string_view source, const ChatLimits& limits);

}  // namespace adjudge::jinja
