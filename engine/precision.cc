#include "engine/precision.h"

#include <string>

namespace adjudge {

Result<Precision> ParsePrecision(std::string_view name) {
  for (const Precision precision : {Precision::kFast, Precision::kDefault, Precision::kExact}) {
    if (name == ToString(precision)) return precision;
  }
  return Fail(ErrorCode::kInvalidArgument,
              "unknown precision \"" + std::string(name) + "\"; known: fast, default, exact",
              "precision");
}

std::string_view ToString(Precision precision) {
  switch (precision) {
    case Precision::kFast:
      return "fast";
    case Precision::kDefault:
      return "default";
    case Precision::kExact:
      return "exact";
  }
  return "unknown";
}

}  // namespace adjudge
