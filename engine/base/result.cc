#include "engine/base/result.h"

namespace adjudge {

std::string_view ToString(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kMalformed:
      return "malformed";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kLimit:
      return "limit";
    case ErrorCode::kIo:
      return "input/output";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kNotFinite:
      return "not finite";
  }
  return "unknown";
}

std::string ToString(const Error& error) {
  return error.place.empty() ? error.message : error.place + ": " + error.message;
}

}  // namespace adjudge
