// == != < <= > >= in, and sorting.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/template/operators.h"
#include "engine/template/search.h"

namespace adjudge::jinja {
namespace {

// long double holds both every double and every 64-bit integer exactly.
int Order(const Value& a, const Value& b) {
  const auto wide = [](const Value& v) {
    return v.is_int() ? static_cast<long double>(v.integer()) : static_cast<long double>(v.real());
  };
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const long double left = wide(a);
  const long double right = wide(b);
  if (left < right) return -1;
  if (left > right) return 1;
  return left == right ? 0 : 2;  // 2: a NaN
}

Result<bool> EqualItems(const std::vector<Value>& a, const std::vector<Value>& b, Budget& budget) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ADJUDGE_ASSIGN_OR_RETURN(const bool equal, Equals(a[i], b[i], budget));
    if (!equal) return false;
  }
  return true;
}

Result<bool> EqualDicts(const Dict& a, const Dict& b, Budget& budget) {
  if (a.entries.size() != b.entries.size()) return false;
  for (const auto& [key, value] : a.entries) {
    ADJUDGE_ASSIGN_OR_RETURN(const Value* other, b.Find(key));
    if (other == nullptr) return false;
    ADJUDGE_ASSIGN_OR_RETURN(const bool equal, Equals(value, *other, budget));
    if (!equal) return false;
  }
  return true;
}

bool EqualRanges(const Range& a, const Range& b) {
  const std::int64_t n = a.size();
  if (n != b.size()) return false;
  return n == 0 || (a.start == b.start && (n == 1 || a.step == b.step));
}

bool Decide(Operator op, int order) {
  if (order == 2) return false;
  switch (op) {
    case Operator::kLess:
      return order < 0;
    case Operator::kLessEqual:
      return order <= 0;
    case Operator::kGreater:
      return order > 0;
    default:
      return order >= 0;
  }
}

Result<bool> Ordered(Operator op, const Value& a, const Value& b, Budget& budget) {
  ADJUDGE_RETURN_IF_ERROR(budget.Spend(1));
  if (a.is_number() && b.is_number()) return Decide(op, Order(a, b));
  if (a.is_undefined()) return UndefinedError(a);
  if (b.is_undefined()) return UndefinedError(b);
  if (a.is_text() && b.is_text()) {
    ADJUDGE_RETURN_IF_ERROR(budget.SpendBytes(a.text().bytes.size()));
    const int order = a.text().bytes.compare(b.text().bytes);
    return Decide(op, order < 0 ? -1 : order > 0 ? 1 : 0);
  }
  if (a.is_sequence() && a.kind() == b.kind()) {
    const std::vector<Value>& left = a.sequence().items;
    const std::vector<Value>& right = b.sequence().items;
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      ADJUDGE_ASSIGN_OR_RETURN(const bool equal, Equals(left[i], right[i], budget));
      if (!equal) return Ordered(op, left[i], right[i], budget);
    }
    return Decide(op, left.size() < right.size() ? -1 : left.size() > right.size() ? 1 : 0);
  }
  return Raise("TypeError", Quoted(Spelling(op)) + " not supported between instances of '" +
                                std::string(TypeName(a)) + "' and '" + std::string(TypeName(b)) +
                                "'");
}

Result<bool> ContainsItem(const Value& container, const Value& item, Budget& budget) {
  ADJUDGE_ASSIGN_OR_RETURN(const std::shared_ptr<Generator> items, Iterate(container, budget));
  while (true) {
    ADJUDGE_ASSIGN_OR_RETURN(const std::optional<Value> next, items->Next());
    if (!next) return false;
    ADJUDGE_ASSIGN_OR_RETURN(const bool equal, Equals(*next, item, budget));
    if (equal) return true;
  }
}

