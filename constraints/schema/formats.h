// The formats of the standard as languages.
#pragma once

#include <optional>
#include <string>

#include "constraints/schema/pattern.h"
#include "engine/base/result.h"

namespace adjudge::schema {

// nullopt: the standard does not know the name. An error: it is known, but not done exactly.
std::optional<Result<PatternLanguage>> LanguageOfFormat(LanguagePool& pool,
                                                        const std::string& name);

}  // namespace adjudge::schema
