// Outcome: what a verb's steps give back: a value, or the words and the exit code to end with.
#pragma once

#include <string>
#include <utility>

#include "engine/base/result.h"

namespace adjudge::cli {

enum ExitCode : int {
  kOk = 0,
  kFailed = 1,  // the work was begun and not done
  kUsage = 2,   // the command line asks for something that cannot be
  kModel = 3,   // the model's file is missing, unreadable or refused
};

struct Failure {
  int exit_code = kFailed;
  std::string message;

  Failure(int code, std::string text) : exit_code(code), message(std::move(text)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): an Error of the libraries is a failure.
  Failure(const Error& error) : message(ToString(error)) {}
};

template <typename T>
using Outcome = tl::expected<T, Failure>;

inline tl::unexpected<Failure> UsageFailure(std::string message) {
  return tl::unexpected<Failure>(Failure(kUsage, std::move(message)));
}

// The result, its error ending the program with `exit_code` after "prefix: ".
template <typename T>
Outcome<T> OrExit(Result<T> result, int exit_code, const std::string& prefix = {}) {
  if (result) return std::move(*result);
  const std::string text = ToString(result.error());
  return tl::unexpected<Failure>(Failure(exit_code, prefix.empty() ? text : prefix + ": " + text));
}

}  // namespace adjudge::cli

// `lhs` = the value of `expression` (a Result or an Outcome), or returns its failure.
#define CLI_ASSIGN_OR_RETURN(lhs, expression) \
  CLI_ASSIGN_OR_RETURN_(ADJUDGE_CONCAT_(cli_outcome_, __LINE__), lhs, expression)
#define CLI_ASSIGN_OR_RETURN_(outcome, lhs, expression)       \
  auto outcome = (expression);                                \
  if (!outcome) {                                             \
    return ::tl::unexpected<::adjudge::cli::Failure>(         \
        ::adjudge::cli::Failure(std::move(outcome).error())); \
  }                                                           \
  lhs = std::move(*outcome)

#define CLI_RETURN_IF_ERROR(expression)                            \
  do {                                                             \
    if (auto cli_status = (expression); !cli_status) {             \
      return ::tl::unexpected<::adjudge::cli::Failure>(            \
          ::adjudge::cli::Failure(std::move(cli_status).error())); \
    }                                                              \
  } while (false)