// Bottom-up merge sort: `less` may fail, which std::stable_sort cannot tell.
class Sorter {
 public:
  Sorter(const std::vector<Value>& keys, bool reverse, Budget& budget)
      : keys_(keys), reverse_(reverse), budget_(budget), order_(keys.size()), merged_(keys.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  Status Sort() {
    for (std::size_t width = 1; width < order_.size(); width *= 2) {
      for (std::size_t begin = 0; begin < order_.size(); begin += 2 * width) {
        const std::size_t middle = std::min(begin + width, order_.size());
        const std::size_t end = std::min(begin + 2 * width, order_.size());
        ADJUDGE_RETURN_IF_ERROR(Merge(begin, middle, end));
      }
      order_.swap(merged_);
    }
    return {};
  }

  std::vector<std::size_t> Take() { return std::move(order_); }

 private:
  Status Merge(std::size_t begin, std::size_t middle, std::size_t end) {
    std::size_t left = begin;
    std::size_t right = middle;
    for (std::size_t out = begin; out < end; ++out) {
      bool take_right = left == middle;
      if (left < middle && right < end) {
        const Value& a = keys_[order_[left]];
        const Value& b = keys_[order_[right]];
        ADJUDGE_ASSIGN_OR_RETURN(take_right, reverse_ ? Ordered(Operator::kLess, a, b, budget_)
                                                      : Ordered(Operator::kLess, b, a, budget_));
      }
      merged_[out] = order_[take_right ? right++ : left++];
    }
    return {};
  }

  const std::vector<Value>& keys_;
  bool reverse_;
  Budget& budget_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> merged_;
};

}  // namespace

std::string_view Spelling(Operator op) {
  static constexpr std::string_view kSpellings[] = {
      "+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "in", "not in"};
  return kSpellings[static_cast<std::size_t>(op)];
}

Result<bool> Equals(const Value& left, const Value& right, Budget& budget) {
  ADJUDGE_RETURN_IF_ERROR(budget.Spend(1));
  if (left.is_number() && right.is_number()) return Order(left, right) == 0;
  if (left.kind() != right.kind()) return false;
  switch (left.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kText:
      ADJUDGE_RETURN_IF_ERROR(
          budget.SpendBytes(std::min(left.text().bytes.size(), right.text().bytes.size())));
      return left.text().bytes == right.text().bytes;
    case Kind::kList:
    case Kind::kTuple:
      return EqualItems(left.sequence().items, right.sequence().items, budget);
    case Kind::kDict:
      return EqualDicts(left.dict(), right.dict(), budget);
    case Kind::kRange:
      return EqualRanges(left.range(), right.range());
    case Kind::kFunction:
      return left.integer() == right.integer();
    case Kind::kView:
    case Kind::kMethod:
      return Refuse("comparing a " + std::string(TypeName(left)));
    default:
      return left.identity() == right.identity();
  }
}

Result<bool> Contains(const Value& container, const Value& item, Budget& budget) {
  if (container.is_text()) {
    if (!item.is_text()) {
      return Raise("TypeError", "'in <string>' requires string as left operand, not " +
                                    std::string(TypeName(item)));
    }
    ADJUDGE_RETURN_IF_ERROR(budget.SpendBytes(container.text().bytes.size()));
    return FindText(container.text().view(), item.text().view(), 0) != std::string_view::npos;
  }
  if (container.is(Kind::kDict)) {
    ADJUDGE_ASSIGN_OR_RETURN(const Value* found, container.dict().Find(item));
    return found != nullptr;
  }
  if (container.is_sequence()) {
    for (const Value& candidate : container.sequence().items) {
      ADJUDGE_ASSIGN_OR_RETURN(const bool equal, Equals(candidate, item, budget));
      if (equal) return true;
    }
    return false;
  }
  if (!IsIterable(container)) {
    return Raise("TypeError",
                 "argument of type '" + std::string(TypeName(container)) + "' is not iterable");
  }
  return ContainsItem(container, item, budget);
}

Result<bool> Compare(Operator op, const Value& left, const Value& right, Budget& budget) {
  if (op == Operator::kEqual || op == Operator::kNotEqual) {
    ADJUDGE_ASSIGN_OR_RETURN(const bool equal, Equals(left, right, budget));
    return equal == (op == Operator::kEqual);
  }
  if (op == Operator::kIn || op == Operator::kNotIn) {
    ADJUDGE_ASSIGN_OR_RETURN(const bool inside, Contains(right, left, budget));
    return inside == (op == Operator::kIn);
  }
  return Ordered(op, left, right, budget);
}

Result<std::vector<std::size_t>> SortedOrder(const std::vector<Value>& keys, bool reverse,
                                             Budget& budget) {
  Sorter sorter(keys, reverse, budget);
  ADJUDGE_RETURN_IF_ERROR(sorter.Sort());
  return sorter.Take();
}

}  // namespace adjudge::jinja
