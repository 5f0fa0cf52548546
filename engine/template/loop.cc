#include "engine/template/loop.h"

#include <utility>

namespace adjudge::jinja {

Result<std::optional<Value>> Loop::Take(Budget& budget) {
  while (true) {
    ADJUDGE_RETURN_IF_ERROR(budget.Spend(1));
    ADJUDGE_ASSIGN_OR_RETURN(std::optional<Value> item, source->Next());
    if (!item || !keep) return item;
    ADJUDGE_ASSIGN_OR_RETURN(const bool kept, keep(*item));
    if (kept) return item;
  }
}

Result<std::optional<Value>> Loop::Peek(Budget& budget) {
  if (next_ahead_ == ahead_.size()) {
    ADJUDGE_ASSIGN_OR_RETURN(std::optional<Value> item, Take(budget));
    if (!item) return item;
    ahead_.push_back(*std::move(item));
  }
  return ahead_[next_ahead_];
}

Result<std::optional<Value>> Loop::Advance(Budget& budget) {
  std::optional<Value> item;
  if (next_ahead_ < ahead_.size()) {
    item = std::move(ahead_[next_ahead_++]);
    if (next_ahead_ == ahead_.size()) {
      ahead_.clear();
      next_ahead_ = 0;
    }
  } else {
    ADJUDGE_ASSIGN_OR_RETURN(item, Take(budget));
  }
  if (!item) return item;
  ++index0;
  before = std::exchange(current, item);
  return item;
}

Result<std::int64_t> Loop::Length(Budget& budget) {
  if (!length) {
    while (true) {
      ADJUDGE_ASSIGN_OR_RETURN(std::optional<Value> item, Take(budget));
      if (!item) break;
      ahead_.push_back(*std::move(item));
    }
    length = index0 + 1 + static_cast<std::int64_t>(ahead_.size() - next_ahead_);
  }
  return *length;
}

Result<std::optional<Value>> Loop::Attribute(std::string_view name, Budget& budget) {
  if (name == "index") return Value::Int(index0 + 1, true);
  if (name == "index0") return Value::Int(index0, true);
  if (name == "first") return Value::Bool(index0 == 0);
  if (name == "depth") return Value::Int(1, true);
  if (name == "depth0") return Value::Int(0, true);
  if (name == "last" || name == "nextitem") {
    ADJUDGE_ASSIGN_OR_RETURN(std::optional<Value> next, Peek(budget));
    if (name == "last") return Value::Bool(!next);
    return next ? *next : MakeUndefined("there is no next item");
  }
  if (name == "previtem") {
    return index0 == 0 || !before ? MakeUndefined("there is no previous item") : *before;
  }
  if (name == "length" || name == "revindex" || name == "revindex0") {
    ADJUDGE_ASSIGN_OR_RETURN(const std::int64_t n, Length(budget));
    if (name == "length") return Value::Int(n, true);
    return Value::Int(n - index0 - (name == "revindex0" ? 1 : 0), true);
  }
  return std::nullopt;
}

}  // namespace adjudge::jinja
