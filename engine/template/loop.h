// Loop: the state of a running for loop, which templates see as `loop`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/template/value.h"

namespace adjudge::jinja {

// Items are taken one by one, and tested by the loop's `if` as they are taken, so that the test
// sees what the body has changed. Looking ahead (last, nextitem) takes one item more, and asking
// for the length takes all.
struct Loop : Object {
  std::shared_ptr<Generator> source;
  std::function<Result<bool>(const Value&)> keep;  // empty: every item
  std::optional<std::int64_t> length;              // where it is known without taking all
  std::int64_t index0 = -1;
  std::optional<Value> current;
  std::optional<Value> before;
  std::optional<std::vector<Value>> last_changed;

  // The next item, now current; absent at the end.
  Result<std::optional<Value>> Advance(Budget& budget);
  Result<std::int64_t> Length(Budget& budget);
  // loop.NAME; absent where a loop has no such attribute.
  Result<std::optional<Value>> Attribute(std::string_view name, Budget& budget);

 private:
  Result<std::optional<Value>> Take(Budget& budget);
  Result<std::optional<Value>> Peek(Budget& budget);

  std::vector<Value> ahead_;  // taken and not yet current
  std::size_t next_ahead_ = 0;
};

}  // namespace adjudge::jinja
