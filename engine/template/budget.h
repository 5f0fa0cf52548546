// Budget: what one parse or render may still spend.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/result.h"
#include "engine/chat_template.h"

namespace adjudge::jinja {

// Counts work, so that no template can hang or eat memory: one step for each statement, expression
// and list item, and one for each 128 bytes of text made. Owned by one render.
class Budget {
 public:
  // Deeper nesting than this would need a larger stack than threads have.
  static constexpr int kMaxDepth = 200;

  explicit Budget(const ChatLimits& limits)
      : steps_left_(limits.max_steps),
        limits_(limits),
        depth_(std::min(limits.max_depth, kMaxDepth)) {}

  Status Spend(std::int64_t steps) {
    if (steps > steps_left_) {
      steps_left_ = -1;  // and so for every step from here on
      return Fail(ErrorCode::kLimit,
                  "more than max_steps = " + std::to_string(limits_.max_steps) + " steps of work");
    }
    steps_left_ -= steps;
    return {};
  }
  Status SpendItems(std::size_t items) { return Spend(static_cast<std::int64_t>(items)); }
  Status SpendBytes(std::size_t bytes) { return Spend(static_cast<std::int64_t>(bytes / 128)); }

  std::size_t max_text_bytes() const { return limits_.max_output_bytes; }
  int max_depth() const { return depth_; }

 private:
  std::int64_t steps_left_;
  ChatLimits limits_;
  int depth_;
};

// 'name'
inline std::string Quoted(std::string_view name) {
  std::string out(1, '\'');
  out.append(name).push_back('\'');
  return out;
}

// The error of a text that would grow past the limit.
inline Error TextTooLong(const Budget& budget) {
  return Error{ErrorCode::kLimit,
               "a text longer than max_output_bytes = " + std::to_string(budget.max_text_bytes()),
               {}};
}

// The error of a value or call nested too deeply.
inline Error TooDeep(const Budget& budget, const char* what) {
  return Error{
      ErrorCode::kLimit,
      std::string(what) + " nested deeper than max_depth = " + std::to_string(budget.max_depth()),
      {}};
}

// What Python or Jinja would raise: "TypeError: ...".
inline tl::unexpected<Error> Raise(std::string_view type, std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::string(type) + ": " + std::move(message));
}

// A construct that Jinja knows and this interpreter does not.
inline tl::unexpected<Error> Refuse(std::string construct) {
  return Fail(ErrorCode::kUnsupported, "not supported: " + std::move(construct));
}

}  // namespace adjudge::jinja
