// The published meta-schemas, so that schemas may refer to them.
#pragma once

#include <map>
#include <string>

namespace adjudge::schema {

// uri (without fragment) -> text, of drafts 4, 6, 7, 2019-09 and 2020-12 with their vocabularies.
std::map<std::string, std::string> MetaSchemas();

}  // namespace adjudge::schema
