// Result<T>: the value, or an Error that says what was expected, what was found, and where.
//
// Three kinds of failure, three treatments: a bug aborts (check.h); bad input gives an Error; an
// ordinary "no" is a bool or an enum. No exception leaves a public function.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace adjudge {

enum class ErrorCode {
  kInvalidArgument,  // the caller's value is out of its range or contradicts another
  kMalformed,        // a file or text breaks the rules of its format
  kUnsupported,      // well-formed, but names something that adjudge does not do
  kNotFound,         // a file, key or tensor that is needed is absent
  kLimit,            // larger than a stated limit (context window, cache, options struct)
  kIo,               // the operating system refused
  kCancelled,        // the caller asked to stop
  kNotFinite,        // the model computed a number that is not finite
};

// The code in the words used in messages and JSON, for example "malformed".
std::string_view ToString(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;  // what was expected and what was found
  std::string
      place;  // where: "byte 128", "line 3, column 7", "/questions/q", "blk.0.attn_q.weight"
};

// "place: message", or the message alone where there is no place.
std::string ToString(const Error& error);

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(ErrorCode code, std::string message, std::string place = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(place)});
}

}  // namespace adjudge

// Returns the error of `expression` (a Result) from the enclosing function, if it is one.
#define ADJUDGE_RETURN_IF_ERROR(expression)                                         \
  do {                                                                              \
    if (auto adjudge_status = (expression); !adjudge_status) {                      \
      return ::tl::unexpected<::adjudge::Error>(std::move(adjudge_status).error()); \
    }                                                                               \
  } while (false)

// `lhs` = the value of `expression` (a Result), or returns its error. `lhs` may declare.
#define ADJUDGE_ASSIGN_OR_RETURN(lhs, expression) \
  ADJUDGE_ASSIGN_OR_RETURN_(ADJUDGE_CONCAT_(adjudge_result_, __LINE__), lhs, expression)
#define ADJUDGE_CONCAT_(a, b) ADJUDGE_CONCAT2_(a, b)
#define ADJUDGE_CONCAT2_(a, b) a##b
#define ADJUDGE_ASSIGN_OR_RETURN_(result, lhs, expression)                           \
  auto result = (expression);                                                        \
  if (!result) return ::tl::unexpected<::adjudge::Error>(std::move(result).error()); \
  lhs = std::move(*result)
