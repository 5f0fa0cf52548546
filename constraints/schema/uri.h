// The part of RFC 3986 that $id and $ref need.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace adjudge::schema {

// `reference` as seen from `base` (RFC 3986 section 5.2, dot segments removed); an empty base
// leaves it as it is.
std::string ResolveUri(std::string_view base, std::string_view reference);
// The part before '#', and the fragment after it with %-escapes decoded.
std::pair<std::string, std::string> SplitFragment(std::string_view uri);

}  // namespace adjudge::schema
